package notices

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
)

// A recorder is a channel that keeps what it is told.
type recorder struct {
	silent
	heard []string
}

func (r *recorder) told(_ context.Context, q *supervisor.Question) {
	r.heard = append(r.heard, "told "+q.ID)
}
func (r *recorder) open(asked []*supervisor.Question) {
	r.heard = append(r.heard, fmt.Sprint("open ", len(asked)))
}
func (r *recorder) parked(q *supervisor.Question) { r.heard = append(r.heard, "parked "+q.ID) }
func (r *recorder) left(end *ending)              { r.heard = append(r.heard, fmt.Sprint("left ", end != nil)) }

func asked(id, agent string, at time.Time) *supervisor.Question {
	return &supervisor.Question{ID: id, Agent: agent, AskedAt: at}
}

func TestEachChannelIsToldWhatIsAskedWhatWaitsAndHowARunIsLeft(t *testing.T) {
	one, other := &recorder{}, &recorder{}
	c := &Channels{all: []channel{one, other}}
	now := time.Now()
	long, short := asked("q-long", "a-1", now.Add(-time.Hour)), asked("q-short", "a-2", now)
	c.Told(t.Context(), long)
	c.Open([]*supervisor.Question{long, short})
	for _, agent := range []string{"a-1", "a-2", "a-3"} { // a-2 waits for a moment only, a-3 for nobody
		c.Parked(notice.Notification{Time: now, Agent: agent})
	}
	c.Open(nil)
	c.Parked(notice.Notification{Time: now, Agent: "a-1"})
	c.Left(supervisor.Outcome{Code: exit.Interrupted})
	want := []string{"told q-long", "open 2", "parked q-long", "open 0", "left false"}
	if diff := cmp.Diff([][]string{want, want}, [][]string{one.heard, other.heard}); diff != "" {
		t.Error(diff)
	}
}

func TestNotifyURLNamesOneReceiverWithItsOwnSecretOnly(t *testing.T) {
	set := map[string]config.Receiver{"ntfy": {URL: "https://ntfy.sh/mine", Secret: "/token"},
		"webhook": {URL: "https://example.org/hook", Secret: "/key"}}
	for given, want := range map[string]struct {
		name string
		to   config.Receiver
	}{
		"ntfy://ntfy.sh/other":         {"ntfy", config.Receiver{URL: "https://ntfy.sh/other", Secret: "/token"}},
		"ntfy://elsewhere.org/x":       {"ntfy", config.Receiver{URL: "https://elsewhere.org/x"}},
		"ntfy+http://localhost:1/x":    {"ntfy", config.Receiver{URL: "http://localhost:1/x"}},
		"https://example.org/hook/two": {"webhook", config.Receiver{URL: "https://example.org/hook/two", Secret: "/key"}},
		"https://ntfy.sh/mine":         {"webhook", config.Receiver{URL: "https://ntfy.sh/mine"}},
		"http://example.org/hook":      {},
		"example.org":                  {},
		"ntfy://":                      {},
	} {
		name, to, err := receiverOf(given, set)
		if refused := want.name == ""; refused != (err != nil) {
			t.Errorf("%s: %v", given, err)
		} else if !refused && (name != want.name || to != want.to) {
			t.Errorf("%s is %s %+v", given, name, to)
		}
	}
}

// A person who sees a banner knows whether an agent stands still until they answer.
func TestABannerSaysWhatAnAgentGoesOnWith(t *testing.T) {
	q := asked("q-1", "a-1", time.Now())
	said := map[bool]string{}
	for assumes, doc := range map[bool]string{false: `{"kind":"clarification","text":"Which store?"}`,
		true: `{"kind":"clarification","text":"Which store?","assumed":{"text":"files\nfor now"}}`} {
		if err := json.Unmarshal([]byte(doc), q); err != nil {
			t.Fatal(err)
		}
		said[assumes] = inBanner(q)
		q.Assumed = nil
	}
	const asks, how = "q-1: Which store?", " Answer: claude-supervise answer q-1 VALUE"
	if said[false] != asks+how || said[true] != asks+" It works on meanwhile, and assumes: files for now"+how {
		t.Errorf("it says %v", said)
	}
}

func TestAButtonIsOfferedOnlyForWhatStandsInTheBannerAsItIs(t *testing.T) {
	for options, want := range map[string]bool{"": false, `{"label":"JWT"},{"label":"OAuth"}`: true,
		strings.TrimSuffix(strings.Repeat(`{"label":"x"},`, 5), ","): false, `{"label":"JWT"},{"label":"<b>"}`: false,
		`{"label":"` + strings.Repeat("x", 50) + `"}`: false} {
		q := asked("q-1", "a-1", time.Now())
		if err := json.Unmarshal([]byte(`{"kind":"clarification","options":[`+options+`]}`), q); err != nil {
			t.Fatal(err)
		}
		if got := offersButtons(q); got != want {
			t.Errorf("%q: %v", options, got)
		}
	}
}

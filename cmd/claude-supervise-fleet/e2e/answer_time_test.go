package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	enums "go.temporal.io/api/enums/v1"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/e2e/sample"
)

// How long an answer takes to the agent that a worker holds for it: from when the workflow has accepted it, by the
// history of the run, to when the worker begins to give it, and to when the agent reads it. Each of
// $CLAUDE_SUPERVISE_TEST_PAIRS runs asks three times. The times are printed (make fleet-costs); what is tested is that
// each answer comes to its agent once, and that the run succeeds.
func TestAnAnswerComesToTheAgentThatIsHeldForIt(t *testing.T) {
	t.Parallel()
	l := newLedger(t, 1)
	l.worker("one")
	var began, kept, begun, heard []time.Duration // since the command began, was accepted
	for n := range sample.Number(t, "CLAUDE_SUPERVISE_TEST_PAIRS", 1) {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		run, last := l.lays("--hold", "forever"), ""
		var tokens []string
		var typed []time.Time
		for range asked {
			r := l.until(run, "asking", func(r listed) bool { return len(r.Questions) == 1 && r.Questions[0].ID != last })
			last = r.Questions[0].ID
			tokens, typed = append(tokens, newToken(rng)), append(typed, time.Now())
			l.must("answer", last, tokens[len(tokens)-1])
		}
		l.succeeds(run)
		when := l.heardAt(run)
		var accepted, started []time.Time
		delivers := map[int64]bool{}
		for _, e := range l.history(run).GetEvents() {
			switch at := e.GetEventTime().AsTime(); e.GetEventType() {
			case enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
				accepted = append(accepted, at)
			case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				delivers[e.GetEventId()] = e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == flow.Deliver
			case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
				if delivers[e.GetActivityTaskStartedEventAttributes().GetScheduledEventId()] {
					started = append(started, at)
				}
			}
		}
		if len(accepted) != len(asked) || len(started) != len(asked) || len(when) != len(asked) {
			t.Fatalf("%d answers were accepted, %d given, %d heard: %v", len(accepted), len(started), len(when), when)
		}
		for i, token := range tokens {
			at := when[token]
			if len(at) != 1 {
				t.Fatalf("answer %d of %s was heard at %v", i, run, at)
			}
			began, kept = append(began, at[0].Sub(typed[i])), append(kept, accepted[i].Sub(typed[i]))
			begun, heard = append(begun, started[i].Sub(accepted[i])), append(heard, at[0].Sub(accepted[i]))
		}
	}
	figures := &strings.Builder{}
	table := tabwriter.NewWriter(figures, 0, 0, 2, ' ', 0)
	tell(table, fmt.Sprintf("of %d answers", len(heard)), "p50", "p95", "most")
	for _, row := range []struct {
		what string
		took []time.Duration
	}{{"accepted, since the command began", kept}, {"at its worker, since it was accepted", begun},
		{"at the agent, since it was accepted", heard}, {"at the agent, since the command began", began}} {
		slices.Sort(row.took)
		tell(table, row.what, ms(row.took[len(row.took)/2]), ms(row.took[len(row.took)*95/100]),
			ms(row.took[len(row.took)-1]))
	}
	_ = table.Flush() // a strings.Builder takes all
	t.Logf("what an answer takes to an agent that is held for it\n%s", figures)
}

// heardAt returns when agents of a run have heard each answer.
func (l *ledger) heardAt(run string) map[string][]time.Time {
	l.t.Helper()
	content, err := os.ReadFile(filepath.Join(l.folder, "heard"))
	if err != nil {
		l.t.Fatal(err)
	}
	when := map[string][]time.Time{}
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		if words[0] != run {
			continue
		}
		at, err := strconv.ParseInt(words[3], 10, 64)
		if err != nil {
			l.t.Fatal(err)
		}
		when[words[2]] = append(when[words[2]], time.Unix(0, at))
	}
	return when
}

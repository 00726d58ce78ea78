package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A recorder is a channel that takes what its say lets it.
type recorder struct {
	say func(m Message, attempt int) error

	mu       sync.Mutex
	attempts map[string]int
	taken    []string
	came     chan string
}

func newRecorder(say func(Message, int) error) *recorder {
	return &recorder{say: say, attempts: map[string]int{}, came: make(chan string, 4000)}
}

func (r *recorder) Host() string { return "example.org" }

func (r *recorder) Send(ctx context.Context, m Message) error {
	r.mu.Lock()
	r.attempts[m.ID]++
	attempt := r.attempts[m.ID]
	r.mu.Unlock()
	err := r.say(m, attempt)
	if errors.Is(err, errHangs) {
		<-ctx.Done()
		return &Temporary{Err: ctx.Err()}
	}
	if err == nil {
		r.mu.Lock()
		r.taken = append(r.taken, m.ID)
		r.mu.Unlock()
	}
	r.came <- m.ID
	return err
}

var errHangs = errors.New("hangs")

func takesAll(Message, int) error { return nil }

// told returns what was taken about something.
func (r *recorder) told(about string) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.taken {
		if strings.HasPrefix(id, about+".") {
			ids = append(ids, id)
		}
	}
	return ids
}

// opened returns an outbox that does not rest, with its journal, and what it has reported.
func opened(t *testing.T, path string, channels ...Channel) (o *Outbox, reported func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	var receivers []Receiver
	for _, c := range channels {
		receivers = append(receivers, Receiver{Network{Name: "test"}, c})
	}
	o = NewOutbox(receivers, func(text string) { mu.Lock(); defer mu.Unlock(); all = append(all, text) })
	o.rest = func(context.Context, int, time.Duration) {}
	if _, err := o.Open(path); err != nil {
		t.Fatal(err)
	}
	return o, func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
}

func draft(about, what string) Draft {
	d := Draft{ID: about + "." + what, About: about, Closes: what == "closed"}
	d.Make = func(context.Context, Network) (Message, error) { return Message{ID: d.ID, About: about}, nil }
	return d
}

func closes(t *testing.T, o *Outbox, last ...Draft) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.Close(ctx, last...)
	if ctx.Err() != nil {
		t.Error("the outbox does not close")
	}
}

func TestWhatIsAboutOneQuestionIsToldInItsOrderWhateverFails(t *testing.T) {
	r := newRecorder(func(_ Message, attempt int) error {
		if attempt < 3 {
			return &Temporary{Err: errors.New("500")}
		}
		return nil
	})
	o, reported := opened(t, filepath.Join(t.TempDir(), "notices"), r)
	const questions = 50
	for i := range questions {
		about := fmt.Sprint("q-", i)
		o.Add(draft(about, "asked"))
	}
	for range 3 * questions { // each is attempted until it is taken
		<-r.came
	}
	for i := range questions {
		o.Add(draft(fmt.Sprint("q-", i), "closed"))
	}
	for range 3 * questions {
		<-r.came
	}
	closes(t, o)
	for i := range questions {
		about := fmt.Sprint("q-", i)
		if got := r.told(about); !slices.Equal(got, []string{about + ".asked", about + ".closed"}) {
			t.Errorf("%s: %v", about, got)
		}
	}
	said := reported()
	for i, text := range said { // by turns, and in the end it works
		want := []string{"! test (example.org): 500; it is tried again", "test (example.org) takes notifications again"}[i%2]
		if !strings.HasPrefix(text, want) {
			t.Errorf("report %d is %q", i, text)
		}
	}
	if n := len(said); n == 0 || n%2 != 0 {
		t.Errorf("reported is %q", said)
	}
}

// Killed at any moment, the next outbox tells what was not told, and nothing that was.
// Who reads that a run has come to its end has read before what became of its questions, however slowly that was sent.
func TestHowARunWasLeftIsToldLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(func(m Message, _ int) error {
			if m.About == "q" {
				time.Sleep(time.Second)
			}
			return nil
		})
		o, _ := opened(t, filepath.Join(t.TempDir(), "notices"), r)
		o.Add(draft("q", "asked"))
		<-r.came
		o.Add(draft("q", "closed"))
		closes(t, o, draft("r", "left"))
		if want := []string{"q.asked", "q.closed", "r.left"}; !slices.Equal(r.taken, want) {
			t.Errorf("told in the order %v, want %v", r.taken, want)
		}
		o.Add(draft("q2", "asked"))
		if len(r.taken) != 3 {
			t.Errorf("told after the close: %v", r.taken)
		}
	})
}

// A year of questions in simulated time: what is answered before its time has come is not told at all, what is not is
// told once, reminded of once, and taken back; whoever leaves tells at once what waits to be told, and reminds nobody.
func TestWhatIsAnsweredInTimeIsNeverTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "notices")
		r := newRecorder(takesAll)
		o, _ := opened(t, path, r)
		asks := func(about string) {
			asked, again := draft(about, "asked"), draft(about, "reminder")
			asked.At, again.At, again.Lapses = time.Now().Add(20*time.Second), time.Now().Add(time.Hour), true
			o.Add(asked)
			o.Add(again)
		}
		for day := range 365 {
			asks(fmt.Sprint("quick-", day))
			asks(fmt.Sprint("slow-", day))
			time.Sleep(10 * time.Second)
			o.Add(draft(fmt.Sprint("quick-", day), "closed"))
			time.Sleep(time.Minute)
			asks(fmt.Sprint("long-", day))
			o.Add(draft(fmt.Sprint("slow-", day), "closed"))
			time.Sleep(24 * time.Hour)
			o.Add(draft(fmt.Sprint("long-", day), "closed"))
		}
		asks("left")
		time.Sleep(time.Second)
		closes(t, o)
		o, _ = opened(t, path, r)
		asks("left") // its time is over, or it was told
		time.Sleep(48 * time.Hour)
		closes(t, o)
		told := map[string][]string{}
		for _, id := range r.taken {
			about, what, _ := strings.Cut(id, ".")
			kind, _, _ := strings.Cut(about, "-")
			told[kind] = append(told[kind], what)
		}
		for kind, want := range map[string][]string{"quick": nil, "slow": {"asked", "closed"},
			"long": {"asked", "reminder", "closed"}, "left": {"asked", "reminder"}} {
			if kind != "left" {
				want = slices.Repeat(want, 365)
			}
			if !slices.Equal(told[kind], want) {
				t.Errorf("%s: %d messages, not %d", kind, len(told[kind]), len(want))
			}
		}
	})
}

func TestWhatWasToldIsNotToldAgainByTheNextSupervisor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notices")
	first := newRecorder(func(m Message, _ int) error {
		if m.About == "q-2" {
			return errHangs
		}
		return nil
	})
	o, _ := opened(t, path, first)
	o.Add(draft("q-1", "asked"))
	if id := <-first.came; id != "q-1.asked" {
		t.Fatalf("told is %s", id)
	}
	o.Add(draft("q-2", "asked"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as if it were killed
	o.Close(ctx)
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString("test q-2.ask"); err != nil { // in the middle of a line
		t.Fatal(err)
	}
	second := newRecorder(takesAll)
	o, _ = opened(t, path, second)
	for _, about := range []string{"q-1", "q-2", "q-3"} {
		o.Add(draft(about, "asked"))
	}
	<-second.came
	<-second.came
	closes(t, o)
	slices.Sort(second.taken)
	if !slices.Equal(second.taken, []string{"q-2.asked", "q-3.asked"}) {
		t.Errorf("the second tells %v", second.taken)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the journal is %v (%v)", info.Mode(), err)
	}
}

func TestAQuestionThatWasNeverToldIsNotToldAsClosed(t *testing.T) {
	r := newRecorder(takesAll)
	o, _ := opened(t, filepath.Join(t.TempDir(), "notices"), r)
	o.Add(draft("q-1", "closed"))
	closes(t, o)
	if len(r.taken) != 0 {
		t.Errorf("told is %v", r.taken)
	}
}

func TestAReceiverThatRefusesForGoodIsNotTriedAgainAndOthersAreTold(t *testing.T) {
	r := newRecorder(func(m Message, _ int) error {
		if m.About == "q-1" {
			return errors.New("413")
		}
		return nil
	})
	o, reported := opened(t, filepath.Join(t.TempDir(), "notices"), r)
	o.Add(draft("q-1", "asked"))
	o.Add(draft("q-2", "asked"))
	<-r.came
	<-r.came
	o.Add(draft("q-1", "asked"))
	closes(t, o)
	if r.attempts["q-1.asked"] != 1 || len(r.told("q-2")) != 1 {
		t.Errorf("attempts are %v, told is %v", r.attempts, r.taken)
	}
	if said := reported(); len(said) == 0 || !strings.Contains(said[0], "413; q-1 is not told there") {
		t.Errorf("reported is %q", said)
	}
}

// A receiver that is down keeps nobody, and one that hangs is given up when the time is over.
func TestADeadReceiverHoldsNothingUp(t *testing.T) {
	down := newRecorder(func(Message, int) error { return &Temporary{Err: errors.New("refused")} })
	o, _ := opened(t, filepath.Join(t.TempDir(), "notices"), down)
	o.rest = rest
	o.Add(draft("q-1", "asked"))
	<-down.came
	closes(t, o) // without waiting for the next attempt
	hangs := newRecorder(func(Message, int) error { return errHangs })
	o, reported := opened(t, filepath.Join(t.TempDir(), "notices"), hangs)
	o.Add(draft("q-1", "asked"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Close(ctx, draft("r-1", "left"))
	if len(hangs.taken) != 0 {
		t.Error("it was told")
	}
	if said := strings.Join(reported(), "\n"); !strings.Contains(said, " was not told of q-1, r-1. ") {
		t.Errorf("reported is %q", said)
	}
}

// Another attempt is made after a second or less, then after twice as long each time, or when the receiver wants it, but
// never later than five minutes.
func TestTheRestsBetweenAttemptsGrowUpToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := func(attempt int, wanted time.Duration) time.Duration {
			began := time.Now()
			rest(t.Context(), attempt, wanted)
			return time.Since(began)
		}
		for attempt, most := range []time.Duration{firstRest, 2 * firstRest, 4 * firstRest, 8 * firstRest} {
			if got := took(attempt, 0); got < most/2 || got > most {
				t.Errorf("attempt %d comes after %s", attempt, got)
			}
		}
		if got := took(1000, 0); got < maxRest/2 || got > maxRest {
			t.Errorf("attempt 1000 comes after %s", got)
		}
		if got := took(0, time.Minute); got != time.Minute {
			t.Errorf("a receiver that wants a minute gets %s", got)
		}
		if got := took(0, 24*time.Hour); got != maxRest {
			t.Errorf("a receiver that wants a day gets %s", got)
		}
	})
}

// What happened while a channel was down for a day it is told once it takes messages again, in its order and none twice;
// meanwhile it is tried now and then. What it took without saying so it gets again under the same id.
func TestAChannelThatIsDownForADayIsToldWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day, questions = 24 * time.Hour, 20
		began := time.Now()
		down := newRecorder(func(m Message, attempt int) error {
			if time.Since(began) < day || m.ID == "q-5.asked" && attempt == 1 || m.ID == "q-19.asked" && attempt < 3 {
				return &Temporary{Err: errors.New("no reply")}
			}
			return nil
		})
		down.came = make(chan string, 1<<20)
		o, reported := opened(t, filepath.Join(t.TempDir(), "notices"), down)
		o.rest = rest
		for i := range questions {
			q := fmt.Sprintf("q-%d", i)
			o.Add(draft(q, "asked"))
			time.Sleep(time.Hour)
			if i%2 == 0 {
				o.Add(draft(q, "closed"))
			}
		}
		time.Sleep(day)
		for i := range questions {
			q, want := fmt.Sprintf("q-%d", i), []string{fmt.Sprintf("q-%d.asked", i), fmt.Sprintf("q-%d.closed", i)}
			if got := down.told(q); !slices.Equal(got, want[:2-i%2]) {
				t.Errorf("of %s it is told %v", q, got)
			}
			if n := down.attempts[want[0]]; n > int(day/(maxRest/2))+20 {
				t.Errorf("%s is tried %d times", want[0], n)
			}
		}
		o.Close(t.Context())
		if said := reported(); len(said) != 2 || !strings.Contains(said[1], "takes notifications again") {
			t.Errorf("reported is %q", said)
		}
	})
}

// A message that replaces others tells of the state when it is sent, however often that takes, and however it changes
// meanwhile.
func TestWhatReplacesOthersIsToldAsItIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := "a"
		r := newRecorder(func(m Message, attempt int) error {
			switch m.ID {
			case "a":
				state = "b"
				return &Temporary{Err: errors.New("busy")}
			case "b":
				state = "c" // told by another meanwhile, who was faster
			}
			return nil
		})
		o, _ := opened(t, filepath.Join(t.TempDir(), "notices"), r)
		one, other := Draft{ID: "1", About: "all", Replaces: true, At: time.Now().Add(time.Hour)}, Draft{ID: "2", About: "all",
			Replaces: true, Make: func(context.Context, Network) (Message, error) { return Message{ID: state, About: "all"}, nil }}
		one.Make = other.Make
		o.Add(one)
		o.Add(other) // takes its place, and does not wait
		time.Sleep(time.Hour)
		o.Close(t.Context())
		close(r.came)
		var told []string
		for id := range r.came {
			told = append(told, id)
		}
		if !slices.Equal(told, []string{"a", "b", "c"}) {
			t.Errorf("told are %v", told)
		}
	})
}

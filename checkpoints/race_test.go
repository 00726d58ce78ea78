package checkpoints

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// roundsVariable says how often the race for an answer is run, and scales the power cuts; usually it is as often as a
// few seconds allow.
const roundsVariable = "CLAUDE_SUPERVISE_TEST_ROUNDS"

func rounds(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv(roundsVariable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, not a number of rounds", roundsVariable, text)
	}
	return n
}

func init() {
	childRoles["answer round after round"] = answerRounds
	childRoles["start a run"] = startARun
}

// verdict is what one process says of one round.
type verdict struct {
	Me, By, Answer string // By and Answer: whom it lost to; empty if it won
	Err            string // anything else
}

func roundQuestion(n int) string { return fmt.Sprintf("q-%06d", n) }

// answerRounds answers a question for each line of its input, and says how it went.
func answerRounds(d Dirs) error {
	s, err := Open(d)
	if err != nil {
		return err
	}
	me := strconv.Itoa(os.Getpid())
	said := json.NewEncoder(os.Stdout)
	for starts, n := bufio.NewScanner(os.Stdin), 0; starts.Scan(); n++ {
		v := verdict{Me: me}
		_, err := s.Answer(context.Background(),
			InboxEntry{Question: roundQuestion(n), Value: "answer of " + me, By: me, At: time.Now()})
		if taken, ok := errors.AsType[*TakenError](err); ok {
			v.By, v.Answer = taken.By, taken.Answer
		} else if err != nil {
			v.Err = err.Error()
		}
		if err := said.Encode(v); err != nil {
			return err
		}
	}
	return s.Close()
}

func TestOfEightWhoAnswerAtOnceOneWinsAndTheOthersAreToldWho(t *testing.T) {
	n := rounds(t, 500)
	d := dirsAt(t)
	s := openAt(t, d)
	c := firstChange()
	for i := range n {
		q := *c.Questions[0]
		q.ID = roundQuestion(i)
		c.Questions = append(c.Questions, &q)
	}
	commit(t, s, c)
	children := make([]*child, 8)
	for i := range children {
		children[i] = startChild(t, "answer round after round", d)
	}
	winners := map[string]string{} // by question
	for i := range n {
		for _, c := range children {
			if _, err := c.stdin.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
		}
		verdicts := make([]verdict, len(children))
		winner := ""
		for k, c := range children {
			noError(t, json.Unmarshal([]byte(c.line(t)), &verdicts[k]))
			switch v := verdicts[k]; {
			case v.Err != "":
				t.Fatalf("round %d: %s", i, v.Err)
			case v.By == "" && winner != "":
				t.Fatalf("round %d: %s and %s have won", i, winner, v.Me)
			case v.By == "":
				winner = v.Me
			}
		}
		for _, v := range verdicts {
			if v.Me != winner && (v.By != winner || v.Answer != "answer of "+winner) {
				t.Fatalf("round %d: %s has won, and %s was told of %q by %s", i, winner, v.Me, v.Answer, v.By)
			}
		}
		winners[roundQuestion(i)] = winner
	}
	for _, c := range children {
		if err := errors.Join(c.stdin.Close(), c.Wait()); err != nil {
			t.Error(err)
		}
	}
	notes, err := s.Inbox(t.Context(), testRun, 0)
	if err != nil || len(notes) != n {
		t.Fatalf("%d notes of %d (%v)", len(notes), n, err)
	}
	for _, note := range notes {
		if note.By != winners[note.Question] {
			t.Errorf("%s has the answer of %s, and %s was told to have won", note.Question, note.By, winners[note.Question])
		}
	}
}

// both runs two racers at once.
func both(one, other func() error) (oneErr, otherErr error) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	wg.Go(func() { <-start; oneErr = one() })
	wg.Go(func() { <-start; otherErr = other() })
	close(start)
	wg.Wait()
	return oneErr, otherErr
}

func TestAnAnswerIsChangedOrItsDeliveryBeginsNeverBoth(t *testing.T) {
	d := dirsAt(t)
	supervisor, client := openAt(t, d), openAt(t, d)
	c := firstChange()
	changed, begun := 0, 0
	for i := range 200 {
		q := *firstChange().Questions[0]
		q.ID = roundQuestion(i)
		c.Questions, c.Event.Seq = []*Question{&q}, int64(2*i+1)
		commit(t, supervisor, c)
		note, err := client.Answer(t.Context(), InboxEntry{Question: q.ID, Value: "sqlite", By: "me", At: noon})
		noError(t, err)
		begin := Change{
			Event: Event{Run: testRun, Seq: int64(2*i + 2)}, Taken: note.Seq, CheckInbox: true, IfInboxAt: note.Seq,
			Questions: []*Question{{ID: q.ID, Run: testRun, Agent: testAgent, State: QuestionAnswered,
				Response: Response{Answer: "sqlite"}, Handling: Handling{Delivering: true}}},
		}
		beginErr, changeErr := both(
			func() error { return supervisor.Commit(t.Context(), begin) },
			func() error {
				_, err := client.ChangeAnswer(t.Context(), InboxEntry{Question: q.ID, Value: "postgres", By: "me", At: noon})
				return err
			})
		switch {
		case beginErr == nil && errors.Is(changeErr, ErrDelivering):
			begun++
		case errors.Is(beginErr, ErrInboxMoved) && changeErr == nil:
			changed++
			newest, err := supervisor.Inbox(t.Context(), testRun, 0)
			if err != nil || len(newest) != 2 || newest[1].Value != "postgres" {
				t.Fatalf("round %d: in the inbox %v (%v)", i, newest, err)
			}
			begin.CheckInbox, begin.Taken = false, newest[1].Seq
			commit(t, supervisor, begin)
		default:
			t.Fatalf("round %d: begin %v, change %v", i, beginErr, changeErr)
		}
	}
	t.Logf("%d changed, %d begun", changed, begun)
}

// startARun does what a supervisor does first, at a sign, and says the run's id.
func startARun(d Dirs) error {
	ctx := context.Background()
	fmt.Println("ready")
	if !bufio.NewScanner(os.Stdin).Scan() {
		return errors.New("no sign came")
	}
	s, err := Open(d)
	if err != nil {
		return err
	}
	c := firstChange()
	id := fmt.Sprintf("r-%08d", os.Getpid())
	owner, err := d.Own(ctx, id)
	if err != nil {
		return err
	}
	c.Run.ID, c.Event.Run = id, id
	c.Agents, c.Launches, c.Questions, c.Deliveries = nil, nil, nil, nil
	for c.Event.Seq = 1; c.Event.Seq <= 3; c.Event.Seq++ {
		if err := s.Commit(ctx, c); err != nil {
			return err
		}
	}
	fmt.Println(id)
	return errors.Join(s.Close(), owner.Release())
}

func TestAHundredSupervisorsMayStartAtOnce(t *testing.T) {
	d := dirsAt(t)
	children := make([]*child, 100)
	for i := range children {
		children[i] = startChild(t, "start a run", d)
	}
	for _, c := range children {
		if line := c.line(t); line != "ready" {
			t.Fatal(line)
		}
	}
	for _, c := range children {
		if _, err := c.stdin.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	started := map[string]bool{}
	for _, c := range children {
		started[c.line(t)] = true
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	runs, err := openAt(t, d).Runs(t.Context(), true)
	if err != nil || len(runs) != len(children) {
		t.Fatalf("%d runs of %d (%v)", len(runs), len(children), err)
	}
	for _, r := range runs {
		if !started[r.ID] {
			t.Errorf("nobody has started %s", r.ID)
		}
	}
}

// A run is removed while somebody else reaches for it: it is gone, with all that was left for it, or it is whole.
func TestARunThatIsRemovedIsGoneOrWhole(t *testing.T) {
	ended := firstChange()
	ended.Run.EndedAt = &noon
	for name, reach := range map[string]func(t *testing.T, d Dirs, s *Store, exported Exported) error{
		"to answer it": func(t *testing.T, _ Dirs, s *Store, _ Exported) error {
			_, err := s.Answer(t.Context(), InboxEntry{Question: testQuestion, Value: "sqlite", By: "me", At: noon})
			if errors.Is(err, ErrNoQuestion) {
				return nil
			}
			return err
		},
		"to continue with it": func(t *testing.T, d Dirs, s *Store, _ Exported) error {
			owner, err := d.Own(t.Context(), testRun)
			if err != nil {
				return err
			}
			defer func() { _ = owner.Release() }()
			_, err = s.Load(t.Context(), testRun)
			if errors.As(err, new(*UnknownError)) {
				return nil
			}
			goesOn := firstChange()
			goesOn.Event.Seq = 2
			return errors.Join(err, s.Commit(t.Context(), goesOn))
		},
		"to unpack it": func(t *testing.T, d Dirs, s *Store, exported Exported) error {
			owner, err := d.Own(t.Context(), testRun)
			if err != nil {
				return err
			}
			defer func() { _ = owner.Release() }()
			if err = s.Import(t.Context(), exported); errors.Is(err, ErrDuplicateID) {
				return nil
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := dirsAt(t)
			prune, other := openAt(t, d), openAt(t, d)
			gone, whole := 0, 0
			for i := range 60 {
				noError(t, prune.forget(t.Context(), testRun))
				commit(t, prune, ended)
				exported := export(t, prune)
				removed, reached := both(
					func() error {
						owner, err := d.Own(t.Context(), testRun)
						if err != nil {
							return err
						}
						return errors.Join(prune.Remove(t.Context(), testRun), owner.Release())
					},
					func() error { return reach(t, d, other, exported) })
				if removed != nil && !errors.Is(removed, ErrNotEnded) || reached != nil {
					t.Fatalf("round %d: remove %v, the other %v", i, removed, reached)
				}
				left := everything(t, prune)
				if _, err := other.Export(t.Context(), testRun); errors.As(err, new(*UnknownError)) && len(left) == 0 {
					gone++
				} else if err == nil && len(left) >= 6 {
					whole++
				} else {
					t.Fatalf("round %d: %v, %d rows are left", i, err, len(left))
				}
			}
			t.Logf("%d gone, %d whole", gone, whole)
		})
	}
}

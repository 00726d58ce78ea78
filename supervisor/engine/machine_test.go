package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/examples"
	"claude-supervise/examples/standin"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// TestMain lets this test binary be the stand-in agent, too: it is what Supervisor.Self names.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "stand-in" {
		s, err := examples.Load(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(standin.Main(context.Background(), s, os.Args[3:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A testBench is a supervisor's surroundings in a test: the state in a folder of its own, and what was told.
type testBench struct {
	engine.Supervisor
	t          *testing.T
	dirs       checkpoints.Dirs
	claude     string // the folder of question and answer files
	store      *checkpoints.Store
	interrupts chan string
	mu         sync.Mutex
	ns         []notice.Notification
}

func newTestBench(t *testing.T, env ...string) *testBench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dirs := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	home := t.TempDir()
	d := &testBench{t: t, interrupts: make(chan string, 2), dirs: dirs, claude: filepath.Join(home, ".claude"), store: store}
	d.Supervisor = host.Machine{Dirs: dirs, Store: store, Claude: d.claude, Self: self,
		Log: zerolog.Nop(), Env: slices.Concat(os.Environ(), []string{"HOME=" + home, "TMPDIR=" + t.TempDir()}, env),
	}.Supervisor(engine.Supervisor{
		Interrupts: d.interrupts, Open: func(supervisor.State, []*supervisor.Question) {},
		Notify:   func(context.Context, *supervisor.Question) {},
		Announce: func(context.Context, []string, notice.Notification) error { return nil },
		Tell: func(n notice.Notification) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.ns = append(d.ns, n)
		},
	})
	return d
}

// plays runs a scenario to its end, with its answers given in advance.
func (d *testBench) plays(name string, with ...func(*conf.Config)) supervisor.Outcome {
	d.t.Helper()
	s, err := examples.Load(name)
	if err != nil {
		d.t.Fatal(err)
	}
	cfg := conf.Config{Demo: name, Flags: s.ClaudeFlags, Hold: conf.Forever, MaxHeld: -1,
		Relaunch: conf.Resume, Retries: 3}
	if strings.Contains(string(s.Task), "\ndelegate: auto\n") {
		cfg.Delegate = conf.Delegates{conf.AutoDelegations}
	}
	if i := slices.Index(s.Flags, "--delegate"); i >= 0 {
		if cfg.Delegate, err = conf.ParseDelegates(s.Flags[i+1]); err != nil {
			d.t.Fatal(err)
		}
	}
	for _, a := range s.Answers {
		cfg.Answers = append(cfg.Answers, conf.Preset{Key: a.Question, Value: a.Answer, Demo: true})
	}
	for _, change := range with {
		change(&cfg)
	}
	cwd := d.t.TempDir()
	if err := os.WriteFile(cwd+"/go", nil, 0o600); err != nil { // what long work waits for
		d.t.Fatal(err)
	}
	out, err := d.Start(context.Background(), task.Task{Prompt: s.Prompt, Cwd: cwd, Config: cfg}, conf.Ask)
	if err != nil {
		d.t.Fatal(err)
	}
	if got := string(out.Run.Status); got != s.Expect.Status || out.Code != s.Expect.ExitCode {
		d.t.Errorf("%s, exit %d (%s); want %+v", got, out.Code, out.Root.Reason, s.Expect)
	}
	return out
}

// The records are the truth, the history explains: folded, it gives the records, as they are on disk.
func TestTheHistoryOfEveryScenarioFoldsToItsRecords(t *testing.T) {
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestBench(t)
			run := d.plays(name).Run.ID
			l, err := d.store.Load(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			onDisk, err := supervisor.Loaded(l)
			if err != nil {
				t.Fatal(err)
			}
			history, err := d.store.Events(t.Context(), run, 0)
			if err != nil {
				t.Fatal(err)
			}
			var folded supervisor.State
			for i, r := range history {
				if r.Seq != int64(i+1) {
					t.Fatalf("event %d has the number %d", i+1, r.Seq)
				}
				e, err := supervisor.Recorded(r)
				if err != nil {
					t.Fatal(err)
				}
				if folded, err = supervisor.Step(folded, e); err != nil {
					t.Fatalf("event %d, %s: %v", r.Seq, r.Type, err)
				}
			}
			if diff := cmp.Diff(asWritten(t, onDisk), asWritten(t, folded)); diff != "" {
				t.Errorf("-records +history\n%s", diff)
			}
		})
	}
}

// asWritten returns a state as it is written down: a list that is empty and one that is not there are one.
func asWritten(t *testing.T, s supervisor.State) any {
	t.Helper()
	return parseAny(t, text.JSON(s))
}

// Nothing is told before it is saved: what a notice says stands in the database when it is given.
func TestNothingIsToldBeforeItIsSaved(t *testing.T) {
	d := newTestBench(t)
	told := 0
	check := func(q *supervisor.Question) {
		qs, err := d.store.Questions(t.Context(), checkpoints.QuestionFilter{ID: q.ID})
		if err != nil || len(qs) != 1 || qs[0].State != q.State {
			t.Errorf("question %s is told as %s, and saved as %+v (%v)", q.ID, q.State, qs, err)
		}
		told++
	}
	tell := d.Tell
	d.Tell = func(n notice.Notification) {
		if n.Question != nil {
			check(n.Question)
		}
		tell(n)
	}
	d.plays("several")
	if told < 3 {
		t.Fatalf("%d notices of questions", told)
	}
}

// A supervisor that cannot hang its wake-up socket, or finds its run owned, says so and touches nothing.
func TestARunIsOwnedByOneSupervisor(t *testing.T) {
	d := newTestBench(t)
	run := d.plays("unreported").Run.ID
	owner, err := d.dirs.Own(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	before, err := d.store.Events(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Resume(t.Context(), run, engine.ResumeOptions{Policy: conf.Ask, Revive: true}); err == nil {
		t.Fatal("a second supervisor took the run over")
	}
	if err := owner.Release(); err != nil {
		t.Fatal(err)
	}
	after, err := d.store.Events(t.Context(), run, 0)
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d events became %d (%v)", len(before), len(after), err)
	}
}

// What comes into the inbox while a run is taken over is read with the rest, and nothing of it is taken twice: a
// message would reach the agent twice.
func TestATakeoverTakesEachNoteOnceWhateverComesMeanwhile(t *testing.T) {
	d := newTestBench(t)
	s, err := examples.Load("ask")
	if err != nil {
		t.Fatal(err)
	}
	cfg := conf.Config{Demo: "ask", Flags: s.ClaudeFlags, MaxHeld: -1, Relaunch: conf.Resume, Retries: 3}
	out, err := d.Start(t.Context(), task.Task{Prompt: s.Prompt, Cwd: t.TempDir(), Config: cfg}, conf.Park)
	if err != nil || out.Code != exit.Parked {
		t.Fatalf("it exits %d (%v)", out.Code, err)
	}
	run := out.Run.ID
	qs, err := d.store.Questions(t.Context(), checkpoints.QuestionFilter{Run: run})
	if err != nil || len(qs) != 1 {
		t.Fatalf("%d questions (%v)", len(qs), err)
	}
	leave := func(n supervisor.InboxEntry) {
		n.Run, n.By, n.At = run, "a test", checkpoints.Now()
		if _, err := d.store.Leave(t.Context(), n); err != nil {
			t.Error(err)
		}
	}
	leave(supervisor.InboxEntry{Kind: supervisor.EntryMessage, Value: "the first"})
	if _, err := d.store.Answer(t.Context(),
		supervisor.InboxEntry{Question: qs[0].ID, Value: s.Answers[0].Answer, By: "a test",
			At: checkpoints.Now()}); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	d.At = func(point string) {
		if point == supervisor.BeforeSave+"opened" {
			once.Do(func() { leave(supervisor.InboxEntry{Kind: supervisor.EntryMessage, Value: "the second"}) })
		}
	}
	if out, err = d.Resume(t.Context(), run, engine.ResumeOptions{Policy: conf.Park}); err != nil || out.Code != 0 {
		t.Fatalf("it exits %d (%v)", out.Code, err)
	}
	l, err := d.store.Load(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, v := range l.Deliveries {
		said += v.Text
	}
	for _, text := range []string{"the first", "the second", s.Answers[0].Answer} {
		if n := strings.Count(said, text); n != 1 {
			t.Errorf("%q is said %d times", text, n)
		}
	}
}

func TestEveryEffectIsDone(t *testing.T) {
	listed := slices.Sorted(slices.Values(effect.Kinds))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(engine.Executing)), listed); diff != "" {
		t.Error("the engine does (-) what is listed (+):\n" + diff)
	}
}

func parseAny(t *testing.T, doc json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

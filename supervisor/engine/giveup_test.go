package engine_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// A blockade is how a run comes to an effect of one kind, which then never comes back.
type blockade struct {
	plays   string // the scenario
	alone   bool   // without its answers: a person is waited for
	with    func(*conf.Config)
	project bool     // it works in a repository
	env     []string // of its agents
	// what happens under an earlier supervisor
	before func(d *testBench, begin func(*testBench) (supervisor.Outcome, error))
	// what a person answers, past all checks
	answers map[checkpoints.QuestionKind]string
	changes func(*supervisor.Run,
		*supervisor.Question) // what is changed in the records of the run and its question before it is resumed
	ends map[string]string // by the way of ending: how it ends otherwise than usual, or why that is not tried
}

const notTried = "not tried: "

// A wait has no bound: it is over when its time has come. What time budgets count is work, which is not done meanwhile.
var isWait = map[string]string{"max-time": notTried + "it only waits for a time"}

// interruptedAt interrupts an earlier supervisor twice, when it begins an effect of a kind: what it was at is left as
// it is.
func interruptedAt(kind effect.Kind) func(*testBench, func(*testBench) (supervisor.Outcome, error)) {
	return func(d *testBench, begin func(*testBench) (supervisor.Outcome, error)) {
		reached, stay := make(chan struct{}), make(chan struct{})
		d.t.Cleanup(func() { close(stay) })
		var once sync.Once
		d.Instead(func(f effect.Effect, act func(context.Context) engine.Result) func(context.Context) engine.Result {
			if f.Do != kind && f.Do != effect.End {
				return act
			}
			return func(context.Context) engine.Result {
				if f.Do == kind {
					once.Do(func() { close(reached) })
				}
				<-stay // the end of its process, too: else it would leave at the first interrupt
				return engine.Result{}
			}
		})
		d.SetGrace(engine.Grace{Before: time.Hour, After: time.Millisecond, Ends: time.Millisecond})
		go func() {
			<-reached
			d.interrupt(2)
		}()
		if _, err := begin(d); err != nil {
			d.t.Fatal(err)
		}
	}
}

// blockades has a row for each kind of effect that Plan gives or the engine starts.
var blockades = map[effect.Kind]blockade{
	effect.Launch:  {plays: "work"},
	effect.End:     {plays: "work"},
	effect.Sweep:   {plays: "crash"},
	effect.Recover: {plays: "ask", alone: true, before: interruptedAt(effect.Hold)},
	effect.Deliver: {plays: "work"},
	effect.Gate:    {plays: "work"},
	effect.Reply:   {plays: "tools"},
	effect.Confirm: {plays: "crash"},
	effect.Survey:  {plays: "crash"},
	effect.Check:   {plays: "work"},
	effect.Place: {plays: "delegate-parallel", project: true,
		with: func(c *conf.Config) { c.Worktree = true }},
	effect.Moment: {plays: "tool-ask"},
	effect.Tidy: {plays: "delegate-parallel", project: true,
		with: func(c *conf.Config) { c.Worktree = true }},
	effect.Merge: {plays: "delegate-parallel",
		ends: map[string]string{"stop": "succeeded", "SIGTERM": "succeeded"}},
	effect.Prepare: {plays: "stop"},
	effect.Run: {plays: "stop", alone: true,
		answers: map[checkpoints.QuestionKind]string{questions.AskBlocker: "run: true",
			questions.AskCommand: questions.RunIt}},
	effect.Drop: {plays: "document-update-review",
		env: []string{"MAX_QUICK_WAIT=1"}}, // one look of its script: else it may have gone before its question file is seen
	effect.Reclaim: {plays: "ask", alone: true, before: interruptedAt(effect.Hold),
		changes: func(_ *supervisor.Run, q *supervisor.Question) {
			at := checkpoints.Now()
			q.State, q.Answer, q.AnsweredAt, q.Delivering = checkpoints.QuestionAnswered, "JWT", &at, true
			q.File = &checkpoints.FileAsked{ID: "a-script-s", Drop: checkpoints.DropBegun}
		}},
	effect.Notify: {plays: "ask", alone: true},
	effect.Hold:   {plays: "ask", alone: true, ends: isWait},
	effect.Watch: {plays: "ask", alone: true, with: func(c *conf.Config) { c.SilentAfter = time.Hour },
		ends: isWait},
	effect.Timeout: {plays: "delegate-checked", ends: isWait},
	effect.Retry:   {plays: "overloaded", ends: isWait},
	effect.Overdue: {plays: "delegate-block", ends: isWait},
	effect.Clock: {plays: "ask", alone: true,
		ends: map[string]string{"max-time": notTried + "it is what tells the time"}},
	effect.Ease: {plays: "ask", alone: true, before: interruptedAt(effect.Hold), ends: isWait,
		changes: func(r *supervisor.Run, _ *supervisor.Question) {
			r.Pressure = &checkpoints.Pressure{Parallel: 1, By: "a test", At: checkpoints.Now()}
		}},
	effect.AskBudget: {plays: "ask", alone: true, with: func(c *conf.Config) { c.Budget.Turns = 1 }},
	effect.Snapshot: {plays: "ask", alone: true,
		with: func(c *conf.Config) { c.Snapshots = &conf.SnapshotTo{Dir: "/a", Keep: 1} }},
	effect.Announce: {plays: "work", with: func(c *conf.Config) { c.Notify = []string{"tell"} },
		ends: map[string]string{
			"stop": notTried + "the run has ended", "stop heard": notTried + "the run has ended",
			"SIGTERM": "succeeded",
		}},
}

func TestEveryKindOfEffectHasABoundAndABlockade(t *testing.T) {
	for kind := range engine.Executing {
		if _, ok := blockades[kind]; !ok {
			t.Errorf("no test shows that a %q which blocks lets the run end (blockades)", kind)
		}
		b := engine.BoundOf(kind)
		if b.Within == 0 && !kind.Wait() && !b.Writes && kind != effect.Run {
			t.Errorf("%q may take for ever", kind)
		}
	}
	if len(blockades) != len(engine.Executing) {
		t.Errorf("%d kinds, %d blockades", len(engine.Executing), len(blockades))
	}
}

// Whatever an effect blocks on, a stop, an interrupt, a second one and the end of its time end the run, and what was
// accepted before is kept.
func TestAnEffectThatNeverComesBackLetsTheRunEnd(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(blockades)) {
		for _, end := range sample.Part(string(kind),
			[]string{"stop", "stop heard", "SIGTERM", "second interrupt", "max-time"}, 3) {
			b := blockades[kind]
			if strings.HasPrefix(b.ends[end], notTried) {
				continue
			}
			t.Run(string(kind)+"/"+end, func(t *testing.T) {
				t.Parallel()
				endsWhileBlocked(t, kind, end, b)
			})
		}
	}
}

// interrupt asks the supervisor to leave, as often as that.
func (d *testBench) interrupt(times int) {
	for range times {
		d.interrupts <- "a test"
	}
}

func endsWhileBlocked(t *testing.T, kind effect.Kind, end string, b blockade) {
	d := newTestBench(t, b.env...)
	s, err := examples.Load(b.plays)
	if err != nil {
		t.Fatal(err)
	}
	cfg := conf.Config{Demo: b.plays, Flags: s.ClaudeFlags, Hold: time.Hour, MaxHeld: -1,
		Relaunch: conf.Resume, Retries: 3, Delegate: conf.Delegates{conf.AutoDelegations}}
	cfg.Budget.Time = time.Hour
	for _, a := range s.Answers {
		if !b.alone {
			cfg.Answers = append(cfg.Answers, conf.Preset{Key: a.Question, Value: a.Answer})
		}
	}
	if b.with != nil {
		b.with(&cfg)
	}
	cwd := t.TempDir()
	if b.project {
		cwd = gittest.Project(t)
	}
	gittest.Put(t, filepath.Join(cwd, "go"), "") // what long work waits for
	run := host.NewRun()
	policy := conf.Ask
	if end == "max-time" {
		policy = conf.Park // a person is asked for more, and the run is left
	}
	begin := func(d *testBench) (supervisor.Outcome, error) {
		return d.Start(t.Context(), task.Task{Run: run, Prompt: s.Prompt, Cwd: cwd, Config: cfg}, policy)
	}
	if b.before != nil {
		b.before(d, begin)
		begin = func(d *testBench) (supervisor.Outcome, error) {
			return d.Resume(t.Context(), run, engine.ResumeOptions{Policy: policy})
		}
		if b.changes != nil {
			d.alter(run, b.changes)
		}
	}
	client := client.Client{Dirs: d.dirs, Store: d.store}
	d.Open = func(_ supervisor.State, open []*supervisor.Question) {
		for _, q := range open {
			if value, ok := b.answers[q.Kind]; ok {
				go func() { // it may have been answered before: then the run goes on by itself
					_, _ = d.store.Answer(context.WithoutCancel(t.Context()),
						supervisor.InboxEntry{Question: q.ID, Value: value, By: "a test", At: checkpoints.Now()})
					_ = client.Ring(context.WithoutCancel(t.Context()), run)
				}()
			}
		}
	}

	reached, never, spent := make(chan struct{}), make(chan struct{}), make(chan struct{})
	heard := make(chan struct{})
	t.Cleanup(func() { close(never) })
	var once sync.Once
	bound := engine.BoundOf(kind)
	d.Instead(func(f effect.Effect, act func(context.Context) engine.Result) func(context.Context) engine.Result {
		switch {
		case f.Do == kind:
			if bound.Ends { // what it did not end would write into folders that are being removed
				t.Cleanup(func() { act(context.WithoutCancel(t.Context())) })
			}
			if bound.Ends || end == "max-time" { // its bound gives it up: all is said before that begins
				once.Do(func() { close(reached) })
				<-heard
			}
			return func(ctx context.Context) engine.Result {
				once.Do(func() { close(reached) })
				if end == "stop heard" {
					<-ctx.Done()
					return engine.Result{}
				}
				<-never
				return engine.Result{}
			}
		case f.Do == effect.Clock && end == "max-time":
			return func(ctx context.Context) engine.Result {
				select {
				case <-spent:
					return engine.ResultOf(supervisor.Worked{Agent: f.Agent, For: 2 * time.Hour})
				case <-ctx.Done():
					return engine.Result{}
				}
			}
		}
		return act
	})
	grace := engine.Grace{Before: time.Millisecond, After: 50 * time.Millisecond, Ends: 20 * time.Second}
	if bound.Ends || bound.Kills {
		grace.Ends = 50 * time.Millisecond
	}
	if bound.Ends || end == "max-time" {
		grace.Of, grace.Most = kind, 50*time.Millisecond
	}
	d.SetGrace(grace)

	const said = "what was said before the end"
	type left struct {
		out supervisor.Outcome
		err error
	}
	ended := make(chan left, 1)
	go func() {
		out, err := begin(d)
		ended <- left{out, err}
	}()
	select {
	case <-reached:
	case l := <-ended: // perhaps after it came to it, too
		select {
		case <-reached:
			ended <- l
		default:
			t.Fatalf("it never came to %q: %+v (%v)", kind, l.out.Root, l.err)
		}
	}
	accepted := client.Say(t.Context(), run, said, "a test")
	want, code := checkpoints.Stopped, -1
	switch end {
	case "stop", "stop heard":
		if err := client.Stop(t.Context(), run, "", false, "a test"); err != nil && b.ends["stop"] == "" {
			t.Error(err)
		}
	case "SIGTERM":
		d.interrupt(1)
		want, code = "", exit.Interrupted
	case "second interrupt":
		d.interrupt(1)
		go d.interrupt(1) // it may have left at the first
		want, code = "", exit.Interrupted
	case "max-time":
		close(spent)
		want = ""
	}
	close(heard)
	if how := b.ends[strings.TrimSuffix(end, " heard")]; how != "" {
		want, code = supervisor.Status(how), -1
	}
	l := <-ended
	if l.err != nil {
		t.Fatal(l.err)
	}
	if want != "" && l.out.Run.Status != want {
		t.Errorf("the run is %s (%s), want %s", l.out.Run.Status, l.out.Run.Reason, want)
	}
	if code >= 0 && l.out.Code != code {
		t.Errorf("exit %d, want %d: %s (%s)", l.out.Code, code, l.out.Run.Status, l.out.Run.Reason)
	}
	if accepted == nil && !d.keeps(run, said) {
		t.Errorf("what was accepted is lost")
	}
}

// keeps reports whether something that was accepted is still in the records of a run, or in its inbox.
func (d *testBench) keeps(run, written string) bool {
	d.t.Helper()
	l, err := d.store.Load(d.t.Context(), run)
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := supervisor.Loaded(l)
	if err != nil {
		d.t.Fatal(err)
	}
	notes, err := d.store.Inbox(d.t.Context(), run, s.Taken)
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.Contains(string(text.JSON(s)), written) ||
		slices.ContainsFunc(notes, func(n supervisor.InboxEntry) bool { return n.Value == written })
}

// alter changes the records of a run that nobody supervises, and of its question.
func (d *testBench) alter(run string, change func(*supervisor.Run, *supervisor.Question)) {
	d.t.Helper()
	r, err := d.store.Run(d.t.Context(), run)
	if err != nil {
		d.t.Fatal(err)
	}
	l, err := d.store.Load(d.t.Context(), run)
	if err != nil {
		d.t.Fatal(err)
	}
	q := d.asked()
	change(&r, &q)
	event, err := (supervisor.Happened{At: checkpoints.Now(), Event: supervisor.Recovered{}}).Record(run, l.LastEvent+1)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.store.Commit(d.t.Context(),
		checkpoints.Change{Run: &r, Questions: []*supervisor.Question{&q}, Event: event}); err != nil {
		d.t.Fatal(err)
	}
}

// All that a slow command of --notify is still to be told at the end of a supervisor has one time in common. What it was
// not told of is said, and the next supervisor tells it of what is open then.
func TestASlowNotifyCommandHoldsTheExitOnceInAll(t *testing.T) {
	d := newTestBench(t)
	s, err := examples.Load("ask")
	if err != nil {
		t.Fatal(err)
	}
	d.SetGrace(engine.Grace{Before: time.Hour, After: time.Hour, Told: time.Millisecond})
	var told []string
	d.Announce = func(ctx context.Context, _ []string, n notice.Notification) error {
		told = append(told, string(n.Type)+" "+n.Question.ID)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	out, err := d.Start(t.Context(), task.Task{Prompt: s.Prompt, Cwd: t.TempDir(),
		Config: conf.Config{Demo: "ask", Flags: s.ClaudeFlags, Notify: []string{"tell"}}}, conf.Park)
	if err != nil || out.Code != exit.Parked || len(out.Open()) != 1 {
		t.Fatalf("exit %d, open %v (%v)", out.Code, out.Open(), err)
	}
	q := out.Open()[0].ID
	if want := []string{"question " + q}; !slices.Equal(told, want) {
		t.Errorf("begun to tell is %q, want %q: no time was left for the rest", told, want)
	}
	var said []string
	for _, n := range d.ns {
		if strings.Contains(n.Text, "--notify command failed") {
			said = append(said, n.Text)
		}
	}
	if len(said) != 2 || !strings.HasSuffix(said[0], "it may not have told of "+q) ||
		!strings.HasSuffix(said[1], "it was not told how the run is left") {
		t.Errorf("said is %q", said)
	}
	d.Announce = func(_ context.Context, _ []string, n notice.Notification) error {
		if told = append(told, string(n.Type)); n.Question != nil {
			told[len(told)-1] += " " + n.Question.ID
		}
		return nil
	}
	told = nil
	d.SetGrace(engine.Grace{Before: time.Hour, After: time.Hour, Told: time.Hour})
	if _, err := d.Resume(t.Context(), out.Run.ID, engine.ResumeOptions{Policy: conf.Park}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"question " + q, "run_done"}; !slices.Equal(told, want) {
		t.Errorf("the next supervisor tells %q, want %q", told, want)
	}
}

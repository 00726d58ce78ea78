package supervisor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// A Supervisor is what runs are supervised with: where things are kept, and whom to tell. Its functions are called
// from the engine's goroutines and must not block on a person; none may be nil.
type Supervisor struct {
	Dirs       checkpoints.Dirs
	Store      *checkpoints.Store
	Env        []string // that children inherit, before it is cleaned and marked
	Self       string   // this program, which plays the stand-in
	Log        zerolog.Logger
	Interrupts <-chan string // each asks to leave, and says who; the first gently, the second at once

	Tell   func(Notice)                                    // something happened; in order, after it was saved
	Open   func([]*Question)                               // the open questions, oldest first, whenever a question changed
	Notify func(*Question)                                 // give a question's one notice; it may be given again only after a crash
	Choose func(q *Question, typed string) (string, error) // what a typed text answers, or why it does not
}

// A Task is what `run` was asked to do.
type Task struct {
	Prompt, Name, Cwd string
	Config            Config
}

// An Outcome is how a supervisor left its run.
type Outcome struct {
	Run   *Run
	Root  *Agent
	State State
	Code  int
}

// Start begins a run and supervises it until it ends, is parked under the policy, or is interrupted. It blocks for as
// long as that takes: days, if a person lets a question wait.
func (s Supervisor) Start(ctx context.Context, t Task, policy OnQuestion) (Outcome, error) {
	id := checkpoints.NewID("r-", rand.Reader)
	owner, err := s.Dirs.Own(ctx, id)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	e := s.engine(id)
	err = e.apply(ctx, Created{
		Run: id, Name: t.Name, Cwd: t.Cwd, Agent: checkpoints.NewID("a-", rand.Reader), Task: t.Prompt, Config: t.Config,
	})
	if err != nil {
		return Outcome{}, err
	}
	return e.supervise(ctx, Opened{PID: os.Getpid(), Policy: policy})
}

// Taking says how a run is taken over.
type Taking struct {
	Policy OnQuestion
	Revive bool   // agents that failed or were stopped go on, too
	Claude string // another claude than the run was started with; "": the same
}

// Resume takes over a run that nobody supervises and goes on with it. ErrOwned is the error where another process
// supervises the run.
func (s Supervisor) Resume(ctx context.Context, run string, how Taking) (Outcome, error) {
	owner, err := s.Dirs.Own(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	l, err := s.Store.Load(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	e := s.engine(run)
	e.seq = l.LastEvent
	if e.state, err = loaded(l); err != nil {
		return Outcome{}, err
	}
	return e.supervise(ctx, Opened{PID: os.Getpid(), Policy: how.Policy, Revive: how.Revive, Claude: how.Claude})
}

func (s Supervisor) engine(run string) *engine {
	return &engine{
		Supervisor: s, run: run, log: s.Log.With().Str("run", run).Logger(),
		inflight: map[string]context.CancelFunc{}, children: map[string]*child{},
		results: make(chan result), heard: make(chan heard), done: make(chan struct{}),
	}
}

// supervise owns the run until it may leave. The bell hangs before the records count as taken over, so that nothing
// that is left in between is missed.
func (e *engine) supervise(ctx context.Context, opened Opened) (Outcome, error) {
	bell, err := e.Dirs.Listen(e.run)
	if err != nil {
		return Outcome{}, fmt.Errorf("the bell of run %s cannot be hung: %w", e.run, err)
	}
	defer func() { _ = bell.Close() }() // its socket is of no use to anybody any more
	e.bell, opened.Bell = bell, bell.Path()
	if err := procs.BecomeSubreaper(); err != nil {
		e.log.Warn().Err(err).Msg("orphans of agents are not adopted")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = e.loop(ctx, opened)
	if err != nil {
		e.kill(context.WithoutCancel(ctx))
	}
	for _, stop := range e.inflight {
		stop()
	}
	_ = e.group.Wait() // effects tell by results, never by errors
	out := Outcome{Run: e.state.Run, Root: e.state.Agents[e.state.Run.Root], State: e.state, Code: exitCodeOf(e.state)}
	switch {
	case errors.Is(err, errAbandoned):
		out.Code = ExitInterrupted
	case err != nil:
		return out, err
	}
	return out, nil
}

// UnusedAnswers gives the presets that no question has taken.
func (o Outcome) UnusedAnswers() []Preset {
	used := map[string]bool{}
	for _, q := range o.State.Questions {
		used[q.AnsweredBy] = true
	}
	var unused []Preset
	for _, p := range o.State.Config.Answers {
		if !used[p.by()] {
			unused = append(unused, p)
		}
	}
	return unused
}

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
	Claude     string   // the folder of Claude's own files, where agents keep checkpoints and ask by file: ~/.claude
	Log        zerolog.Logger
	Interrupts <-chan string // each asks to leave, and says who; the first gently, the second at once

	Tell   func(Notice)                                    // something happened; in order, after it was saved
	Open   func([]*Question)                               // the open questions, oldest first, whenever a question changed
	Choose func(q *Question, typed string) (string, error) // what a typed text answers, or why it does not

	// Notify gives a question's one notice; it may be given again only after a crash. It may block for a few seconds, while
	// other questions wait for theirs.
	Notify func(context.Context, *Question)

	// Announce tells the person's own command (Config.Notify) of a question, or how the run is left. It may block for as
	// long as its context lasts.
	Announce func(ctx context.Context, command []string, n Notice) error

	At func(point string) // for tests: called at each of Points, from any goroutine, and may never return; nil otherwise
}

// NewRun makes the id of a run.
func NewRun() string { return checkpoints.NewID(checkpoints.RunPrefix, rand.Reader) }

// newAgent makes the id of an agent, which is also the nonce that makes its text signals genuine.
func newAgent() string { return checkpoints.NewID("a-", rand.Reader) }

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
	id := t.Run
	if id == "" {
		id = NewRun()
	}
	owner, err := s.Dirs.Own(ctx, id)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	e := s.engine(id)
	err = e.apply(ctx, Created{
		Run: id, Name: t.Name, Cwd: t.Cwd, Agent: newAgent(), Task: t.Brief.Compose(t.Prompt),
		SuccessCriteria: t.Brief.SuccessCriteria, Deliverables: t.Brief.Deliverables, Config: t.Config,
		Children: identified(t.Children), Group: t.Group, From: t.From, Estimated: t.Estimated,
	})
	if err != nil {
		return Outcome{}, err
	}
	return e.supervise(ctx, Opened{PID: os.Getpid(), Policy: policy})
}

// Taking says how a run is taken over.
type Taking struct {
	Policy OnQuestion
	Revive bool     // agents that failed or were stopped go on, too
	Failed bool     // those that failed, or reported so, are tried again; of the run, nothing else that has ended
	Claude string   // another claude than the run was started with; "": the same
	Exec   []string // another command, for a run that runs one in claude's place; nil: the same
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
	if NoSuchID(err) { // it was forgotten meanwhile; to own it has made its folder anew
		return Outcome{}, errors.Join(err, s.Dirs.RemoveRun(run))
	}
	if err != nil {
		return Outcome{}, err
	}
	e := s.engine(run)
	e.seq = l.LastEvent
	if e.state, err = loaded(l); err != nil {
		return Outcome{}, err
	}
	if e.state.Run.Packed != "" {
		return Outcome{}, &checkpoints.PackedError{Run: run, File: e.state.Run.Packed}
	}
	return e.supervise(ctx, Opened{PID: os.Getpid(), Policy: how.Policy, Revive: how.Revive, Failed: how.Failed, Claude: how.Claude, Exec: how.Exec})
}

func (s Supervisor) engine(run string) *engine {
	return &engine{
		Supervisor: s, run: run, log: s.Log.With().Str("run", run).Logger(),
		inflight: map[string]context.CancelFunc{}, children: map[string]*child{},
		unowned: map[string]bool{}, news: make(chan fileNews),
		strain: strain{}, memory: make(chan struct{}, 1),
		results: make(chan result), heard: make(chan heard, heardAhead), done: make(chan struct{}),
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
	shut := e.keepDoor(ctx)
	err = e.loop(ctx, opened)
	shut()
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

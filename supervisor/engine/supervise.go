package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
)

// A Supervisor is what runs are supervised with: the machine (package host fills it in), and whom to tell. Its
// functions are called from the engine's goroutines and must not block on a person; none may be nil.
type Supervisor struct {
	Store     Store
	Processes Processes
	Files     Files
	Machine   Machine
	Executors
	Now Clock
	IDs IDs

	Program string // its path, absolute: agents may read of their run by it unasked; "": by none
	// Toolless reports whether the person's own settings deny agents our tools in a run with that folder; nil: never.
	Toolless   func(cfg conf.Config, cwd string) bool
	Where      *claude.Whereabouts // of the environment that its processes get; nil: it is not remembered
	Log        zerolog.Logger
	Interrupts <-chan string // each asks to leave, and says who; the first gently, the second at once

	Tell func(notice.Notification) // something happened; in order, after it was saved
	// the open questions, oldest first, whenever a question changed, with the state that they are in
	Open func(supervisor.State, []*supervisor.Question)

	// Notify returns a question's one notice; it may be given again only after a crash. It may block for a few seconds,
	// while other questions wait for theirs.
	Notify func(context.Context, *supervisor.Question)

	// Announce tells the person's own command (Config.Notify) of a question, or how the run is left. It may block for as
	// long as its context lasts.
	Announce func(ctx context.Context, command []string, n notice.Notification) error

	Lease Lease // nil: nobody else can take the run over

	// SnapshotReady is closed once Snapshot has to read no more than what has changed since: as long as the run goes on
	// none is taken before, but for maxSnapshotDelay at most. nil: it is so at once.
	SnapshotReady <-chan struct{}

	grace grace // the zero value: defaultGrace
	hooks hooks // for tests

	At func(point string) // for tests: called at each of Points, from any goroutine, and may never return; nil otherwise
}

// Start begins a run and supervises it until it ends, is parked under the policy, or is interrupted. It blocks for as
// long as that takes: days, if a person lets a question wait.
func (s Supervisor) Start(ctx context.Context, t task.Task, policy conf.OnQuestion) (supervisor.Outcome,
	error) {
	id := t.Run
	if id == "" {
		id = s.IDs.Run()
	}
	release, err := s.Machine.Own(ctx, id)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer release()
	e := s.engine(id)
	created := supervisor.Created{
		Run: id, Name: t.Name, Cwd: t.Cwd, Agent: s.IDs.Agent(), Task: t.Brief.Compose(t.Prompt),
		SuccessCriteria: t.Brief.SuccessCriteria, Deliverables: t.Brief.Deliverables, Config: t.Config,
		Children: task.Identified(t.Children, s.IDs.Agent), Group: t.Group, From: t.From,
		Estimated: t.Estimated,
	}
	if t.Fork != nil {
		fork := *t.Fork
		fork.Questions = slices.Clone(fork.Questions)
		for i := range fork.Questions {
			fork.Questions[i].ID = s.IDs.Question()
		}
		created.Fork, created.Task = &fork, t.Prompt
	}
	if e.Lease == nil {
		e.created = &created
	} else if err := e.apply(ctx, created); err != nil { // it is claimed as a run that is there
		return supervisor.Outcome{}, err
	}
	return e.supervise(ctx, supervisor.Opened{PID: s.Machine.PID(), Program: s.Program, Policy: policy,
		Toolless: s.isToolless(t.Config, t.Cwd), Where: s.Where})
}

// ResumeOptions says how a run is taken over.
type ResumeOptions struct {
	Policy conf.OnQuestion
	Revive bool       // agents that failed or were stopped go on, too
	Failed bool       // those that failed, or reported so, are tried again; of the run, nothing else that has ended
	Claude string     // another claude than the run was started with; "": the same
	Exec   []string   // another command, for a run that runs one in claude's place; nil: the same
	Cwd    string     // where the run's folder is from now on, absolute; "": where it was
	Given  conf.Given // what the person grants the run from now on, and bounds it by

	Snapshots *conf.SnapshotTo // where its snapshots are put from now on; nil: as before
}

// Resume takes over a run that nobody supervises and goes on with it. ErrOwned is the error where another process
// supervises the run.
func (s Supervisor) Resume(ctx context.Context, run string, how ResumeOptions) (supervisor.Outcome, error) {
	release, err := s.Machine.Own(ctx, run)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer release()
	l, err := s.Store.Load(ctx, run)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	e := s.engine(run)
	e.seq = l.LastEvent
	if e.state, err = supervisor.Loaded(l); err != nil {
		return supervisor.Outcome{}, err
	}
	if e.state.Run.Packed != "" {
		return supervisor.Outcome{}, &checkpoints.PackedError{Run: run, File: e.state.Run.Packed}
	}
	if err := how.Given.Fits(e.state.Config); err != nil {
		return supervisor.Outcome{}, err
	}
	return e.supervise(ctx, supervisor.Opened{
		PID: s.Machine.PID(), Program: s.Program, Policy: how.Policy, Revive: how.Revive, Failed: how.Failed,
		Claude: how.Claude, Exec: how.Exec, Cwd: how.Cwd, Given: how.Given, Snapshots: how.Snapshots,
		Toolless: s.isToolless(e.state.Config, cmp.Or(how.Cwd, e.state.Run.Cwd)), Where: s.Where,
	})
}

func (s Supervisor) isToolless(cfg conf.Config, cwd string) bool {
	return s.Toolless != nil && s.Toolless(cfg, cwd)
}

// The hooks of tests. Those that are nil change nothing.
type hooks struct {
	// what is done in an effect's place
	instead func(effect.Effect, func(context.Context) result) func(context.Context) result
	// before the loop takes what became of it
	comes func(key string)
	// before the loop hears what the lease says
	looked func()
	began  func(*engine)
	step   func(supervisor.State, supervisor.Happened) (supervisor.State, error)
	plan   func(s supervisor.State, undone []string) effect.Parts
	// after a plan was carried out
	carried func(plan effect.Parts, leaving bool)
}

func (s Supervisor) engine(run string) *engine {
	if s.grace == (grace{}) {
		s.grace = defaultGrace
	}
	if s.hooks.step == nil {
		s.hooks.step = supervisor.Step
	}
	if s.hooks.plan == nil {
		s.hooks.plan = supervisor.State.Plan
	}
	e := &engine{
		Supervisor: s, run: run, log: s.Log.With().Str("run", run).Logger(),
		inflight: map[string]*underway{}, children: map[string]*child{},
		unowned: map[string]bool{}, news: make(chan supervisor.FileEvent),
		backpressure: supervisor.Backpressure{}, memory: make(chan struct{}, 1),
		leases: make(chan supervisor.LeaseRead), unsure: make(chan struct{}, 1), ticked: make(chan struct{}, 1),
		results: make(chan result), messages: make(chan childMessage, messagesAhead), done: make(chan struct{}),
	}
	if s.hooks.began != nil {
		s.hooks.began(e)
	}
	return e
}

// shutTime is how long the last look at the folders of question files may take: a disk may not answer.
const shutTime = 10 * time.Second

// supervise owns the run until it may leave. The wake-up socket hangs before the records count as taken over, so that
// nothing that is left in between is missed. Where somebody else goes on with the run, it ends what is left here.
func (e *engine) supervise(ctx context.Context, opened supervisor.Opened) (supervisor.Outcome, error) {
	if e.Lease != nil {
		var err error
		opened.Epoch, err = e.Lease.Claim(ctx, e.run, e.state.Run.Epoch)
		if over := new(checkpoints.TakenOverError); errors.As(err, &over) {
			opened.Over = &over.Over
		} else if err != nil {
			return supervisor.Outcome{}, err
		}
	}
	waker, err := e.Machine.Listen(e.run)
	if err != nil {
		return supervisor.Outcome{}, fmt.Errorf("the wake-up socket of run %s cannot be opened: %w", e.run, err)
	}
	defer func() { _ = waker.Close() }() // its socket is of no use to anybody any more
	e.waker, opened.Waker = waker, waker.Path()
	if err := e.Machine.Adopt(); err != nil {
		e.log.Warn().Err(err).Msg("orphans of agents are not adopted")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shut := e.keepFileDrop(ctx)
	err = e.loop(ctx, opened)
	if !within(shutTime, shut) {
		e.log.Error().Msg("the folders of question files do not respond")
	}
	if err != nil {
		e.kill(context.WithoutCancel(ctx))
	}
	for _, u := range e.inflight {
		u.cancel(errLeftNow)
	}
	_ = e.group.Wait() // effects tell by results, never by errors
	if e.state.Run == nil {
		return supervisor.Outcome{}, err // the run was not even created
	}
	out := supervisor.Outcome{Run: e.state.Run, Root: e.state.Agents.Get(e.state.Run.Root), State: e.state,
		Code: e.state.ExitCode()}
	switch {
	case errors.Is(err, errAbandoned):
		out.Code = exit.Interrupted
	case err != nil:
		return out, err
	}
	return out, nil
}

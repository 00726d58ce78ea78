package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"claude-supervise/checkpoints"
)

// Open is the state of a question that waits for its answer.
const Open = checkpoints.QuestionOpen

// ErrOwned means that another process supervises the run.
var ErrOwned = checkpoints.ErrOwned

// ErrBug marks errors that no circumstance explains, such as a run with two writers.
var ErrBug = errors.New("internal error")

// errWrongKind says that an id names something else than what a command works on.
var errWrongKind = errors.New("name its run or agent instead")

// NoSuchID tells whether an error says that an id names nothing, several things, or something of another kind.
func NoSuchID(err error) bool {
	var unknown *checkpoints.UnknownError
	var ambiguous *checkpoints.AmbiguousError
	return errors.As(err, &unknown) || errors.As(err, &ambiguous) || errors.Is(err, errWrongKind)
}

// A Client leaves answers and stops for runs, whoever supervises them: in the inbox, and then by the bell. What it has
// left is kept, even where nobody supervises the run.
type Client struct {
	Dirs  checkpoints.Dirs
	Store *checkpoints.Store
}

// OpenClient opens the state of this user, and makes it if there is none.
func OpenClient() (Client, error) {
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		return Client{}, err
	}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		return Client{}, err
	}
	return Client{Dirs: dirs, Store: store}, nil
}

// Close lets the database go.
func (c Client) Close() error { return c.Store.Close() }

// Answer answers a question, or skips it where skip is set. The first answer stands: the error is then a
// *checkpoints.TakenError that says whose. With change a given answer is replaced, until its delivery begins.
func (c Client) Answer(ctx context.Context, question, value string, skip, change bool, by string) error {
	leave := c.Store.Answer
	if change {
		leave = c.Store.ChangeAnswer
	}
	n, err := leave(ctx, question, value, skip, by, time.Now().UTC())
	if err != nil {
		return err
	}
	return c.ring(ctx, n.Run)
}

// Stop asks for the end of an agent, or of the whole run where agent is empty; with only, not of what it started. It
// does not wait for it.
func (c Client) Stop(ctx context.Context, run, agent string, only bool, by string) error {
	_, err := c.Store.Leave(ctx, Note{Run: run, Kind: noteStop, Agent: agent, Only: only, By: by, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	return c.ring(ctx, run)
}

func (c Client) ring(ctx context.Context, run string) error {
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return fmt.Errorf("what was left for run %s is kept, but its bell is not known: %w", run, err)
	}
	checkpoints.Ring(r.Bell)
	return nil
}

// Supervised tells whether some process supervises the run now.
func (c Client) Supervised(run string) bool { return c.Dirs.Owned(run) }

// Run gives a run's record.
func (c Client) Run(ctx context.Context, id string) (Run, error) { return c.Store.Run(ctx, id) }

// Find gives the question that an id or its start names, as a person should see it: an answer that nobody has taken yet
// is shown.
func (c Client) Find(ctx context.Context, id string) (*Question, error) {
	kind, full, err := c.Store.Resolve(ctx, id)
	if err != nil {
		return nil, err
	}
	if kind != checkpoints.KindQuestion {
		return nil, &checkpoints.UnknownError{ID: id}
	}
	return question(ctx, c.Store, full)
}

// Questions gives the open questions of all runs, oldest first.
func (c Client) Questions(ctx context.Context) ([]*Question, error) {
	return openQuestions(ctx, c.Store)
}

// Target gives the run that an id names, and the agent if it names one; ended tells that there is nothing left to stop.
func (c Client) Target(ctx context.Context, id string) (run, agent string, ended bool, err error) {
	kind, full, err := c.Store.Resolve(ctx, id)
	if err != nil {
		return "", "", false, err
	}
	switch kind {
	case checkpoints.KindRun:
		run = full
	case checkpoints.KindAgent:
		agent = full
		if run, err = c.Store.RunOf(ctx, full); err != nil {
			return "", "", false, err
		}
	default:
		return "", "", false, fmt.Errorf("%s is a question: %w", full, errWrongKind)
	}
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return "", "", false, err
	}
	return run, agent, r.EndedAt != nil, nil
}

// A Resumption is what resume needs to know of a run beforehand.
type Resumption struct {
	Run, Cwd   string
	OnQuestion OnQuestion
}

// Resumable gives the run that an id names, if a supervisor can take it over; the error says why not otherwise.
func (c Client) Resumable(ctx context.Context, id string) (Resumption, error) {
	run, _, _, err := c.Target(ctx, id)
	if err != nil {
		return Resumption{}, err
	}
	l, err := c.Store.Load(ctx, run)
	if err != nil {
		return Resumption{}, err
	}
	s, err := loaded(l)
	if err != nil {
		return Resumption{}, err
	}
	root := s.Agents[s.Run.Root]
	switch {
	case c.Supervised(run):
		return Resumption{}, fmt.Errorf("%s cannot be resumed: %w (pid %d); it goes on by itself once its questions are answered",
			run, ErrOwned, s.Run.PID)
	case root.Status.Ended() && !Revivable(root):
		return Resumption{}, fmt.Errorf("%s has ended (%s: %s); there is nothing to resume. Start a new run for follow-up work",
			run, root.Status, root.Reason)
	}
	return Resumption{Run: run, Cwd: s.Run.Cwd, OnQuestion: s.Config.OnQuestion}, nil
}

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// Open is the state of a question that waits for its answer.
const Open = checkpoints.QuestionOpen

// AskCommand is the kind of question whether a command may run: it is answered on a terminal only.
const AskCommand = checkpoints.AskCommand

// AskDelegation is the kind of question whether an agent may have another one started.
const AskDelegation = checkpoints.AskDelegation

// ErrOwned means that another process supervises the run.
var ErrOwned = checkpoints.ErrOwned

// ErrEnded means that the end of a run is saved: there is nothing left to stop.
var ErrEnded = checkpoints.ErrEnded

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
	At    func(point string) // for tests: called at each of Points that a client passes; nil otherwise
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

// An Answer is what a person gives to a question.
type Answer struct {
	Text    string // the answer as it is kept, or why it is declined
	Skip    bool   // the agent goes on without one
	Decline bool   // the person will not answer
	Change  bool   // it takes the place of the answer given before
	Alike   bool   // it is that of every question of the run that is alike, those that are asked later, too
	By      string // who, for people
}

// Answer gives a question its answer. The first stands: the error is then a *checkpoints.TakenError that says whose. One that
// changes an answer does so until the delivery of that begins.
func (c Client) Answer(ctx context.Context, question string, a Answer) error {
	leave, kind := c.Store.Answer, noteAnswer
	if a.Change {
		leave, kind = c.Store.ChangeAnswer, noteChange
	}
	if err := c.checkDecision(ctx, question, a); err != nil {
		return err
	}
	at(c.At, beforeNote+kind)
	n, err := leave(ctx, Note{Question: question, Value: a.Text, Skip: a.Skip, Decline: a.Decline, Alike: a.Alike, By: a.By, At: time.Now().UTC()})
	var taken *checkpoints.TakenError
	if errors.As(err, &taken) {
		c.ringFor(ctx, question) // whoever was first may have died before ringing
	}
	if err != nil {
		return err
	}
	at(c.At, afterNote+kind)
	return c.ring(ctx, n.Run)
}

// Stop asks for the end of an agent, or of the whole run where agent is empty; with only, not of what it started. It
// does not wait for it. ErrEnded if the run was faster.
func (c Client) Stop(ctx context.Context, run, agent string, only bool, by string) error {
	at(c.At, beforeNote+noteStop)
	_, err := c.Store.Leave(ctx, Note{Run: run, Kind: noteStop, Agent: agent, Only: only, By: by, At: time.Now().UTC()})
	if err != nil {
		return err
	}
	at(c.At, afterNote+noteStop)
	return c.ring(ctx, run)
}

// ringFor rings for a question; that it cannot is no harm, for the inbox is looked at all the same.
func (c Client) ringFor(ctx context.Context, id string) {
	if q, err := question(ctx, c.Store, id); err == nil {
		_ = c.ring(ctx, q.Run)
	}
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
	if run, agent, err = runNamed(ctx, c.Store, id); err != nil {
		return "", "", false, err
	}
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return "", "", false, err
	}
	return run, agent, r.EndedAt != nil, nil
}

// runNamed gives the run that an id or its start names, or that the agent which it names belongs to; agent is "" where it
// names the run.
func runNamed(ctx context.Context, store *checkpoints.Store, id string) (run, agent string, err error) {
	kind, full, err := store.Resolve(ctx, id)
	switch {
	case err != nil:
		return "", "", err
	case kind == checkpoints.KindQuestion:
		return "", "", fmt.Errorf("%s is a question: %w", full, errWrongKind)
	case kind == checkpoints.KindAgent:
		run, err = store.RunOf(ctx, full)
		return run, full, err
	}
	return full, "", nil
}

// A Resumption is what resume needs to know of a run beforehand.
type Resumption struct {
	Run, Cwd   string
	OnQuestion OnQuestion
	Answered   bool // there are answers that nobody has delivered
	NoNotify   bool // nobody is called who does not look
	Revive     bool // it had ended when resume was typed: to go on all the same is what was asked for
}

// Resumables gives the runs that nobody supervises and that resume would get further, oldest first: not those that would
// be left at once again, for they wait for an answer and are not to be waited with. policy is what resume was given; "" leaves
// it to each run.
func (c Client) Resumables(ctx context.Context, policy OnQuestion) ([]Resumption, error) {
	runs, err := c.Store.Runs(ctx, false)
	if err != nil {
		return nil, err
	}
	var all []Resumption
	for _, r := range runs {
		if r.Packed != "" || c.Supervised(r.ID) {
			continue
		}
		plan, err := c.Resumable(ctx, r.ID, time.Now())
		if err != nil {
			return nil, err
		}
		if policy != "" {
			plan.OnQuestion = policy
		}
		if r.Status == checkpoints.Parked && plan.OnQuestion == Park && !plan.Answered {
			continue
		}
		all = append(all, plan)
	}
	return all, nil
}

// Resumable gives the run that an id names, if a supervisor can take it over; the error says why not otherwise.
// typed is when resume was: what ends later, under another supervisor, is not revived unasked.
func (c Client) Resumable(ctx context.Context, id string, typed time.Time) (Resumption, error) {
	s, err := c.takeable(ctx, id)
	if err != nil {
		return Resumption{}, err
	}
	root := s.Agents[s.Run.Root]
	if s.Run.EndedAt != nil && !Revivable(root) { // its root may have, and a supervisor has died before it has ended the others
		return Resumption{}, fmt.Errorf("%s has ended (%s: %s); there is nothing to resume. Start a new run for follow-up work",
			s.Run.ID, root.Status, root.Reason)
	}
	plan, err := c.resumption(ctx, s)
	plan.Revive = root.EndedAt != nil && root.EndedAt.Before(typed)
	return plan, err
}

// takeable gives the run that an id names, if a supervisor can take it over.
func (c Client) takeable(ctx context.Context, id string) (State, error) {
	run, _, _, err := c.Target(ctx, id)
	if err != nil {
		return State{}, err
	}
	l, err := c.Store.Load(ctx, run)
	if err != nil {
		return State{}, err
	}
	s, err := loaded(l)
	switch {
	case err != nil:
		return State{}, err
	case s.Run.Packed != "":
		return State{}, &checkpoints.PackedError{Run: run, File: s.Run.Packed}
	case c.Supervised(run) && procs.Exists(s.Run.PID): // else whatever holds its lock for a moment more is on its way out
		return State{}, fmt.Errorf("%s cannot be resumed: %w (pid %d); it goes on by itself once its questions are answered",
			run, ErrOwned, s.Run.PID)
	}
	return s, nil
}

func (c Client) resumption(ctx context.Context, s State) (Resumption, error) {
	qs, err := c.Store.Questions(ctx, checkpoints.QuestionFilter{Run: s.Run.ID, Undelivered: true})
	if err != nil {
		return Resumption{}, err
	}
	return Resumption{
		Run: s.Run.ID, Cwd: s.Run.Cwd, OnQuestion: s.Config.OnQuestion, NoNotify: s.Config.NoNotify,
		Answered: slices.ContainsFunc(qs, func(q Question) bool { return q.State == checkpoints.QuestionAnswered || droppedFor(&q) }),
	}, nil
}

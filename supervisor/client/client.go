package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// A Client leaves answers and stops for runs, whoever supervises them: in the inbox, and then by the wake-up socket.
// What it has left is kept, even where nobody supervises the run.
type Client struct {
	Dirs  checkpoints.Dirs
	Store *checkpoints.Store
	At    func(point string) // for tests: called at each of Points that a client passes; nil otherwise
	// Fresh sets up a run with a prompt and a folder as its person would begin it by these alone, and says how a call that
	// is made in the folder at is shown. nil: no run is begun here.
	Fresh func(prompt, cwd, at string) (t task.Task, look func(tool string, input json.RawMessage) ask.CallView, err error)
}

// Reader reads what the client writes, from the same database.
func (c Client) Reader() view.Reader { return view.Reader{Dirs: c.Dirs, Store: c.Store} }

// DefaultDirs is where the state of this user is.
func DefaultDirs() (checkpoints.Dirs, error) { return checkpoints.DefaultDirs() }

// OpenClient opens the state of this user, and makes it if there is none.
func OpenClient() (Client, error) { return openClient(checkpoints.Open) }

// OpenExistingClient is OpenClient for who knows that there is a state: where it is gone, that is an error that
// view.Gone knows, and none is made.
func OpenExistingClient() (Client, error) { return openClient(checkpoints.OpenExisting) }

// OpenClientIn is OpenExistingClient for a state that lies elsewhere: in a folder that was a process's $XDG_STATE_HOME.
// The wake-up sockets are where this process's own are.
func OpenClientIn(stateHome string) (Client, error) {
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		return Client{}, err
	}
	dirs.State = filepath.Join(stateHome, filepath.Base(dirs.State))
	return clientOf(dirs, checkpoints.OpenExisting)
}

func openClient(open func(checkpoints.Dirs) (*checkpoints.Store, error)) (Client, error) {
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		return Client{}, err
	}
	return clientOf(dirs, open)
}

func clientOf(dirs checkpoints.Dirs, open func(checkpoints.Dirs) (*checkpoints.Store, error)) (Client, error) {
	store, err := open(dirs)
	if err != nil {
		return Client{}, err
	}
	return Client{Dirs: dirs, Store: store}, nil
}

// OpenCallersClient is OpenClient for a process inside an agent: the state is that of the agent's run, as the marker
// says it, whatever the environment calls this user's.
func OpenCallersClient(env []string) (Client, error) {
	for _, env := range [][]string{{}, env} { // the processes above it go before its own environment
		state := procs.StateOf(env)
		if !filepath.IsAbs(state) {
			continue
		}
		if _, err := os.Stat(filepath.Join(state, filepath.Base(checkpoints.Dirs{}.Database()))); err != nil {
			return Client{},
				fmt.Errorf("the run of the agent that this is started in is kept in %s, which cannot be used here (%w); "+
					"nothing was started: run it on a terminal of your own", state, err)
		}
		dirs, err := checkpoints.DefaultDirs()
		if err != nil {
			dirs = checkpoints.Dirs{Runtime: os.TempDir()}
		}
		dirs.State = state
		store, err := checkpoints.Open(dirs)
		return Client{Dirs: dirs, Store: store}, err
	}
	return OpenClient()
}

// Close lets the database go.
func (c Client) Close() error { return c.Store.Close() }

// An Answer is what a person gives to a question.
type Answer struct {
	Text    string // the answer as it is kept, or why it is declined
	Skip    bool   // the agent goes on without one
	Decline bool   // the person will not answer
	Change  bool   // it takes the place of the answer given before
	AllLike bool   // it is that of every question of the run that is alike, those that are asked later, too
	By      string // who, for people
	Images  []Picture
}

// Answer gives a question its answer. The first stands: the error is then a *checkpoints.TakenError that says whose.
// One that changes an answer does so until the delivery of that begins.
func (c Client) Answer(ctx context.Context, question string, a Answer) error {
	leave, kind := c.Store.Answer, supervisor.EntryAnswer
	if a.Change {
		leave, kind = c.Store.ChangeAnswer, supervisor.EntryChange
	}
	var kept []checkpoints.Image
	q, err := view.Question(ctx, c.Store, question)
	if err == nil { // else who leaves the answer tells what is wrong
		if err := c.checkDecision(ctx, q, a); err != nil {
			return err
		}
		if kept, err = c.keepImages(ctx, q, a); err != nil {
			return err
		}
		defer c.ringAhead(ctx, q.Run)()
	}
	supervisor.At(c.At, supervisor.BeforeNote+kind)
	n, err := leave(ctx, supervisor.InboxEntry{Question: question, Value: a.Text, Skip: a.Skip, Decline: a.Decline,
		AllLike: a.AllLike, Images: kept, By: a.By, At: time.Now().UTC()})
	if _, is := errors.AsType[*checkpoints.TakenError](err); is {
		c.ringFor(ctx, question) // whoever was first may have died before ringing
	}
	if err != nil {
		return err
	}
	supervisor.At(c.At, supervisor.AfterNote+kind)
	return c.Ring(ctx, n.Run)
}

// Stop asks for the end of an agent, or of the whole run where agent is empty; with only, not of what it started. It
// does not wait for it. ErrEnded if the run was faster.
func (c Client) Stop(ctx context.Context, run, agent string, only bool, by string) error {
	_, err := c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntryStop, Agent: agent, Only: only, By: by,
		At: time.Now().UTC()})
	return err
}

// Leave leaves an entry in the inbox of its run, and wakes the run's supervisor up, even if this process dies in
// between. ErrEnded if the run or its agent has ended; on any other error after it was saved the entry is given, too.
func (c Client) Leave(ctx context.Context, n supervisor.InboxEntry) (supervisor.InboxEntry, error) {
	defer c.ringAhead(ctx, n.Run)()
	supervisor.At(c.At, supervisor.BeforeNote+n.Kind)
	left, err := c.Store.Leave(ctx, n)
	if err != nil {
		return left, err
	}
	supervisor.At(c.At, supervisor.AfterNote+n.Kind)
	return left, c.Ring(ctx, n.Run)
}

// ringFor rings for a question; that it cannot is no harm, for the inbox is looked at all the same.
func (c Client) ringFor(ctx context.Context, id string) {
	if q, err := view.Question(ctx, c.Store, id); err == nil {
		_ = c.Ring(ctx, q.Run)
	}
}

// ringAhead has the supervisor of a run woken up even if this process dies once it has left something. What it returns
// is to be called once it has rung for that, or left nothing.
func (c Client) ringAhead(ctx context.Context, run string) (rung func()) {
	r, err := c.Store.Run(ctx, run)
	if err != nil || r.Waker == "" {
		return func() {}
	}
	return checkpoints.RingAhead(r.Waker)
}

// Ring wakes the supervisor of a run up: something was left for it.
func (c Client) Ring(ctx context.Context, run string) error {
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return fmt.Errorf("what was left for run %s is kept, but its wake-up socket is not known: %w", run, err)
	}
	checkpoints.Ring(r.Waker)
	return nil
}

// Supervised reports whether a supervisor goes on with the run, and so takes what was left for it before. One that has
// said that it leaves takes nothing more, though it has its lock for a moment yet.
func (c Client) Supervised(ctx context.Context, run string) bool {
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return c.Dirs.Owned(run)
	}
	return c.goesOn(r)
}

// goesOn reports whether a supervisor of the run goes on with it. Whoever takes the run over from one that leaves waits
// for its lock.
func (c Client) goesOn(r supervisor.Run) bool { return r.Left == "" && c.Dirs.Owned(r.ID) }

// Target returns the run that an id names, and the agent if it names one; ended tells that there is nothing left to
// stop.
func (c Client) Target(ctx context.Context, id string) (run, agent string, ended bool, err error) {
	if run, agent, err = view.RunNamed(ctx, c.Store, id); err != nil {
		return "", "", false, err
	}
	r, err := c.Store.Run(ctx, run)
	if err != nil {
		return "", "", false, err
	}
	return run, agent, r.EndedAt != nil, nil
}

// Say leaves a message for an agent, or for the root of the run that id names. It is kept until the agent has read it;
// it does not wait for that. The error is ErrEnded if the run or that agent has ended, and NoSuchID reports whether id
// names none.
func (c Client) Say(ctx context.Context, id, text, by string) error {
	run, agent, err := view.RunNamed(ctx, c.Store, id)
	if err != nil {
		return err
	}
	if agent == "" {
		r, err := c.Store.Run(ctx, run)
		if err != nil {
			return err
		}
		agent = r.Root
	}
	_, err = c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntryMessage, Agent: agent, Value: text, By: by,
		At: time.Now().UTC()})
	return err
}

// Revoke takes a rule of a run back. What it permits is asked about again from the moment on in which the run's
// supervisor sees that, or one takes the run over; a rule of --allow, which claude itself keeps, holds until the
// agent's process ends. ErrEnded if the run has ended, an error that lists the rules if it is none of them.
func (c Client) Revoke(ctx context.Context, run, rule, by string) error {
	v, err := c.Reader().Permissions(ctx, run)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(v.Rules, func(r view.PermissionView) bool { return r.Rule == rule }) {
		return fmt.Errorf("%s is not a rule of %s; claude-supervise permissions %s lists them", rule, run, run)
	}
	_, err = c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntryRevoke, Value: rule, By: by,
		At: time.Now().UTC()})
	return err
}

// A TakenError says that somebody else's answer came first.
type TakenError = checkpoints.TakenError

// A PackedError says that the run goes on elsewhere: nothing was saved here.
type PackedError = checkpoints.PackedError

// TooLate reports whether an answer was refused because nobody waits for it any more, or it is on its way already.
func TooLate(err error) bool {
	return errors.Is(err, checkpoints.ErrWithdrawn) || errors.Is(err, checkpoints.ErrDelivering) ||
		errors.Is(err, checkpoints.ErrUnanswered)
}

// Unsaved reports whether something could not be saved because of the database, such as on a full disk. Nothing was
// refused.
func Unsaved(err error) bool { return checkpoints.Unsaved(err) }

// ReplaceFile writes a person's file whole: whatever happens, it is afterwards the old one or the new one. Its folder
// must exist. It does not follow a symlink at path; it replaces it.
func ReplaceFile(path string, content []byte, mode fs.FileMode) error {
	return files.ReplaceFile(path, content, mode)
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/view"
)

// A held run is one that this worker has: an attempt, its folder, and what it has said of the run.
type held struct {
	*Worker
	flow.Attempt
	dir    string
	commit string
	notes  []string
	gone   chan struct{} // closed when nothing of it is left here
	asked  chan struct{} // full when it is to be given back
	news   chan struct{} // full when the workflow may have something to be told

	// The usage limit of the run that another worker's account has met; nil: none. Of the attempt's own goroutine.
	inherited *time.Time
	knows     bool // inherited is what the run began with here

	mu     sync.Mutex
	client *client.Client // of the run's own state; nil before there is one
	safe   pack.Moment    // that of the newest snapshot that is in the blob store
	kept   string         // which one that is (snapshotName)
	last   flow.Seen
	super  *process      // of the run; nil before there is one
	until  time.Duration // the lease holds, by the clock of leases; 0: there was none yet

	told   int       // how often the workflow was told of the run
	toldAt time.Time // last, or when the attempt began

	given []string // questions whose answers came by the workflow in this epoch

	uploaded map[string]bool // snapshots of this epoch that are in the blob store; of the uploads alone
}

// keptWork is where the work of a run lies that is in no snapshot, once this worker has left the run.
func (h *held) keptWork() string { return filepath.Join(h.Dir, "kept", filepath.Base(h.dir)) }

func (h *held) work() string      { return filepath.Join(h.dir, "work") }
func (h *held) stateHome() string { return filepath.Join(h.dir, "state") }
func (h *held) snapshots() string { return filepath.Join(h.dir, "snapshots") }
func (h *held) snapshotsOf() string {
	return filepath.Join(h.snapshots(), h.Task.Run)
}

// env is the environment of the run's claude-supervise.
func (h *held) env(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "XDG_STATE_HOME=")
	})
	return append(append(env, "XDG_STATE_HOME="+h.stateHome()), more...)
}

// opened returns a client of the run's state; nil if there is none yet.
func (h *held) opened() (*client.Client, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		return h.client, nil
	}
	c, err := client.OpenClientIn(h.stateHome())
	if view.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.client = &c
	return h.client, nil
}

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client != nil {
		_ = h.client.Close() // what was left is on disk
		h.client = nil
	}
}

// removes removes all that this machine has of the run: its folder, and before that the conversations, which only the
// folder tells of. What was answered here is kept.
func (h *held) removes() error {
	if err := h.keepsAnswers(context.Background()); err != nil {
		h.close()
		return fmt.Errorf("what was answered here cannot be kept elsewhere: %w", err)
	}
	var err error
	c, unread := h.opened()
	if unread == nil && c != nil {
		err = c.DropConversations(context.Background(), h.Task.Run)
	}
	if view.NoSuchID(err) { // it had not begun
		err = nil
	}
	h.close()
	return errors.Join(err, os.RemoveAll(h.dir))
}

// look reads what has become of the run. Questions are those that a snapshot in the blob store has: from there on
// nothing can happen that has them asked again.
func (h *held) look(ctx context.Context) (flow.Seen, error) {
	seen := flow.Seen{Epoch: h.Epoch, Worker: h.Name, Queue: h.Queue(), Commit: h.commit}
	h.mu.Lock()
	seen.Notes, h.notes = h.notes, nil
	safe := h.safe
	seen.Kept = h.kept
	h.mu.Unlock()
	c, err := h.opened()
	if err != nil || c == nil {
		return seen, err
	}
	run, err := c.Reader().Run(ctx, h.Task.Run)
	if view.NoSuchID(err) {
		return seen, nil
	}
	if err != nil {
		return seen, err
	}
	told := flow.InfoOfRun(run)
	seen.Run = &told
	if err := h.tellsLimit(ctx, c); err != nil {
		return seen, err
	}
	all, err := c.Reader().Questions(ctx)
	if err != nil {
		return seen, err
	}
	for _, q := range all {
		if q.Run == h.Task.Run && slices.Contains(safe.Questions, q.ID) {
			q.AnswerCommand = "claude-supervise fleet answer " + q.ID + " VALUE"
			seen.Questions = append(seen.Questions, flow.InfoOfQuestion(q))
		}
	}
	return seen.Bounded(), nil
}

// errNotBegun says that the state of a run is not here yet: it is just being taken out of a snapshot.
var errNotBegun = errors.New("the run has not begun here")

// give gives an open question its answer. One that the question has already is given. It is an error of package client,
// or one that says that there is no such question in the run.
func (h *held) give(ctx context.Context, a flow.Answer) error {
	c, err := h.opened()
	if err != nil {
		return err
	}
	if c == nil {
		return errNotBegun
	}
	err = c.Answer(ctx, a.Question, client.Answer{Text: a.Text, Skip: a.Skip, Decline: a.Decline, AllLike: a.AllLike,
		By: a.By})
	var taken *client.TakenError
	if errors.As(err, &taken) && taken.By == a.By && taken.Answer == a.Text {
		err = nil
	}
	if err == nil {
		h.mu.Lock()
		h.given = append(h.given, a.Question)
		h.mu.Unlock()
	}
	return err
}

// isSafe notes that a snapshot is in the blob store. It is told of each in the order in which they were taken: clocks
// say nothing of that, for another machine has another, and one may be set.
func (h *held) isSafe(epoch int, file string) error {
	of, err := pack.MomentOf(file)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.safe, h.kept = of, snapshotName(epoch, filepath.Base(file))
	return nil
}

func (h *held) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

// supervisorOf returns the supervisor of the run; nil before there is one. An error says that the worker has left the
// run, or that ctx has ended.
func (h *held) supervisorOf(ctx context.Context) (*process, error) {
	select {
	case <-h.gone:
		return nil, errLost
	case <-ctx.Done():
		return nil, ctx.Err()
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.super, nil
}

// hasNews has the workflow told what has changed.
func (h *held) hasNews() {
	select {
	case h.news <- struct{}{}:
	default: // it will be
	}
}

// inherits notes the usage limit that the run has met elsewhere: it says nothing of this machine's account.
func (h *held) inherits(ctx context.Context) error {
	if h.knows {
		return nil
	}
	h.knows = true
	c, err := h.opened()
	if err != nil || c == nil {
		return err
	}
	r, err := c.Store.Run(ctx, h.Task.Run)
	if view.NoSuchID(err) {
		return nil
	}
	h.inherited = r.Limited
	return err
}

// tellsLimit tells the worker of the usage limit that the run has met here, or that it goes on after one.
func (h *held) tellsLimit(ctx context.Context, c *client.Client) error {
	if !h.knows { // its supervisor was not started here
		return nil
	}
	r, err := c.Store.Run(ctx, h.Task.Run)
	if err != nil || r.Limited != nil && h.inherited != nil && r.Limited.Equal(*h.inherited) {
		return err
	}
	h.room.limited(h.Task.Run, r.Limited, r.LimitedBy)
	return nil
}

package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/host"
)

// A Worker supervises runs on this machine.
type Worker struct {
	Name     string // for people: the machine's
	Dir      string // absolute
	Program  string // the path of claude-supervise
	Client   sdk.Client
	Fleet    fleet.Fleet // that Client reaches
	Deciding flow.Deciding
	Store    Store
	Repos    *Repos
	Labels   []string
	Capacity int             // how many runs at a time
	Leave    time.Duration   // how long turns may take to end when it leaves (leaving.go)
	Hurry    <-chan struct{} // closed when turns that are under way are not to be waited for; nil: never
	Log      *slog.Logger
	Memory   memory // of this machine; nil: as the kernel says it

	instance string // of this process
	room     *room
	mu       sync.Mutex
	held     map[string]*held // by run
	readers  map[string]*logReader
}

// MaxLabels is how many labels a worker can have: it reads a queue for each set of them.
const MaxLabels = 5

// decidedHere is how many workflows a worker keeps in memory of those that it has decided about: 60 KiB each, parked
// ones included. One that it does not keep is read again when something comes for it.
const decidedHere = 256

// Queue is the task queue that only this process reads.
func (w *Worker) Queue() string { return flow.BaseQueue + "@" + w.Name + "." + w.instance }

// Run has runs until ctx ends, and leaves in order then: each run is given back when the turns of its agents have
// ended, or at its last snapshot. ready is called when it takes runs.
func (w *Worker) Run(ctx context.Context, ready func()) error {
	if len(w.Labels) > MaxLabels {
		return fmt.Errorf("a worker can have %d labels, not %d", MaxLabels, len(w.Labels))
	}
	if err := w.apartFromGit(); err != nil {
		return fmt.Errorf("%w. Give the worker a folder elsewhere with --dir, or remove that .git; nothing was started", err)
	}
	w.instance, w.held, w.readers = rand.Text()[:8], map[string]*held{}, map[string]*logReader{}
	if err := os.MkdirAll(filepath.Join(w.Dir, "runs"), 0o700); err != nil {
		return fmt.Errorf("the worker's folder cannot be made: %w", err)
	}
	lock := flock.New(filepath.Join(w.Dir, "lock"), flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return errors.Join(err, fmt.Errorf("another worker uses %s; give this one a folder of its own with --dir", w.Dir))
	}
	defer func() { _ = lock.Close() }() // the kernel would do it
	if err := w.clear(ctx); err != nil {
		return err
	}
	if w.Repos == nil {
		w.Repos = &Repos{Dir: filepath.Join(w.Dir, "repos")}
	}
	sdkworker.SetStickyWorkflowCacheSize(decidedHere)
	refused := make(chan error, 1) // of one queue is enough
	own := sdkworker.New(w.Client, w.Queue(), sdkworker.Options{
		DeadlockDetectionTimeout: flow.DecidesWithin, OnFatalError: notes(refused),
	})
	own.RegisterWorkflowWithOptions(w.readsLog, workflow.RegisterOptions{Name: runlog.Workflow})
	own.RegisterActivityWithOptions(w.deliver, activity.RegisterOptions{Name: flow.Deliver})
	own.RegisterActivityWithOptions(w.halt, activity.RegisterOptions{Name: flow.Halt})
	own.RegisterActivityWithOptions(w.giveBack, activity.RegisterOptions{Name: flow.GiveBack})
	if err := own.Start(); err != nil {
		return fmt.Errorf("the worker cannot start: %w", err)
	}
	defer own.Stop()
	if w.Memory == nil {
		w.Memory = host.Machine{}
	}
	w.room = newRoom(w.Capacity, w.Memory, func() bool { return isFull(w.Dir) }, w.saysOfRoom)
	watching, unwatch := context.WithCancel(ctx)
	var watches sync.WaitGroup
	defer watches.Wait()
	defer unwatch()
	watches.Go(func() { w.room.watch(watching) })
	workers, err := w.takers(refused)
	if err != nil {
		return err
	}
	for i, taker := range workers {
		if err := taker.Start(); err != nil {
			stopAll(workers[:i])
			return fmt.Errorf("the worker cannot start: %w", err)
		}
	}
	watches.Go(func() { w.handsInAnswers(watching) })
	ready()
	select {
	case <-ctx.Done():
	case err = <-refused:
		err = fmt.Errorf("the server has refused this worker for minutes (%w); its runs continue elsewhere from their "+
			"last snapshots. See to the server and its namespace, then start the worker again", err)
	}
	stopAll(workers)
	return err
}

// apartFromGit says that the folder of this worker is in somebody's git work tree: git would take the folders of its
// runs for parts of that, and claude-supervise refuses to put snapshots there.
func (w *Worker) apartFromGit() error {
	if top := git.TopAbove(w.Dir); top != "" {
		return fmt.Errorf("the folder of worker %s, %s, is in a git work tree: %s", w.Name, w.Dir, filepath.Join(top, ".git"))
	}
	return nil
}

// notes returns what the reader of a queue calls when it ends because the server refuses it. A worker that went on
// would only look as if it took runs.
func notes(refused chan<- error) func(error) {
	return func(err error) {
		select {
		case refused <- err:
		default:
		}
	}
}

func stopAll(workers []sdkworker.Worker) {
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(w.Stop)
	}
	all.Wait()
}

// takers returns what takes runs from the queues of all sets of the worker's labels, the empty one included, where
// workflows are, too. Together they take as many as the capacity. refused hears of one that the server refuses.
func (w *Worker) takers(refused chan<- error) ([]sdkworker.Worker, error) {
	labels := slices.Compact(slices.Sorted(slices.Values(w.Labels)))
	var workers []sdkworker.Worker
	for set := range 1 << len(labels) {
		var of []string
		for i, label := range labels {
			if set&(1<<i) != 0 {
				of = append(of, label)
			}
		}
		tuner, err := tunerFor(&queueRoom{room: w.room})
		if err != nil {
			return nil, err
		}
		taker := sdkworker.New(w.Client, flow.Queue(of), sdkworker.Options{
			Tuner: tuner, WorkerStopTimeout: w.Leave + handsBackWithin, DisableWorkflowWorker: set != 0,
			DisableEagerActivities:   true, // a run may be for other labels than the workflow's worker has
			DeadlockDetectionTimeout: flow.DecidesWithin, OnFatalError: notes(refused),
		})
		if set == 0 {
			fleet.Decide(taker, w.Deciding)
		}
		taker.RegisterActivityWithOptions(w.supervise, activity.RegisterOptions{Name: flow.Supervise})
		workers = append(workers, taker)
	}
	return workers, nil
}

// tunerFor has activities take places of the room that all queues share.
func tunerFor(activities sdkworker.SlotSupplier) (sdkworker.WorkerTuner, error) {
	var made []sdkworker.SlotSupplier
	for range 4 {
		s, err := sdkworker.NewFixedSizeSlotSupplier(100)
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	return sdkworker.NewCompositeTuner(sdkworker.CompositeTunerOptions{
		WorkflowSlotSupplier: made[0], ActivitySlotSupplier: activities, LocalActivitySlotSupplier: made[1],
		NexusSlotSupplier: made[2], SessionActivitySlotSupplier: made[3],
	})
}

// clear ends and removes what a worker that died has left behind in this folder.
func (w *Worker) clear(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(w.Dir, "runs"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		run, epoch, ok := strings.Cut(e.Name(), ".")
		n, err := strconv.Atoi(epoch)
		if !ok || err != nil || !flow.IsRun(run) {
			continue
		}
		h := &held{Worker: w, Attempt: flow.Attempt{Task: flow.Task{Run: run}, Epoch: n},
			dir: filepath.Join(w.Dir, "runs", e.Name())}
		if c, err := h.opened(); err == nil && c != nil {
			h.sweep(ctx)
			h.finds(ctx)
		}
		if err := h.removes(); err != nil {
			return fmt.Errorf("what an earlier worker has left cannot be removed: %w", err)
		}
	}
	return nil
}

// add notes that this worker has a run, and gives an earlier epoch of it that it has still; nil if there is none.
func (w *Worker) add(h *held) (before *held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before = w.held[h.Task.Run]
	w.held[h.Task.Run] = h
	return before
}

// Has returns how many runs it has in this moment.
func (w *Worker) Has() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held)
}

func (w *Worker) remove(h *held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[h.Task.Run] == h {
		delete(w.held, h.Task.Run)
	}
	close(h.gone)
}

// has returns a run in its present epoch, if this worker has it.
func (w *Worker) has(run string, epoch int) (*held, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.held[run]; h != nil && h.Epoch == epoch {
		return h, nil
	}
	return nil, fmt.Errorf("worker %s does not have %s in epoch %d", w.Name, run, epoch)
}

func refusal(kind string, err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), kind, nil)
}

// deliver is the activity that gives a held question its answer. What it has done it does not do again.
func (w *Worker) deliver(ctx context.Context, d flow.Delivery) error {
	h, err := w.has(d.Run, d.Epoch)
	if err != nil {
		return err
	}
	err = h.give(ctx, d.Answer)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return notGiven(err)
}

// notGiven says why a run has not taken an answer. Where the run is being ended here because it continues elsewhere, or
// because this disk is full, the answer is not refused: whoever has the run next is given it.
func notGiven(err error) error {
	var taken *client.TakenError
	var packed *client.PackedError
	switch {
	case errors.As(err, &packed):
		return errLost
	case client.Unsaved(err), errors.Is(err, errNotBegun):
		return err
	case errors.As(err, &taken):
		return refusal(flow.ErrTaken, err)
	}
	return refusal(flow.ErrRefused, err)
}

// halt is the activity that stops a run.
func (w *Worker) halt(ctx context.Context, s flow.Stopping) error {
	h, err := w.has(s.Run, s.Epoch)
	if err != nil {
		return err
	}
	c, err := h.opened()
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("the run has not begun")
	}
	return c.Stop(ctx, s.Run, "", false, s.By)
}

// giveBack is the activity that has this worker give a run back, as it gives all back when it leaves.
func (w *Worker) giveBack(_ context.Context, g flow.GivingBack) error {
	h, err := w.has(g.Run, g.Epoch)
	if err != nil {
		return err
	}
	select {
	case h.asked <- struct{}{}:
	default: // it was asked before
	}
	return nil
}

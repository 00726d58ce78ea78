package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/text"
)

type workerFlags struct {
	connection
	name, dir string
	labels    []string
	capacity  int
	leave     time.Duration
}

func (f *workerFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.name, "name", "", "the `NAME` of this worker (default: the machine's)")
	fl.StringVar(&f.dir, "dir", "", "keep runs and repositories in `DIR`")
	fl.StringArrayVar(&f.labels, "label", nil, "also take runs that need this `LABEL`")
	fl.IntVar(&f.capacity, "capacity", runtime.NumCPU(), "at most `N` runs at a time (default: one a CPU)")
	fl.Lookup("capacity").DefValue = "0" // help and man page are the same on each machine
	fl.DurationVar(&f.leave, "leave-within", 5*time.Minute, "wait up to `TIME` for turns to end")
}

var labelForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

func checkLabels(labels []string) error {
	for _, l := range labels {
		if !labelForm.MatchString(l) {
			return exitcode.Usage("--label takes up to 32 of a-z, 0-9, dots, - and _, not %q", l)
		}
	}
	return nil
}

func (f *workerFlags) check() error {
	switch {
	case f.capacity < 1:
		return exitcode.Usage("--capacity takes 1 or more, not %d", f.capacity)
	case len(f.labels) > worker.MaxLabels:
		return exitcode.Usage("a worker can have %d labels, not %d", worker.MaxLabels, len(f.labels))
	case f.leave <= 0:
		return exitcode.Usage("--leave-within takes a time such as 30s, not %s", f.leave)
	}
	return checkLabels(f.labels)
}

func newWorker() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "take runs of the fleet and supervise them on this machine",
		Long: `Take runs of the fleet and supervise them on this machine, up to --capacity at a
time. A run that needs labels is taken by a worker that has them all. While
memory is short or the API refuses requests it takes fewer, and none while a
usage limit of its account lasts; it says so, and ps says it of its runs.

claude, its login, git and git's credentials are this machine's own: the fleet
passes none of them on. What each run needs lies below --dir until the run ends,
parks or is lost.

SIGTERM and Ctrl-C hand the runs back, once the turns that their agents are in
have ended, and within half a minute from then. A turn that does not end within
--leave-within is ended and done again elsewhere; so are all turns on a second
SIGTERM or Ctrl-C.`,
		Example: "  claude-supervise fleet worker --address temporal:7233 --key fleet.key \\\n" +
			"      --store s3://snapshots --capacity 4 --label gpu",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(f.check(), notInside()); err != nil {
				return err
			}
			f.log = sdkLog(workerLog())
			return f.with(cmd.Context(), func(c connected) error {
				return f.work(cmd.Context(), c, func(w *worker.Worker) {
					say("worker %s takes up to %d runs; its folder is %s", w.Name, w.Capacity, w.Dir)
				})
			})
		},
	}
	f.connection.flags(cmd.Flags())
	f.add(cmd)
	return cmd
}

// work has runs until ctx ends.
func (f *workerFlags) work(ctx context.Context, c connected, ready func(*worker.Worker)) error {
	knows, missing, err := c.Check(ctx)
	if err != nil {
		return err
	}
	if missing != "" {
		say("%s", missing)
	}
	store, err := c.snapshots(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Bucket.Close() }() // what is not written by then never will be
	if err := store.Check(ctx); err != nil {
		return err
	}
	c.Hosts = nil // it decides all the time
	w := &worker.Worker{Name: f.name, Dir: f.dir, Client: c.Client, Fleet: c.Fleet, Deciding: knows, Store: store,
		Labels: f.labels, Capacity: f.capacity, Leave: f.leave, Log: workerLog()}
	if w.Name == "" {
		if w.Name, err = os.Hostname(); err != nil {
			return fmt.Errorf("the machine has no name: %w; give the worker one with --name", err)
		}
	}
	if w.Dir == "" {
		state, err := stateDir()
		if err != nil {
			return err
		}
		w.Dir = filepath.Join(state, "worker")
	}
	if w.Dir, err = filepath.Abs(w.Dir); err != nil {
		return err
	}
	if w.Program, err = mainProgram(ctx); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return fmt.Errorf("git is needed: %w; install it, then start the worker again", err)
	}
	if _, err := doctor.FindClaude("", os.Environ()); err != nil {
		say("This worker can play demos only: it finds no claude on PATH, nor one by $CLAUDE_SUPERVISE_CLAUDE.\n" +
			"Install claude and log in, then start the worker again.")
	}
	hurry, done := make(chan struct{}), make(chan struct{})
	w.Hurry = hurry
	var leaving sync.WaitGroup
	defer leaving.Wait()
	defer close(done)
	leaving.Go(func() { leaves(ctx, w, hurry, done) })
	return w.Run(ctx, func() { ready(w) })
}

// sameWish is within which a second signal is the first one over again: who starts programs, as timeout and npm do,
// passes on what the terminal or the service manager has sent to all.
const sameWish = time.Second

// leaves tells a person that the worker leaves, once ctx has ended, and closes hurry when they cannot wait; it returns
// then, or with done.
func leaves(ctx context.Context, w *worker.Worker, hurry chan<- struct{}, done <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-done:
		return
	}
	if n := w.Has(); n > 0 {
		say("%s handed back once the present turn of each agent has ended, in %s at most.\nAgain Ctrl-C: at once, and these "+
			"turns are done again elsewhere.", text.Plural(n, "run is", "runs are"), w.Leave)
	}
	again := make(chan os.Signal, 1)
	since := time.Now()
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(again)
	for {
		select {
		case <-again:
			if time.Since(since) > sameWish {
				close(hurry)
				return
			}
		case <-done:
			return
		}
	}
}

// answersWithin is how long claude-supervise may take to say what it can do.
const answersWithin = 30 * time.Second

// mainProgram finds claude-supervise, and refuses one that cannot do what a worker needs.
func mainProgram(ctx context.Context) (string, error) {
	const name = "claude-supervise"
	path, folder, err := programs.Find(name)
	switch {
	case err != nil:
		return "", err
	case path == "":
		return "", fmt.Errorf("%s is not installed, and a worker drives it. It lies neither in %s nor in an absolute folder "+
			"of $PATH; nothing was started", name, folder)
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var said bytes.Buffer
	// With this flag, a run that moves keeps what was granted.
	unpack := exec.CommandContext(ctx, path, "unpack", "--vouched", "--help")
	unpack.Stderr = &said
	if err := unpack.Run(); err != nil {
		return "", fmt.Errorf("%s is of another release than this worker, and cannot continue its runs (%w: %s). Install "+
			"both of one release; nothing was started", path, err, oneLine(said.Bytes()))
	}
	return path, nil
}

// say tells a person something, on stderr.
func say(format string, args ...any) {
	// nowhere else to say it
	_ = terminal.Print(func(p *terminal.Printer) error { p.Notice(fmt.Sprintf(format, args...)); return nil })
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/commandline"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/text"
)

// findsProgram looks whether this machine has the program that the run needs to go on: claude, or that of --exec.
// Another worker may have it: to begin the run without would end it. A demo needs none. Whether a program of the run's
// own repository is there is the same on all workers: its supervisor says so.
func (h *held) findsProgram() error {
	if h.Task.Exec != "" {
		words, err := commandline.Split(h.Task.Exec, os.Getenv)
		if err == nil && (filepath.IsAbs(words[0]) || filepath.Base(words[0]) == words[0]) {
			_, err = exec.LookPath(words[0])
		}
		if err != nil {
			return fmt.Errorf("worker %s cannot run --exec: %w. Install the program there, or start a worker elsewhere that "+
				"has it; or give the run up: claude-supervise fleet stop %s", h.Name, err, h.Task.Run)
		}
		return nil
	}
	demo := slices.ContainsFunc(h.Task.Flags, func(f string) bool { return strings.HasPrefix(f, "--demo=") })
	if demo {
		return nil
	}
	if _, err := doctor.FindClaude("", os.Environ()); err != nil {
		return fmt.Errorf("worker %s has no claude: %w. Install claude there and log in, or start a worker elsewhere", h.Name,
			err)
	}
	return nil
}

// runArgs returns the arguments that begin the run, and its stdin.
func (h *held) runArgs() (args []string, stdin string, err error) {
	args = []string{"run"}
	if h.Task.File != "" {
		file := filepath.Join(h.dir, "task.yaml")
		if err := os.WriteFile(file, []byte(h.Task.File), 0o600); err != nil {
			return nil, "", err
		}
		args = append(args, "-f", file)
	}
	if h.Task.Prompt != "" {
		args, stdin = append(args, "-"), h.Task.Prompt
	}
	if h.Task.Exec != "" {
		args = append(args, "--exec", h.Task.Exec)
	}
	if h.Task.AnswersFile != "" {
		file := filepath.Join(h.dir, "answers.yaml")
		if err := os.WriteFile(file, []byte(h.Task.AnswersFile), 0o600); err != nil {
			return nil, "", err
		}
		args = append(args, "--answers", file)
	}
	if h.Task.Name != "" {
		args = append(args, "--name", h.Task.Name)
	}
	return append(append(args, "--cwd", h.work()), h.Task.Flags...), stdin, nil
}

// supervised adds to the arguments of a supervisor what each of this worker is given.
func (h *held) supervised(args []string) []string {
	return append(args, "--json", "--no-notify", "--on-question", "park", "--snapshots", h.snapshots())
}

// resumed is supervised for one that goes on with the run: no file names a program to run.
func (h *held) resumed(args []string) []string {
	if args = h.supervised(args); h.Task.Exec != "" {
		args = append(args, "--exec", h.Task.Exec)
	}
	return args
}

// place makes the folder in which the agents work.
func (h *held) place(ctx context.Context) error {
	if err := h.apartFromGit(); err != nil { // since the worker was started: another may have the run
		return err
	}
	if err := os.RemoveAll(h.work()); err != nil { // of a snapshot that could not be unpacked
		return err
	}
	if h.Task.Repo == "" {
		return os.MkdirAll(h.work(), 0o700)
	}
	commit, err := h.Repos.Clone(ctx, h.Task.Repo, h.Task.Ref, h.commit, h.work())
	switch {
	case err == nil:
		h.commit = commit
	case errors.Is(err, errGone) && h.commit == "":
		return never("%v", err)
	case errors.Is(err, errGone): // since the run has begun
		return fmt.Errorf("%w any more: push it again, or start a worker that has cloned it before; or give the run up: "+
			"claude-supervise fleet stop %s", err, h.Task.Run)
	}
	return err
}

// goOnFrom takes the run out of a snapshot.
func (h *held) goOnFrom(ctx context.Context, file string) error {
	h.close()
	if err := os.RemoveAll(h.stateHome()); err != nil {
		return err
	}
	if err := h.place(ctx); err != nil {
		return err
	}
	u, err := h.unpack(ctx, file)
	if err != nil {
		return err
	}
	if u.Snapshot != nil && len(u.Snapshot.InTurn) > 0 {
		h.note("a turn was under way when the snapshot was taken: it is done again")
	}
	for _, w := range u.Withheld {
		if w.Again == "" { // else the task gives it again (unpack)
			h.note("not taken along: %s", w.What)
		}
	}
	return h.marks(ctx)
}

// lost looks whether the blob store has lost a snapshot that was in it. A run that goes on from an older one says so.
// One that has none any more is not begun anew: what was answered and done would be silently gone. told is what was
// wrong with those that there are.
func (h *held) lost(origin Origin, told []string) error {
	from := ""
	if origin.Epoch > 0 {
		from = snapshotName(origin.Epoch, filepath.Base(origin.File))
	}
	switch {
	case from >= h.Kept:
		return nil
	case from != "":
		h.note("snapshot %s cannot be used any more: the run continues from %s, and what came between is done again",
			h.Kept, from)
		return nil
	}
	return fmt.Errorf("the blob store has no snapshot of it that can be used, and had %s: it is not begun anew. Look "+
		"whether worker %s uses the fleet's store; or give the run up: claude-supervise fleet stop %s%s", h.Kept, h.Name,
		h.Task.Run, text.Line(strings.Join(append([]string{""}, told...), " · "), 1000))
}

// hasEnded reports whether the run has ended in the snapshot that it goes on from. One that was ended by the fleet,
// while no worker had it, has not.
func (h *held) hasEnded(ctx context.Context) (bool, error) {
	c, err := h.opened()
	if err != nil || c == nil {
		return false, err
	}
	run, err := c.Reader().Run(ctx, h.Task.Run)
	return run.EndedAt != nil, err
}

// isFinal reports whether the end of a run that stands in a snapshot of an epoch is its end: the worker that had that
// epoch was lost before it could say so. An end that a person has resumed the run after is none.
func (h *held) isFinal(epoch int) bool {
	asked := h.Retry && h.Revive == 0 // by a release that does not say after which epoch
	return epoch > h.Revive && !asked
}

// nothingLeft says why a run that has ended in the snapshot cannot be resumed as was asked for, "" if it can: the
// server may say that it has failed, and it was stopped, or has succeeded. Its supervisor would refuse each time.
func (h *held) nothingLeft(ctx context.Context) (string, error) {
	c, err := h.opened()
	if err != nil || c == nil {
		return "", err
	}
	if h.Retry {
		_, err = c.Retryable(ctx, h.Task.Run)
	} else {
		_, err = c.Resumable(ctx, h.Task.Run, time.Now())
	}
	var none *client.NothingLeftError
	if errors.As(err, &none) {
		return none.Reason, nil
	}
	return "", err
}

// handsIn says how the run has ended in the snapshot.
func (h *held) handsIn(ctx context.Context) (flow.Outcome, error) {
	seen, err := h.look(ctx)
	if err != nil {
		return flow.Outcome{}, err
	}
	if seen.Run == nil || seen.Run.ExitCode == nil {
		return flow.Outcome{}, fmt.Errorf("the snapshot of %s does not say how it has ended", h.Task.Run)
	}
	h.records(ctx)
	return flow.Outcome{Seen: seen, Code: *seen.Run.ExitCode}, nil
}

// answers gives the run the answers that were acknowledged and that its snapshot does not have.
func (h *held) answers(ctx context.Context) error {
	c, err := h.opened()
	if err != nil || c == nil {
		return err
	}
	open, err := c.Reader().Questions(ctx)
	if err != nil {
		return err
	}
	for _, q := range open {
		for _, a := range h.Answers {
			if a.Question != q.ID {
				continue
			}
			var taken *client.TakenError
			if err := h.give(ctx, a); client.Unsaved(err) {
				return err
			} else if err != nil && !errors.As(err, &taken) {
				h.note("the answer to %s by %s was not taken: %v", a.Question, a.By, err)
			}
		}
	}
	return nil
}

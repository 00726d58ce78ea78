package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/commandline"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/examples"
	"claude-supervise/supervisor/doctor"
)

// maxTask bounds a task, in bytes: a payload of the server holds 2 MiB, and the run's has all answers in it, too.
const maxTask = 1 << 20

// minLease is the shortest lease: heartbeats cost the server something.
const minLease = 2 * time.Second

type runFlags struct {
	connection
	file, name, repo, ref, each string
	prompt                      string // as it was typed
	exec, answers               string
	labels                      []string
	lease                       time.Duration
	asJSON                      bool
	uncounted                   int64 // bytes of the task that were not kept, for it is too large
}

func newRun() *cobra.Command { return new(runFlags).command() }

func (f *runFlags) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -] [-f TASK] [flags] [-- CLAUDE FLAGS...]",
		Short: "submit a task",
		Long: `Submit a task. Its id goes to stdout, and the task to a worker with room for it
that has every --label. wait waits for it.

With --repo the agents work in a clone of a repository, at --ref; it has to be
one that the workers can reach: a path is refused, and file:///PATH is one that
each worker has. Without it they work in an empty folder. What they have written
is in the snapshots; what is to last they push.

With --each there is one run for each line that COMMAND prints here: {item} in
the prompt, the task file, --repo and --name is the line. So it is with each in
a task file, which is looked for in the folder where this is typed.

A worker that is not heard from for --lease loses the run, which continues
elsewhere.`,
		Example: "  claude-supervise fleet run \"Write a CHANGELOG for the last release\"\n" +
			"  claude-supervise fleet run -f task.yaml \\\n      --repo https://git.example.com/shop.git --ref main\n" +
			"  claude-supervise fleet run --each \"cat repos\" --repo {item} -f upgrade.yaml\n" +
			"  claude-supervise fleet run --label gpu --max-cost-usd 5 - < task.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(notInside(), refuseNotHere(cmd.Flags()), checkLabels(f.labels)); err != nil {
				return err
			}
			task, err := f.task(cmd, args)
			if err != nil {
				return err
			}
			tasks, err := f.tasks(cmd.Context(), task)
			if err != nil {
				return err
			}
			return f.with(cmd.Context(), func(c connected) error { return f.handIn(cmd.Context(), c, tasks) })
		},
	}
	fl := cmd.Flags()
	f.connection.flags(fl)
	fl.StringVarP(&f.file, "file", "f", "", "the task as a YAML `FILE`; - is stdin")
	fl.StringVar(&f.name, "name", "", "name the run `NAME`")
	fl.StringVar(&f.repo, "repo", "", "work in a clone of the repository at `URL`")
	fl.StringVar(&f.ref, "ref", "", "at this branch, tag or commit: `REF`")
	fl.StringArrayVar(&f.labels, "label", nil, "only on a worker with this `LABEL`")
	fl.StringVar(&f.each, "each", "", "a run for each line of `COMMAND`: {item}")
	fl.DurationVar(&f.lease, "lease", 30*time.Second, "move the run after `TIME` without a worker")
	fl.BoolVar(&f.asJSON, "json", false, "print a JSON object for each run")
	fl.StringVar(&f.exec, "exec", "", "run `COMMAND` instead of claude; {} is the prompt")
	fl.StringVar(&f.answers, "answers", "", "a YAML or JSON `FILE` of answers in advance")
	addPassed(fl, false)
	addNotHere(fl)
	return cmd
}

// handIn gives the fleet one task after the other, and prints the id of each.
func (f *runFlags) handIn(ctx context.Context, c connected, tasks []flow.Task) error {
	if err := c.KeyOpens(ctx); err != nil {
		return fmt.Errorf("%w Nothing was submitted", err)
	}
	for _, t := range tasks {
		if err := c.HandIn(ctx, t); err != nil {
			return err
		}
		if err := tell(f.asJSON, t.Run, t.Run); err != nil {
			return err
		}
	}
	return c.saysWhoCanTake(ctx, tasks[0].Labels)
}

// saysWhoCanTake tells the person where no worker can take runs with these labels, which then wait. That the server
// cannot say so keeps nothing back.
func (c connected) saysWhoCanTake(ctx context.Context, labels []string) error {
	if asks, err := c.AsksForRuns(ctx, labels); err != nil || asks {
		return nil //nolint:nilerr // the runs are handed in, whoever takes them
	}
	which, start := "", "claude-supervise fleet worker"
	if len(labels) > 0 {
		which = " with the labels " + strings.Join(labels, ", ")
		start += " --label " + strings.Join(labels, " --label ")
	}
	say("It waits: no worker%s asks for runs. It is taken once one has room, or you start one:\n  %s", which, start)
	return nil
}

// task reads the command line.
func (f *runFlags) task(cmd *cobra.Command, args []string) (flow.Task, error) {
	t := flow.Task{Name: f.name, Repo: f.repo, Ref: f.ref, Lease: f.lease, HandedIn: time.Now().UTC(),
		HandedBy: fleet.Who(), Labels: slices.Compact(slices.Sorted(slices.Values(f.labels)))}
	args, t.Claude = request.BeforeDash(cmd, args)
	if why := doctor.ReservedFlag(t.Claude); why != "" {
		return t, exitcode.Usage("%s", why)
	}
	if f.lease < minLease {
		return t, exitcode.Usage("--lease takes %s or more, not %s", minLease, f.lease)
	}
	if f.ref != "" && f.repo == "" {
		return t, exitcode.Usage("--ref needs a repository: name it with --repo")
	}
	t.Flags, t.Given = passed(cmd.Flags())
	var err error
	demo := lastTyped(cmd.Flags(), "demo")
	if demo != "" {
		scenario, err := examples.Load(demo)
		if err != nil {
			return t, exitcode.Usage("%w", err)
		}
		t.Again = scenario.ClaudeFlags
	}
	if lastTyped(cmd.Flags(), "check") == "ask" {
		return t, exitcode.Usage("--check takes off, warn or require here: nobody sits at a worker to be asked")
	}
	if f.exec != "" {
		// the program and the variables are the worker's, which says if it lacks them
		if _, err := commandline.Split(f.exec, func(string) string { return "its" }); err != nil {
			return t, exitcode.Usage("--exec: %w; nothing was submitted", err)
		}
		t.Exec = f.exec
	}
	if f.answers != "" {
		if t.AnswersFile, err = f.content(f.answers); err != nil {
			return t, fmt.Errorf("the answers cannot be read: %w", err)
		}
	}
	if f.file != "" {
		if t.File, err = f.content(f.file); err != nil {
			return t, fmt.Errorf("the task file cannot be read: %w", err)
		}
	}
	switch {
	case len(args) > 1:
		return t, exitcode.Usage("run takes one PROMPT, not %d: put it into quotes", len(args))
	case len(args) == 1 && args[0] == "-":
		f.prompt = "-"
		t.Prompt, err = f.content("-")
	case len(args) == 1:
		t.Prompt = args[0]
	}
	if err != nil {
		return t, fmt.Errorf("the task cannot be read: %w", err)
	}
	if strings.TrimSpace(t.Prompt) == "" && t.File == "" && demo == "" {
		return t, exitcode.Usage("what is to be done? Give a PROMPT, - for stdin, or a task file with -f")
	}
	return t, f.fits(t)
}

// fits says of a task that is too large for a fleet how large it is.
func (f *runFlags) fits(t flow.Task) error {
	if n := int64(len(t.Prompt)+len(t.File)+len(t.AnswersFile)) + f.uncounted; n > maxTask {
		return exitcode.Usage("the task has %d bytes, and a fleet takes %d: put what is large into the repository; nothing "+
			"was submitted", n, maxTask)
	}
	return nil
}

// mostCounted is how much of what is larger than a task may be is read, in bytes, to say how large it is.
const mostCounted = 1 << 30

// content returns what stands in a file, - for stdin, up to a little more than a task may have. What is left out is
// counted.
func (f *runFlags) content(file string) (string, error) {
	text, more, err := contentOf(file)
	f.uncounted += more
	return text, err
}

// contentOf returns what stands in a file, - for stdin, up to a little more than maxTask, and how many bytes there are
// more.
func contentOf(file string) (text string, more int64, err error) {
	var in io.Reader = os.Stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return "", 0, err
		}
		defer func() { _ = opened.Close() }() // only read
		in = opened
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(in, maxTask+1)); err != nil {
		return "", 0, err
	}
	more, err = io.Copy(io.Discard, io.LimitReader(in, mostCounted))
	return b.String(), more, err
}

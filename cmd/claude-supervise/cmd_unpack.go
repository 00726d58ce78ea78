package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/text"
)

type unpackFlags struct {
	request.Grants
	cwd, maxSize             string
	dry, withoutWork, asJSON bool
	vouched                  bool
}

func newUnpack() *cobra.Command {
	var f unpackFlags
	cmd := &cobra.Command{
		Use:   "unpack FILE | DIR [flags] [-- CLAUDE FLAGS...]",
		Short: "unpack a run, to resume it here",
		Long: `Unpack a run from the file that pack wrote, to answer and resume it here. The
run continues in the folder of --cwd. By default this is the current folder or,
if the run was packed on this machine, its own. A run from a git work tree needs
a clone of the same repository without local changes; any other run needs an
empty or missing folder.

The snapshots of a running run (run --snapshots) are unpacked in the same way:
name one, or their folder for the newest. Unpacking takes the run over. From
then on the earlier supervisor, wherever it is, ends its agents and sends them
nothing. The turn after the snapshot is repeated, and so are its effects outside
of the folder.

Everything in the file is checked before anything is changed, and nothing in it
is trusted, because anybody can have written it. It names no program to run.
These are dropped: rules, permissions, claude flags that loosen permissions,
answers in advance, and limits above the usual ones. Permissions, delegations
and raised budgets that have not taken effect are asked again. All that is
dropped is listed, with the flags of unpack or resume that grant it here.
Answers to an agent's ordinary questions are kept. The file contains what the
agent was told and will do: read it first.`,
		Example: "  claude-supervise unpack /mnt/snapshots/r-3f9a2c1b\n" +
			"  cd my-clone && claude-supervise unpack ~/Downloads/r-3f9a2c1b.tar.gz\n" +
			"  claude-supervise unpack r-3f9a2c1b.tar.gz --dry-run\n" +
			"  claude-supervise unpack r-3f9a2c1b.tar.gz --allow \"Bash(make test)\"\n" +
			"  ssh ci 'claude-supervise pack r-3f9a2c1b -o -' | claude-supervise unpack -",
		Args: request.ExactlyBeforeDash(1, 1, "a pack file, the folder of a run's snapshots, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			args, passed := request.BeforeDash(cmd, args)
			given, err := f.Grants.Read(cmd, passed)
			if err != nil {
				return err
			}
			return runUnpack(cmd.Context(), args[0], given, f)
		},
	}
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "unpack into this `FOLDER`")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "check everything and show what would be done")
	cmd.Flags().BoolVar(&f.withoutWork, "without-work", false, "do not change the folder")
	addMaxSize(cmd, &f.maxSize)
	request.AddGrants(cmd, &f.Grants)
	// For a fleet, whose key has sealed the file: what a person has granted the run before stays.
	cmd.Flags().BoolVar(&f.vouched, "vouched", false, "keep the rules, answers in advance and retries of the file")
	_ = cmd.Flags().MarkHidden("vouched") // it is there
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func runUnpack(ctx context.Context, file string, given conf.Given, f unpackFlags) error {
	size, err := workSize(f.maxSize)
	if err != nil {
		return err
	}
	opt := pack.UnpackOptions{File: file, DryRun: f.dry, WithoutWork: f.withoutWork, MaxWork: size, Given: given,
		Guarded: guarded(), Vouched: f.vouched}
	if opt.Here, err = os.Getwd(); err != nil {
		return fmt.Errorf("the current folder is not known: %w; give one with --cwd", err)
	}
	if f.cwd != "" {
		if opt.Folder, err = filepath.Abs(f.cwd); err != nil {
			return fmt.Errorf("the folder to continue in is not known: %w", err)
		}
	}
	in := io.Reader(os.Stdin)
	if file != "-" {
		if file, err = pack.Newest(file); err != nil {
			return usage("%w", err)
		}
		if opt.File, err = filepath.Abs(file); err != nil {
			return usage("the path of the pack file is not known: %w", err)
		}
		opened, err := os.Open(file)
		if err != nil {
			return usage("the pack file cannot be read: %w", err)
		}
		defer func() { _ = opened.Close() }() // only read
		in = opened
	}
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was imported is on disk
	var run pack.UnpackedRun
	err = terminal.WhileWorking("unpacking "+file, func(progress func(done, total int64)) (err error) {
		opt.Progress = progress
		run, err = pack.Unpack(ctx, client, in, opt)
		return err
	})
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(run)
		}
		return p.Result(unpackedText(run, f.dry))
	})
}

func unpackedText(r pack.UnpackedRun, dry bool) string {
	var b strings.Builder
	done := "is unpacked; it continues in"
	if dry {
		done = "can be unpacked; it would continue in"
	}
	fmt.Fprintf(&b, "%s %s %s\n", r.Run, done, r.Cwd)
	if r.From != r.Cwd {
		fmt.Fprintf(&b, "It was in %s; its agents are told.\n", r.From)
	}
	for _, t := range r.Told {
		fmt.Fprintf(&b, "note: %s\n", t)
	}
	b.WriteString(snapshotText(r, dry))
	b.WriteString(withheldText(r))
	if dry {
		return b.String() + "Nothing was changed."
	}
	for _, q := range r.Questions {
		fmt.Fprintf(&b, "\n%s\n  %s\n", terminal.CleanLine(q.Question, 0), q.AnswerCommand)
	}
	if len(r.Questions) > 0 {
		b.WriteString("\nAnswer, then run:\n")
	} else {
		b.WriteString("\nTo continue, run:\n")
	}
	b.WriteString("  claude-supervise resume ")
	if r.Failed {
		b.WriteString("--failed ")
	}
	b.WriteString(r.Run)
	if r.Exec {
		b.WriteString(" --exec 'COMMAND {}'") // a pack file names no program
	}
	return b.String()
}

// snapshotText says what of a run that went on is not in the snapshot, and who goes on with it.
func snapshotText(r pack.UnpackedRun, dry bool) string {
	s := r.Snapshot
	if s == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "It has the state of %s: what was answered and done later is not in it.\n", terminal.When(s.At))
	if len(s.InTurn) > 0 {
		fmt.Fprintf(&b, "A turn of %s was under way: it is done again.\n", text.JoinLimited(s.InTurn))
	}
	switch {
	case s.Snapshots == "":
		fmt.Fprintf(&b, "note: nothing stops the run where the snapshot was taken, so it may continue there, too. Stop it "+
			"there:\n  claude-supervise stop %s\n", r.Run)
	case dry:
		fmt.Fprintf(&b, "It would be taken over from its supervisor, by %s\n", s.Snapshots)
	default:
		fmt.Fprintf(&b, "It is taken over (epoch %d): its supervisor ends its agents. Its next snapshots go into\n  %s\n",
			s.Epoch, s.Snapshots)
	}
	return b.String()
}

// withheldText lists what the file grants and was not taken along, and how it is given here.
func withheldText(r pack.UnpackedRun) string {
	var b strings.Builder
	if len(r.Withheld) > 0 {
		b.WriteString("\nThe file asks for what only you can grant. Left out:\n")
	}
	again := false
	for _, w := range r.Withheld {
		fmt.Fprintf(&b, "- %s\n", text.VisibleLine(w.What))
		if w.Again != "" {
			fmt.Fprintf(&b, "    %s\n", text.VisibleLine(w.Again))
			again = true
		}
	}
	if again {
		b.WriteString("To grant the same here, give resume the flags shown below each.\n")
	}
	if len(r.AskedAnew) > 0 {
		fmt.Fprintf(&b, "Asked anew, though the file has an answer: %s\n", strings.Join(r.AskedAnew, ", "))
	}
	return b.String()
}

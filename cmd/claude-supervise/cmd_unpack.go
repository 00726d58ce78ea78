package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

type unpackFlags struct {
	cwd, maxSize             string
	dry, withoutWork, asJSON bool
}

func newUnpack() *cobra.Command {
	var f unpackFlags
	cmd := &cobra.Command{
		Use:   "unpack FILE",
		Short: "take a run out of its file, to go on with it here",
		Long: `Take a run out of the file that pack made, to answer and resume it here. Without
--cwd it goes on in this folder, or, if it was packed on this machine, in its
own. What was packed of a git work tree goes into a clone of the same repository
that has no changes of its own; what was packed of another folder goes into an
empty or missing one.

Everything in the file is checked before anything is changed. It cannot name
programs to run: claude is looked for here, and the command of a run of --exec
is given to resume. But it holds what the agent was told and will do, and
claude's flags, which are shown: unpack only what you trust.`,
		Example: "  cd my-clone && claude-supervise unpack ~/Downloads/r-3f9a2c1b.tar.gz\n" +
			"  claude-supervise unpack r-3f9a2c1b.tar.gz --dry-run\n" +
			"  ssh ci 'claude-supervise pack r-3f9a2c1b -o -' | claude-supervise unpack -",
		Args: exactly(1, 1, "a pack file, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runUnpack(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "go on in this `FOLDER`")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "check everything, say what would be done, and change nothing")
	cmd.Flags().BoolVar(&f.withoutWork, "without-work", false, "leave the folder as it is")
	addMaxSize(cmd, &f.maxSize)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func runUnpack(ctx context.Context, file string, f unpackFlags) error {
	size, err := workSize(f.maxSize)
	if err != nil {
		return err
	}
	opt := supervisor.UnpackOptions{File: file, DryRun: f.dry, WithoutWork: f.withoutWork, MaxWork: size}
	if opt.Here, err = os.Getwd(); err != nil {
		return fmt.Errorf("the present folder is not known: %w; give one with --cwd", err)
	}
	if f.cwd != "" {
		if opt.Folder, err = filepath.Abs(f.cwd); err != nil {
			return fmt.Errorf("the folder to go on in is not known: %w", err)
		}
	}
	in := io.Reader(os.Stdin)
	if file != "-" {
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
	run, err := client.Unpack(ctx, in, opt)
	if err != nil {
		return err
	}
	return print(func(p *terminal.Printer) error {
		if f.asJSON {
			return p.JSON(run)
		}
		return p.Result(unpackedText(run, f.dry))
	})
}

func unpackedText(r supervisor.UnpackedRun, dry bool) string {
	var b strings.Builder
	done := "is unpacked and goes on in"
	if dry {
		done = "can be unpacked, and would go on in"
	}
	fmt.Fprintf(&b, "%s %s %s\n", r.Run, done, r.Cwd)
	if r.From != r.Cwd {
		fmt.Fprintf(&b, "It was in %s; its agents are told.\n", r.From)
	}
	for _, t := range r.Told {
		fmt.Fprintf(&b, "note: %s\n", t)
	}
	if len(r.Flags) > 0 {
		b.WriteString("Look first at the flags that its agents' claude is given by the file:\n ")
		for _, flag := range r.Flags {
			fmt.Fprintf(&b, " %q", flag)
		}
		b.WriteString("\n")
	}
	if dry {
		return b.String() + "Nothing was changed."
	}
	for _, q := range r.Questions {
		fmt.Fprintf(&b, "\n%s\n  %s\n", terminal.CleanLine(q.Question, 0), q.AnswerCommand)
	}
	if len(r.Questions) > 0 {
		b.WriteString("\nAnswer, then go on with:\n")
	} else {
		b.WriteString("\nGo on with:\n")
	}
	b.WriteString("  claude-supervise resume " + r.Run)
	if r.Exec {
		b.WriteString(" --exec 'COMMAND {}'") // a pack file names no program
	}
	return b.String()
}

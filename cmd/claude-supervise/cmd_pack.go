package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/release"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/pack"
)

type packFlags struct {
	output, maxSize   string
	withoutWork, undo bool
	now               bool
}

func newPack() *cobra.Command {
	var f packFlags
	cmd := &cobra.Command{
		Use:   "pack RUN",
		Short: "pack a run into a file, to resume it elsewhere",
		Long: `Pack a run into one file: its questions and answers, its checkpoint, the
conversations of its agents, and the uncommitted work of its folder. This
machine is then no longer needed: unpack the file on another one, and resume.

Of a git work tree, pack takes the commits that no remote has, the index, and
the files that differ. It leaves out ignored files and the contents of
submodules. It runs no program named by the configuration of the repository. Of
any other folder, it takes all files.

After packing an unsupervised run, this machine refuses to resume it, so that it
does not continue in two places; unpack brings it back. A running run continues,
and the file is a snapshot of it. The snapshot is taken when each agent has
ended its current turn, or at once with --now. Nothing then prevents the run
from continuing in two places: stop it here before you resume it elsewhere. Or
use run --snapshots, which prevents it.

The file contains everything that the agents saw. Keep it private.`,
		Example: "  claude-supervise pack r-3f9a2c1b\n" +
			"  claude-supervise pack r-3f9a2c1b -o - | ssh laptop 'cat > run.tar.gz'\n" +
			"  claude-supervise pack r-3f9a2c1b --undo    # its file was lost",
		Args: help.Exactly(1, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runPack(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE` (default: RUN.tar.gz here; - is stdout)")
	cmd.Flags().BoolVar(&f.withoutWork, "without-work", false, "leave out the uncommitted work")
	addMaxSize(cmd, &f.maxSize)
	cmd.Flags().BoolVar(&f.now, "now", false, "do not wait for the end of turns; the current turns are lost")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "resume here after all; the file must not be unpacked")
	return commands.Completes(cmd, commands.RunsOf(true, commands.AnyRun), commands.Nothing)
}

func addMaxSize(cmd *cobra.Command, size *string) {
	cmd.Flags().StringVar(size, "max-size", humanize.IBytes(pack.DefaultMaxWork),
		"at most `SIZE` of uncommitted work")
}

func workSize(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<40 {
		return 0, usage("--max-size takes a size such as 500MiB or 2GiB, not %q", text)
	}
	return int64(n), nil
}

func runPack(ctx context.Context, id string, f packFlags) error {
	size, err := workSize(f.maxSize)
	if err != nil {
		return err
	}
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was marked is on disk
	if f.undo {
		run, err := pack.TakeBack(ctx, client, id)
		if err != nil {
			return err
		}
		return terminal.Print(func(p *terminal.Printer) error {
			return p.Result(run + " is here again; do not unpack its file. To continue, run:\n  claude-supervise resume " + run)
		})
	}
	run, _, _, err := client.Target(ctx, id)
	if err != nil {
		return err
	}
	if client.Supervised(ctx, run) {
		return packLive(ctx, client, run, f)
	}
	opt := pack.PackOptions{WithoutWork: f.withoutWork, MaxWork: size, Program: "claude-supervise " + release.Version()}
	return packTo(f.output, run, func() (said, error) {
		opt.File = "standard output"
		packed, err := pack.Write(ctx, client, run, os.Stdout, opt)
		return packedText(packed), err
	}, func(path string) (said, error) {
		var packed pack.PackedRun
		err := terminal.WhileWorking("packing "+run, func(progress func(done, total int64)) (err error) {
			opt.Progress = progress
			packed, err = pack.WriteFile(ctx, client, run, path, opt)
			return err
		})
		return packedText(packed), err
	})
}

// said says what was packed: into what, and which file to unpack elsewhere.
type said func(into, file string) string

// packTo packs a run to standard output, or into a file unless another one has its name.
func packTo(output, run string, toStdout func() (said, error), toFile func(path string) (said, error)) error {
	if output == "-" {
		if terminal.IsTerminal(os.Stdout) {
			return usage("a pack file is not for a terminal: pack it into a file, or a pipe")
		}
		text, err := toStdout()
		if err != nil {
			return err
		}
		p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
		p.Notice(text("standard output", "FILE"))
		return p.Close(context.Background())
	}
	file := cmp.Or(output, run+".tar.gz")
	path, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("the path of the pack file is not known: %w", err)
	}
	if err := mayReplace(path, run); err != nil {
		return err
	}
	text, err := toFile(path)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.Result(text(path, file)) })
}

// mayReplace refuses to write over a file that is not an earlier pack of the same run.
func mayReplace(path, run string) error {
	old, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the pack file cannot be written: %w; nothing was packed", err)
	}
	defer func() { _ = old.Close() }() // only read
	if in, err := pack.PackedRunIn(old); err != nil || in != run {
		return usage("%s exists already and is not a pack file of %s; nothing was packed: name another file with -o", path,
			run)
	}
	return nil
}

func packedText(p pack.PackedRun) said {
	return func(into, file string) string {
		return fmt.Sprintf("%s is packed into %s (%s unpacked).\nTo continue it elsewhere, run there:\n"+
			"  claude-supervise unpack %s", p.Run, into, humanize.IBytes(uint64(p.Bytes)), file) + notes(p.Told)
	}
}

// notes are what a person should know of what was packed.
func notes(told []string) string {
	text := ""
	for _, t := range told {
		text += "\nnote: " + t
	}
	return text
}

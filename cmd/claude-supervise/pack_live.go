package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/pack"
)

// packLive packs a run that goes on.
func packLive(ctx context.Context, c client.Client, run string, f packFlags) error {
	if f.withoutWork {
		return usage("--without-work is for a run that nobody supervises; %s is running", run)
	}
	v, err := c.Reader().Run(ctx, run)
	if err != nil {
		return err
	}
	if v.Suspended {
		return fmt.Errorf("%s cannot be packed: its supervisor is suspended. %s", run, v.HowToContinue())
	}
	if !f.now {
		fmt.Fprintf(os.Stderr,
			"%s is running: it is packed when the present turn of each agent has ended (--now: at once).\n", run)
	}
	if f.output == "-" {
		if terminal.IsTerminal(os.Stdout) {
			return usage("a pack file is not for a terminal: pack it into a file, or a pipe")
		}
		packed, err := pack.Live(ctx, c, run, f.now, terminal.Who("pack"),
			func(path string) error { return copyTo(os.Stdout, path) })
		if err != nil {
			return err
		}
		p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
		p.Notice(liveText(packed, "standard output", "FILE"))
		return p.Close(context.Background())
	}
	file := f.output
	if file == "" {
		file = run + ".tar.gz"
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("the path of the pack file is not known: %w", err)
	}
	if err := mayReplace(path, run); err != nil {
		return err
	}
	packed, err := pack.LiveFile(ctx, c, run, f.now, terminal.Who("pack"), path)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.Result(liveText(packed, path, file)) })
}

func copyTo(w io.Writer, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return errors.Join(err, from.Close())
}

func liveText(p pack.LiveSnapshot, into, file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s continues here. Its state of %s is in %s.\nBefore you continue it elsewhere, stop it here:\n"+
		"  claude-supervise stop %s\n  claude-supervise unpack %s", p.Run, terminal.When(p.At), into, p.Run, file)
	for _, t := range p.Told {
		b.WriteString("\nnote: " + t)
	}
	return b.String()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
	return packTo(f.output, run, func() (said, error) {
		packed, err := pack.Live(ctx, c, run, f.now, terminal.Who("pack"),
			func(path string) error { return copyTo(os.Stdout, path) })
		return liveText(packed), err
	}, func(path string) (said, error) {
		packed, err := pack.LiveFile(ctx, c, run, f.now, terminal.Who("pack"), path)
		return liveText(packed), err
	})
}

func copyTo(w io.Writer, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return errors.Join(err, from.Close())
}

func liveText(p pack.LiveSnapshot) said {
	return func(into, file string) string {
		return fmt.Sprintf("%s continues here. Its state of %s is in %s.\nBefore you continue it elsewhere, stop it here:\n"+
			"  claude-supervise stop %s\n  claude-supervise unpack %s", p.Run, terminal.When(p.At), into, p.Run, file) +
			notes(p.Told)
	}
}

package main

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commandline"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// sinceLast is the --since of who wants to know what happened since they were last told.
const sinceLast = "last"

// reportSince tells what happened in all runs: a person at a terminal in words, everybody else as a file of the report
// of a run is. Only what was told whole counts as told.
func (f reportFlags) reportSince(cmd *cobra.Command, to string) error {
	ctx, last := cmd.Context(), f.since == sinceLast
	var command []string
	if to != "" {
		var err error
		if command, err = commandline.Parse(to, os.Getenv); err != nil {
			return usage("--notify: %w", err)
		}
	}
	if last {
		if err := notInside(cmd); err != nil { // the person would not be told of it any more
			return err
		}
	}
	m, err := f.meanwhile(ctx, last)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	switch {
	case f.page():
		err = report.MeanwhileHTML(&text, m)
	case command == nil && f.output == "" && terminal.IsTerminal(os.Stdout):
		err = terminal.Print(func(p *terminal.Printer) error {
			text.WriteString(report.MeanwhileText(p.Columns(), m))
			return nil
		})
	default:
		err = report.MeanwhileMarkdown(&text, m)
	}
	if err == nil && command != nil {
		err = notify.Pipe(ctx, command, text.Bytes())
	} else if err == nil {
		err = f.write(text.Bytes())
	}
	if err != nil || !last || f.cwd != "" {
		return err
	}
	return acting.Told(ctx, m.To)
}

// meanwhile reads what happened.
func (f reportFlags) meanwhile(ctx context.Context, last bool) (m view.Meanwhile, err error) {
	var since time.Time
	if !last {
		if since, err = commands.SinceWhen(f.since, time.Now()); err != nil {
			return m, err
		}
	}
	l, err := runs.Listing{}.Below(f.cwd)
	if err != nil {
		return m, err
	}
	return acting.MeanwhileSince(ctx, since, l.Cwd, l.Has)
}

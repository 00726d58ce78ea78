package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newLogs() *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "print the log of a run or an agent",
		Long: `Print what an agent said and did, and the answers it got. For a run, print the
log of all its agents in order of time; each line names its agent.

With --follow, logs continues until the run or agent has ended or is no longer
supervised, and then says what to type next. Ctrl-C quits; the run continues.

--since takes a duration (10m: the last ten minutes), a time of today (14:05), a
day (2026-11-21), or a date and time in RFC 3339.`,
		Example: "  claude-supervise logs r-3f9a2c1b\n" +
			"  claude-supervise logs -f --tail 20 a-7Qm2xK9fWb4T\n" +
			"  claude-supervise logs --since 1h --json r-3f9a2c1b | jq -r .text\n" +
			"  claude-supervise logs --raw r-3f9a2c1b | jq .line.type",
		Args: help.Exactly(1, 1, "the id of a run or an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.tail < 0:
				return usage("--tail takes a number of lines, not %d", f.tail)
			case f.Raw && f.AsJSON:
				return usage("--raw prints the agent's own lines, --json what they say: give one of them")
			case cmd.Flags().Changed("tail") && f.tail == 0 && !f.follow:
				return usage("--tail 0 prints nothing without --follow")
			}
			f.none = cmd.Flags().Changed("tail") && f.tail == 0
			var err error
			if f.from, err = sinceWhen(f.since, time.Now()); err != nil {
				return err
			}
			return runLogs(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "print new entries as they appear")
	cmd.Flags().IntVarP(&f.tail, "tail", "n", 0, "print only the last `N` entries")
	cmd.Flags().StringVar(&f.since, "since", "", "print only entries after a `TIME`, or within a duration")
	cmd.Flags().BoolVar(&f.AsJSON, "json", false, "print one JSON object per line")
	cmd.Flags().BoolVar(&f.Raw, "raw", false,
		"print the stored JSON lines unchanged (control characters are escaped on a terminal)")
	return completes(cmd, completeEither(completeRuns(true, anyRun), completeAgents), completeNothing)
}

type logsFlags struct {
	runs.LogForm
	follow bool
	tail   int
	none   bool // nothing that is there
	since  string
	from   time.Time
}

// sinceWhen reads what --since takes; zero is ever.
func sinceWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := days(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			year, month, day := now.Local().Date()
			return time.Date(year, month, day, at.Hour(), at.Minute(), at.Second(), 0, time.Local), nil
		}
	}
	return time.Time{}, usage("--since takes a duration like 10m or 7d, or a time like 14:05, 2026-11-21 or "+
		"2026-11-21T14:05:00Z, not %q", text)
}

func runLogs(ctx context.Context, id string, f logsFlags) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	log, err := r.RunLog(ctx, id)
	if err != nil {
		return err
	}
	counts := func(l view.LogLine) bool { return len(l.Remarks()) > 0 }
	if f.Raw {
		counts = nil
	}
	if f.none {
		f.from = time.Now()
	}
	if log, err = log.Only(ctx, view.LogPart{Last: f.tail, Since: f.from, Counts: counts}); err != nil {
		return err
	}
	return terminal.Following(ctx, func(ctx context.Context, p *terminal.Printer) error {
		line := func(l view.LogLine) error { return f.Print(p, l) }
		if !f.follow {
			return silent(p, cmp.Or(log.Agent, log.Run), log.Each(ctx, line))
		}
		end, err := log.Follow(ctx, line)
		if err == nil {
			a := runs.Awaited(end, log.Agent)
			p.Notice(strings.TrimSpace(runs.StateOf(a) + "\n" + thisProgram.NextFor(a)))
		}
		return err
	})
}

// silent says of a log that is not there that nothing was printed.
func silent(p *terminal.Printer, id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		p.Notice(fmt.Sprintf("(%s has printed nothing yet; logs -f waits for it)", id))
		return nil
	}
	return err
}

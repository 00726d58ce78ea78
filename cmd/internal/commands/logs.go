package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Logs makes the command that prints the log of a run or an agent.
func (p Program) Logs(cmd *cobra.Command) *cobra.Command {
	var r service.LogReading
	var asJSON bool
	var since string
	which := Choice{Takes: p.takes("the id of a run", " or an agent"), Fits: AnyRun,
		None: "there is no run whose log could be printed", Reads: true}
	cmd.Args = help.Exactly(p.least(), 1, which.Takes)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		tails := cmd.Flags().Changed("tail")
		switch {
		case r.Tail < 0:
			return exitcode.Usage("--tail takes a number of lines, not %d", r.Tail)
		case r.Raw && asJSON:
			return exitcode.Usage("--raw prints the agent's own lines, --json what they say: give one of them")
		case tails && r.Tail == 0 && !r.Follow:
			return exitcode.Usage("--tail 0 prints nothing without --follow")
		case !tails:
			r.Tail = -1
		}
		if r.Since, err = SinceWhen(since, time.Now()); err != nil {
			return err
		}
		id, err := p.Chosen(cmd, args, which)
		if err != nil {
			return err
		}
		return p.with(cmd.Context(), func(s service.Runs) error { return p.logs(cmd.Context(), s, id, r, asJSON) })
	}
	cmd.Flags().BoolVarP(&r.Follow, "follow", "f", false, "print new entries as they appear")
	cmd.Flags().IntVarP(&r.Tail, "tail", "n", 0, "print only the last `N` entries")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	if p.local() {
		cmd.Flags().StringVar(&since, "since", "", "print only entries after a `TIME`, or within a duration")
		cmd.Flags().BoolVar(&r.Raw, "raw", false,
			"print the stored JSON lines unchanged (control characters are escaped on a terminal)")
	}
	return p.command(p.completes(cmd, EitherOf(RunsOf(true, AnyRun), AgentsOf), Nothing))
}

func (p Program) logs(ctx context.Context, s service.Runs, id string, r service.LogReading, asJSON bool) error {
	return terminal.Following(ctx, func(ctx context.Context, to *terminal.Printer) error {
		r.Note = to.Notice
		r.Each = func(line []byte, said []view.Remark) error {
			if line != nil {
				return to.Raw(line)
			}
			for _, one := range said {
				print := func() error { return to.Result(runs.LogText(to.Width(), one.String())) }
				if asJSON {
					print = func() error { return to.JSON(one) }
				}
				if err := print(); err != nil {
					return err
				}
			}
			return nil
		}
		end, err := s.ReadLog(ctx, id, r)
		switch {
		case !r.Follow && errors.Is(err, fs.ErrNotExist):
			to.Notice(fmt.Sprintf("(%s has printed nothing yet; logs -f waits for it)", cmp.Or(end.Agent, end.Run)))
		case err != nil:
			return err
		case r.Follow:
			to.Notice(strings.TrimSpace(runs.StateOf(end.Awaited) + "\n" + p.Name.NextOf(end)))
		}
		return nil
	})
}

// SinceWhen reads what --since takes; zero is ever.
func SinceWhen(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := Days(text); err == nil {
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
	return time.Time{}, exitcode.Usage("--since takes a duration like 10m or 7d, or a time like 14:05, 2026-11-21 or "+
		"2026-11-21T14:05:00Z, not %q", text)
}

// Days reads a duration, of which days may be the unit.
func Days(text string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseUint(n, 10, 16)
		return time.Duration(days) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = strconv.ErrRange
	}
	return d, err
}

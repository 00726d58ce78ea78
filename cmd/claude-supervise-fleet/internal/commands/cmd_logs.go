package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
)

type logsFlags struct {
	connection
	follow, asJSON bool
	tail           int
}

func newLogs() *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:   "logs RUN",
		Short: "print what the agents of a run of the fleet said and did",
		Long: `Print what the agents of a run of the fleet said and did, and the answers they
got, in order of time. The worker that has the run is asked; while none has it,
it is what the last one has kept.

With --follow, logs continues until the run has ended, from worker to worker:
nothing is printed twice, but a turn that was lost with its worker stands there
beside the one that was done in its place. Ctrl-C quits; the run continues.`,
		Example: "  claude-supervise fleet logs r-3f9a2c1b\n" +
			"  claude-supervise fleet logs -f --tail 20 r-3f9a2c1b",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			tails := cmd.Flags().Changed("tail")
			switch {
			case len(args) != 1:
				return exitcode.Usage("logs takes the id of one run; claude-supervise fleet ps -a lists them")
			case f.tail < 0:
				return exitcode.Usage("--tail takes how many lines, not %d", f.tail)
			case tails && f.tail == 0 && !f.follow:
				return exitcode.Usage("--tail 0 prints nothing without --follow")
			case !tails:
				f.tail = -1
			}
			return f.with(cmd.Context(), func(c connected) error { return runLogs(cmd.Context(), c, args[0], f) })
		},
	}
	f.connection.flags(cmd.Flags())
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "print new entries as they appear")
	cmd.Flags().IntVarP(&f.tail, "tail", "n", 0, "print only the last `N` entries")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object per line")
	return cmd
}

func runLogs(ctx context.Context, c connected, id string, f logsFlags) error {
	return terminal.Following(ctx, func(ctx context.Context, p *terminal.Printer) error {
		some := false
		run, err := c.Log(ctx, fleet.LogReading{Run: id, Follow: f.follow, Tail: f.tail, Kept: c.keptLog,
			Note: p.Notice,
			Each: func(e runlog.Entry) error {
				some = true
				if f.asJSON {
					return p.JSON(e.Remark)
				}
				return p.Result(e.String())
			}})
		switch {
		case err != nil:
			return err
		case f.follow:
			p.Notice(strings.TrimSpace(runs.State(run.RunView)))
		case !some:
			p.Notice(fmt.Sprintf("(%s has printed nothing yet; logs -f waits for it)", run.ID))
		}
		return nil
	})
}

// keptLog reads what the last worker up to an epoch has kept of a log when it left the run, and gives its epoch; 0 if
// none has left it.
func (c connected) keptLog(ctx context.Context, run string, epoch int, each func(runlog.Entry) error) (int, error) {
	store, err := c.snapshots(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = store.Bucket.Close() }() // only read
	var kept bytes.Buffer
	of, err := store.Record(ctx, run, epoch, worker.LogRecord, &kept)
	if errors.Is(err, worker.ErrNoRecord) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(kept.Bytes()) {
		var e runlog.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("what was kept of the log cannot be read: %w", err)
		}
		if err := each(e); err != nil {
			return 0, err
		}
	}
	return of, nil
}

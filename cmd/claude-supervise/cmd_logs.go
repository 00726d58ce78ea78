package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func newLogs() *cobra.Command {
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "print what an agent said and did",
		Long: `Print what an agent said and did; of a run what all of its agents did, in the
order of time, each line with whose it is.

With --follow it goes on until the run or the agent has ended or nobody
supervises it, and says then what to type next. Ctrl-C leaves; the run goes on.`,
		Example: "  claude-supervise logs r-3f9a2c1b\n" +
			"  claude-supervise logs -f a-7Qm2xK9fWb4T\n" +
			"  claude-supervise logs -f r-3f9a2c1b\n" +
			"  claude-supervise logs --raw r-3f9a2c1b | jq .line.type",
		Args: exactly(1, 1, "the id of a run or an agent"),
		RunE: func(cmd *cobra.Command, args []string) error { return runLogs(cmd.Context(), args[0], follow, raw) },
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is printed from now on")
	cmd.Flags().BoolVar(&raw, "raw", false,
		"the lines of the log as they are: JSON, byte for byte (to a terminal with what it would obey escaped)")
	return completes(cmd, completeEither(completeRuns(true, anyRun), completeAgents), completeNothing)
}

func runLogs(ctx context.Context, id string, follow, raw bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	log, agent, err := r.RunLog(ctx, id)
	if err != nil {
		return err
	}
	return following(ctx, func(ctx context.Context, p *terminal.Printer) error {
		if agent != "" {
			return agentLog(ctx, p, r, agent, follow, raw)
		}
		line := func(l view.LogLine) error { return results(p, l.Said()) }
		if raw {
			line = func(l view.LogLine) error { return p.Raw(l.Line) }
		}
		if follow {
			end, err := log.Follow(ctx, line)
			if err == nil {
				p.Notice(strings.TrimSpace(state(end) + "\n" + whatNext(end)))
			}
			return err
		}
		return silent(p, log.Run, log.Each(ctx, line))
	})
}

// agentLog prints the log of one agent.
func agentLog(ctx context.Context, p *terminal.Printer, r view.Reader, agent string, follow, raw bool) error {
	log, err := r.Log(ctx, agent)
	if err != nil {
		return err
	}
	line := func(line []byte) error { return results(p, view.Said(line)) }
	if raw {
		line = p.Raw
	}
	if !follow {
		return silent(p, agent, log.Each(line))
	}
	end, err := log.Follow(ctx, line)
	if err == nil {
		a := awaited(end, agent)
		p.Notice(strings.TrimSpace(stateOf(a) + "\n" + whatNextFor(a)))
	}
	return err
}

// awaited is an agent of a run that was left, or the run where it is its first.
func awaited(v view.RunView, agent string) view.Awaited {
	a := view.Awaited{Node: view.Node{Run: v.ID, Agent: agent}, View: v}
	if len(v.Agents) > 0 && v.Agents[0].ID == agent {
		a.Agent = ""
	}
	return a
}

// silent says of a log that is not there that nothing was printed.
func silent(p *terminal.Printer, id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		p.Notice(fmt.Sprintf("(%s has printed nothing yet; logs -f waits for it)", id))
		return nil
	}
	return err
}

func results(p *terminal.Printer, texts []string) error {
	for _, text := range texts {
		if err := p.Result(text); err != nil {
			return err
		}
	}
	return nil
}

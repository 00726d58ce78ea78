package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

func newAttach() *cobra.Command {
	var plain bool
	cmd := &cobra.Command{
		Use:   "attach [RUN] [MESSAGE... | -]",
		Short: "follow a run live and send messages to its agent",
		Long: `Follow what the agents of a run say and do, even if the run is supervised on
another terminal or in the background. Without RUN, attach follows the one
active run. If RUN is the id of an agent, only that agent is shown, until it
ends.

Text that you type is a message to the agent, or to the first agent of a run. It
is saved until the agent has read it, and reaches the agent in its current turn.
Open questions are asked as run asks them. To write a message first, press Esc,
or type /say MESSAGE if the question is not drawn in place. Ctrl-D and Ctrl-C
detach; the run continues.

With MESSAGE (or - for stdin), attach sends the message and exits, as scripts
need it. Without a terminal, attach only shows output. It ends with the run or
the agent and returns its exit code, or 0 if you detach.`,
		Example: "  claude-supervise attach\n" +
			"  claude-supervise attach r-3f9a2c1b\n" +
			"  claude-supervise attach r-3f9a2c1b \"use the staging database\"\n" +
			"  claude-supervise attach r-3f9a2c1b - < notes.md",
		Args: cobra.MaximumNArgs(math.MaxInt),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return runAttach(cmd, strings.Join(args, ""), &plain)
			}
			if err := notInside(cmd); err != nil {
				return err
			}
			text, err := message("message", args[1:], os.Stdin)
			if err != nil {
				return err
			}
			return runSay(cmd.Context(), args[0], text)
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "no colours, and nothing drawn in place")
	return commands.Completes(cmd, commands.EitherOf(commands.RunsOf(false, commands.AnyRun), commands.AgentsOf),
		commands.Nothing)
}

// maxMessage bounds a message, in bytes: what is longer belongs in a file that the message names.
const maxMessage = 1 << 20

// message reads the text that words give, or, for -, stdin: what it is, errors say.
func message(what string, words []string, stdin io.Reader) (string, error) {
	text := strings.Join(words, " ")
	if text == "-" {
		read, err := io.ReadAll(io.LimitReader(stdin, maxMessage+1))
		if err != nil {
			return "", fmt.Errorf("the %s cannot be read from stdin: %w", what, err)
		}
		text = string(read)
	}
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "", usage("the %s is empty; nothing was sent", what)
	case len(text) > maxMessage:
		return "", usage("the %s is longer than %d MiB; put it into a file and name that; nothing was sent",
			what, maxMessage>>20)
	case !utf8.ValidString(text):
		return "", usage("the %s is not UTF-8 text; nothing was sent", what)
	}
	return text, nil
}

// runSay sends one message and says what becomes of it.
func runSay(ctx context.Context, id, text string) error {
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	becomes, err := say(ctx, c, id, text, terminal.Who("attach"))
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.Result(becomes) })
}

// say leaves a message for a run or an agent, and gives what becomes of it, with what to type where the run does not go
// on.
func say(ctx context.Context, c client.Client, id, text, by string) (string, error) {
	return sayFor(ctx, c, id, text, by, typed)
}

// nextWords say what to do for a run that does not go on, and for an agent that has ended.
type nextWords struct {
	goOn   func(view.RunView) string
	follow func(agent string) string
}

// typed is what is typed on a terminal.
var typed = nextWords{thisProgram.Next, func(agent string) string {
	return fmt.Sprintf("for follow-up work in its conversation:\n  claude-supervise run --continue %s \"TASK\"", agent)
}}

// sayFor is say with other words for what to do.
func sayFor(ctx context.Context, c client.Client, id, text, by string, next nextWords) (string, error) {
	sight, agent, err := c.Reader().Snapshot(ctx, id)
	if err != nil {
		return "", err
	}
	becomes, err := sight.DeliveryForecast(agent)
	if err == nil {
		err = c.Say(ctx, id, text, by)
	}
	switch {
	case errors.Is(err, supervisor.ErrEnded):
		return "", fmt.Errorf("%w; %s", err, next.follow(cmp.Or(agent, sight.State.Run.Root)))
	case err != nil:
		return "", err
	case !sight.Run.GoesOn():
		becomes += "\n" + next.goOn(sight.Run)
	}
	return strings.TrimSpace(becomes), nil
}

// sayAbove sends a message that was typed on a terminal, and shows there what becomes of it, each after begins.
func sayAbove(ctx context.Context, p *terminal.Printer, c client.Client, to, text, begins, by string) {
	p.Notice(begins + "you: " + text) // before the agent may reply
	becomes, err := say(ctx, c, to, text, by)
	if err != nil {
		becomes = "Not sent: " + err.Error()
	}
	p.Notice(becomes)
}

// runAttach shows a run until it has ended or the person leaves.
func runAttach(cmd *cobra.Command, id string, plain *bool) error {
	ctx := cmd.Context()
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	if id == "" {
		if id, err = onlyLive(ctx, r); err != nil {
			return err
		}
	}
	log, err := r.RunLog(ctx, id)
	if err != nil {
		return err
	}
	run, err := r.Run(ctx, log.Run)
	if err != nil {
		return err
	}
	if run.Agents[0].ID == log.Agent {
		log.Agent = ""
	}
	if err := request.SetDisplay(cmd, run.Cwd); err != nil {
		return err
	}
	own, err := request.OwnConfig()
	if err != nil {
		return err
	}
	a, err := newAttached(r, log, id, *plain, !own.Notify.Unmarked)
	if err != nil {
		return err
	}
	a.names(run)
	return a.show(ctx)
}

// onlyLive returns the one run that goes on.
func onlyLive(ctx context.Context, r view.Reader) (string, error) {
	runs, err := r.Runs(ctx, false)
	if err != nil {
		return "", err
	}
	var live []string
	for _, v := range runs {
		if v.GoesOn() {
			live = append(live, v.ID)
		}
	}
	switch len(live) {
	case 1:
		return live[0], nil
	case 0:
		return "", usage("no run is active; `claude-supervise ps -a` lists all runs")
	}
	return "", usage("%d runs are active (%s): name one; `claude-supervise ps` lists them", len(live),
		strings.Join(live, ", "))
}

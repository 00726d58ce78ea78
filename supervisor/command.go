package supervisor

import (
	"context"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// commandVariable carries the command that a person let run. It is no argument, in which {} would stand for a prompt.
const commandVariable = "CLAUDE_SUPERVISE_COMMAND"

// maxCommandOutput bounds what an agent is told of a command's output, in bytes: its end.
const maxCommandOutput = 8 << 10

// runCommand runs the command that a person let run for an agent, in the agent's folder and as the person. It lives no longer
// than this supervisor: what an earlier one has left of it is ended, and the agent told so.
func (e *engine) runCommand(f Effect) func(context.Context) result {
	q := e.state.Questions[f.Question]
	cwd := e.state.folder(q.Agent)
	marker := procs.Marker{Run: e.run, Agent: q.Agent, Launch: 0}
	lost := q.Ran.Epoch != e.state.Run.Epoch
	return func(ctx context.Context) result {
		ran := checkpoints.Ran{Epoch: q.Ran.Epoch, Done: true}
		if lost {
			if _, err := procs.Sweep(marker); err != nil {
				e.log.Error().Err(err).Msg("sweep")
			}
			ran.Exit = "it was cut off when its supervisor ended; whether it took effect is not known"
			return result{body: RanCommand{Question: q.ID, Ran: ran}}
		}
		var output strings.Builder
		exited := make(chan procs.Exit, 1)
		process, err := procs.Start(procs.Spec{
			Command: []string{"/bin/sh", "-c", `eval "$` + commandVariable + `"`}, Dir: cwd, Env: e.Env, Marker: marker,
			Extra: []string{commandVariable + "=" + q.Context},
		}, func(m procs.Message) {
			switch m := m.(type) {
			case procs.Raw:
				keepEnd(&output, m.Text)
			case procs.Exit:
				exited <- m
			}
		})
		if err != nil {
			ran.Exit = "it could not be started: " + err.Error()
			return result{body: RanCommand{Question: q.ID, Ran: ran}}
		}
		var exit procs.Exit
		select {
		case exit = <-exited:
			ran.Exit = outcome(&exit)
			if left := process.End(context.WithoutCancel(ctx), procs.Finish); len(left) > 0 {
				ran.Exit += fmt.Sprintf("; what it left running was ended (%s, %s)",
					plural(len(left), "process", "processes"), plainLine(left[0].Cmdline))
			}
		case <-ctx.Done():
			process.End(context.WithoutCancel(ctx), procs.Park)
			exit = <-exited
			ran.Exit = "it was ended: the agent or its supervisor was stopped"
		}
		keepEnd(&output, exit.Stderr)
		ran.Output = strings.ToValidUTF8(asShown(output.String()), "\uFFFD")
		return result{body: RanCommand{Question: q.ID, Ran: ran}}
	}
}

// keepEnd adds to a text of which only the end is kept.
func keepEnd(b *strings.Builder, more string) {
	b.WriteString(more)
	if text := b.String(); len(text) > maxCommandOutput {
		b.Reset()
		b.WriteString(text[len(text)-maxCommandOutput:])
	}
}

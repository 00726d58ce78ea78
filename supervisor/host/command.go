package host

import (
	"context"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/command"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/text"
)

// commandVariable carries the command that a person let run. It is no argument, in which {} would stand for a prompt.
const commandVariable = "CLAUDE_SUPERVISE_COMMAND"

// maxCommandOutput bounds what an agent is told of a command's output, in bytes: its end.
const maxCommandOutput = 8 << 10

// runCommand runs the command that a person let run for an agent, in the agent's folder and as the person. It lives no
// longer than this supervisor: what an earlier one has left of it is ended, and the agent told so.
func (m Machine) runCommand(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.RanCommand {
	q := s.Questions.Get(f.Question)
	marker := procs.Marker{Run: s.Run.ID, Agent: q.Agent, Launch: 0}
	ran := checkpoints.Ran{Epoch: q.Ran.Epoch, Done: true}
	if q.Ran.Epoch != s.Run.Epoch {
		if _, err := procs.Sweep(marker); err != nil {
			m.Log.Error().Err(err).Msg("sweep")
		}
		ran.Exit = "it was cut off when its supervisor ended; whether it took effect is not known"
		return supervisor.RanCommand{Question: q.ID, Ran: ran}
	}
	var output strings.Builder
	exited := make(chan procs.Exit, 1)
	process, err := procs.Start(command.Agent{}, procs.Spec{
		Command: []string{"/bin/sh", "-c", `eval "$` + commandVariable + `"`}, Dir: s.Folder(q.Agent),
		Env: m.Env, Marker: marker,
		Extra: []string{commandVariable + "=" + q.Context},
	}, func(message procs.Message) {
		switch m := message.(type) {
		case procs.Raw:
			keepEnd(&output, m.Text)
		case procs.Exit:
			exited <- m
		}
	})
	if err != nil {
		ran.Exit = "it could not be started: " + err.Error()
		return supervisor.RanCommand{Question: q.ID, Ran: ran}
	}
	var exit procs.Exit
	select {
	case exit = <-exited:
		ran.Exit = listen.ExitInWords(&exit)
		if left := process.End(context.WithoutCancel(ctx), procs.Finish); len(left) > 0 {
			ran.Exit += fmt.Sprintf("; what it left running was ended (%s, %s)",
				text.Plural(len(left), "process", "processes"), text.PlainLine(left[0].Cmdline))
		}
	case <-ctx.Done():
		process.End(context.WithoutCancel(ctx), procs.Park)
		exit = <-exited
		ran.Exit = "it was ended: the agent or its supervisor was stopped"
	}
	keepEnd(&output, exit.Stderr)
	ran.Output = strings.ToValidUTF8(asShown(output.String()), "\uFFFD")
	return supervisor.RanCommand{Question: q.ID, Ran: ran}
}

// keepEnd adds to a text of which only the end is kept.
func keepEnd(b *strings.Builder, more string) {
	b.WriteString(more)
	if text := b.String(); len(text) > maxCommandOutput {
		b.Reset()
		b.WriteString(text[len(text)-maxCommandOutput:])
	}
}

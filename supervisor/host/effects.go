package host

import (
	"context"
	"os"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/worktree"
)

// check looks for the deliverables of a report.
func (m Machine) check(ctx context.Context, s supervisor.State, f effect.Effect) supervisor.Checked {
	search := searchOf(s, f.Agent)
	var due []string
	for _, d := range task.Due(s.Agents.Get(f.Agent), f.Part) {
		if d.Or != "" {
			if there, _ := search.OnDisk(ctx, d.Or); there {
				continue
			}
		}
		due = append(due, d.Path)
	}
	return supervisor.Checked{Agent: f.Agent, Part: f.Part, Missing: search.Missing(ctx, due)}
}

// searchOf returns the search for what an agent names.
func searchOf(s supervisor.State, agent string) *worktree.FileSearch {
	return &worktree.FileSearch{Cwd: s.Folder(agent), Folders: []string{s.Run.Cwd}}
}

// confirm looks whether a delivery had reached the conversation before its launch ended.
func (m Machine) confirm(_ context.Context, s supervisor.State, f effect.Effect) supervisor.Confirmed {
	d, found, hook := s.Deliveries.Get(f.Delivery), false, (*procs.HookDecision)(nil)
	path, err := m.transcript(s, s.Agents.Get(f.Agent), s.Launch(f.Agent))
	switch {
	case err != nil:
	case d.Tool != nil:
		if _, found, err = claude.AnsweredIn(path, d.Tool.ToolUse); found {
			hook, err = claude.HookDecidedIn(path, d.Tool.ToolUse)
		}
	case d.File != "":
		group := s.Group(d.Groups[0])
		found, err = claude.TakenIn(path, group[0].AskedAt, prompts.InLine(prompts.AnswersInOne(group)))
	case len(d.Results) > 0:
		if found, err = claude.RepliedIn(path, d.UUID); !found && err == nil {
			found, err = m.repliedUnwritten(s, d, path)
		}
	default:
		found, err = claude.ReceivedIn(path, d.UUID)
	}
	if err != nil {
		// Without a transcript it was not delivered; sent again, a conversation that has it ignores it.
		m.Log.Info().Err(err).Str("delivery", d.Key).Msg("no transcript to confirm it by")
	}
	return supervisor.Confirmed{UUID: d.UUID, Found: found, Hook: hook}
}

// repliedUnwritten reports whether a conversation has the results that it was told of, and the agent has said something
// after them that its transcript lacks: the CLI writes that up to 100 ms late. What it did then is not done again.
func (m Machine) repliedUnwritten(s supervisor.State, d *supervisor.Delivery, path string) (bool, error) {
	if received, err := claude.ReceivedIn(path, d.UUID); !received {
		return false, err
	}
	return claude.SpokeIn(m.Dirs.AgentLog(s.Run.ID, d.Agent), d.Launch)
}

// transcript finds the transcript of an agent: where the CLI said that it is, else by the session's id.
func (m Machine) transcript(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) (string, error) {
	if _, err := os.Stat(l.Transcript); err == nil {
		return l.Transcript, nil
	}
	return client.Transcript(m.Env, m.Dirs, s, a.SessionID)
}

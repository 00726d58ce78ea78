package host

import (
	"cmp"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
)

// lookUp reads in a transcript which subagents had made calls and which had started those, what they had done before,
// and whether they had come to their end; and which cannot be revived.
func lookUp(transcript string, asked []*supervisor.Question) (map[string]checkpoints.Subagent, error) {
	found := map[string]checkpoints.Subagent{}
	for _, q := range asked {
		sub := *q.AskedBy()
		err := forgetUnkept(transcript, &sub)
		if err == nil && q.Tool != nil {
			sub, err = lookUpCaller(transcript, q.Tool.ToolUse, sub, claude.MaxLevels)
		}
		if err != nil {
			return found, err
		}
		found[q.ID] = sub
	}
	return found, nil
}

// forgetUnkept takes its id from a subagent, and from those that had started it, where no transcript is kept by which
// it could be revived.
func forgetUnkept(transcript string, sub *checkpoints.Subagent) error {
	kept, err := claude.SubagentKept(transcript, sub.ID)
	if !kept && err == nil {
		sub.ID = ""
	}
	if err == nil && sub.By != nil {
		by := *sub.By
		sub.By, err = &by, forgetUnkept(transcript, &by)
	}
	return err
}

// lookUpCaller reads what is to be known of the subagent that has made a call, as far as it is not known.
func lookUpCaller(transcript, call string, sub checkpoints.Subagent, levels int) (checkpoints.Subagent, error) {
	var w work
	spoke := false // last of all: it ends with a text
	kept, err := claude.SubagentSaid(transcript, call, func(m procs.Message) {
		_, spoke = m.(procs.Text)
		w.addMessage(m, true)
	})
	if err != nil {
		return sub, err
	}
	sub.ID, sub.ToolUse = cmp.Or(kept.ID, sub.ID), cmp.Or(sub.ToolUse, kept.ToolUse)
	sub.Type, sub.Task, sub.Depth = cmp.Or(sub.Type, kept.Type), cmp.Or(sub.Task, kept.Task), cmp.Or(sub.Depth, kept.Depth)
	sub.Done = w.bySubagent()
	_, returned, err := claude.AnsweredIn(transcript, sub.ToolUse)
	if err != nil {
		return sub, err
	}
	sub.Interrupted = !spoke || !returned
	if levels == 1 || sub.ToolUse == "" {
		return sub, nil
	}
	by, err := lookUpCaller(transcript, sub.ToolUse, starterOf(sub), levels-1)
	if err != nil || by.ID == "" && sub.By == nil {
		return sub, err // the main conversation has started it
	}
	by.Interrupted = by.Interrupted || sub.Interrupted // it waits for what has not come to its end
	sub.By = &by
	return sub, nil
}

// starterOf returns what is known already of the subagent that started this one.
func starterOf(sub checkpoints.Subagent) checkpoints.Subagent {
	if sub.By == nil {
		return checkpoints.Subagent{}
	}
	return *sub.By
}

// bySubagent tells the work of a subagent to who has it done again.
func (w work) bySubagent() string {
	var b strings.Builder
	text.TellList(&b, "Files that it wrote:", w.files, maxSurveyFiles)
	text.TellList(&b, "Commands that it ran, the last ones:", w.commands, maxSurveyCommands)
	if said := w.lastSaid(); said != "" {
		fmt.Fprintf(&b, "The last thing that it said:\n%s\n", said)
	}
	return strings.TrimSpace(b.String())
}

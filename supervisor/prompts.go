package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what of a state goes into what is said to an agent (package prompts), and into the answer of a call.

func init() {
	handlers[questions.AskClarification] = handler{signal: signals.Clarification, asked: ask.InContext}
}

// identity tells an agent who it is.
func (s State) identity(a *Agent) string {
	parent := a.Parent
	if parent != "" && s.Agents.Get(parent).Group {
		parent = ""
	}
	return prompts.Identity(a.ID, parent, s.Serves())
}

// AfterCompaction is the identity for a conversation that was compacted.
func (s State) AfterCompaction(a *Agent) string { return prompts.AfterCompaction + s.identity(a) }

// Briefing is that of the subagents of an agent; "" where our tools are not served.
func (s State) Briefing(a *Agent) string {
	if !s.Serves() {
		return ""
	}
	return prompts.Briefing(a.ID)
}

// opening is the first prompt of a conversation.
func (s State) opening(a *Agent) string {
	o := prompts.Opening{
		Identity: s.identity(a), Continues: a.From != "", Task: a.Task, Folder: prompts.Folder(a, EnvShared),
		Ended: []string{s.poolEnded(a)}, Checkpoint: a.Checkpoint, Told: s.told(a.ID), Delegated: s.delegatedBefore(a),
	}
	if a.Delegated != nil {
		ends := prompts.EndsTold(0)
		for _, id := range a.Delegated.After {
			o.Ended = append(o.Ended, ends.Add(s.childEnded(s.Agents.Get(id)), id))
		}
	}
	return o.String()
}

// told lists the answers that an earlier conversation of the agent was given.
func (s State) told(agent string) string {
	child := func(q *Question) *Agent {
		if _, start := s.delegated(q); !start {
			return nil
		}
		return s.Agents.Get(q.Child)
	}
	return prompts.Told(s.FindQuestionsOf(agent, func(q *Question) bool {
		if c := child(q); c != nil && c.Parent == agent {
			return false // the list of its children tells
		}
		kind := questions.KindOf(q.Kind)
		return q.State == checkpoints.QuestionDelivered && (!kind.InCall || kind.Plans) && !kind.Runs
	}), child)
}

// delegatedBefore is what an agent is told of its children where its conversation begins again: it knows of none of
// them any more.
func (s State) delegatedBefore(a *Agent) string {
	children := s.Children(a.ID)
	if len(children) == 0 || !s.Begun(a.ID) {
		return ""
	}
	lines, _ := s.work(a, "", nil)
	var b strings.Builder
	b.WriteString("\n\nWork that you have delegated; do not delegate it again:\n" + lines)
	for _, c := range children[max(len(children)-maxRetold, 0):] {
		if c.Status.Ended() && !s.EndUntold(c) {
			b.WriteString("\n\n" + s.childEnded(c) + prompts.ResumeStep(c))
		}
	}
	return b.String()
}

// maxRetold is of how many children an agent whose conversation begins again is told all that it was told before.
const maxRetold = 20

// goOn is what an agent reads whose process was interrupted.
func (s State) goOn(a *Agent) string {
	children := ""
	if len(s.Children(a.ID)) > 0 {
		children, _ = s.work(a, "", nil)
	}
	return prompts.GoOn(a.ID, children)
}

// childEnded is what an agent reads of the end of its child.
func (s State) childEnded(c *Agent) string {
	end := prompts.End{Took: s.Duration(c), Counts: exit.Worse(c, checkpoints.Succeeded) && c.Gates(),
		Program: s.program(),
		Run:     s.Run.ID}
	if c.Worktree != nil {
		end.Left = label.LeftIn(c.Worktree)
	}
	return prompts.ChildEnded(c, end)
}

// answerText is the prompt that gives a group of questions its answers. It restates each question, so that it stands
// alone in a conversation in which the asking was lost.
func (s State) answerText(group []*Question) string {
	if len(group) == 0 {
		panic("supervisor: an answer to no question")
	}
	if prompt := handlers[group[0].Kind].prompt; prompt != nil {
		return prompt(s, group)
	}
	if group[0].Assumed != nil {
		return prompts.Assumed(group[0]) + prompts.NotShown(group)
	}
	return prompts.Clarified(group, ask.SignalOf(group[0])) + prompts.NotShown(group)
}

// forSubagent writes a group's questions with their answers, for the subagent that has asked them.
func (s State) forSubagent(group []*Question) string {
	switch h := handlers[group[0].Kind]; {
	case h.within != nil:
		return "\n" + h.within(group) + "\n"
	case h.prompt != nil:
		return "\n" + h.prompt(s, group) + "\n"
	case group[0].Assumed != nil:
		return prompts.Numbered(group) + "It assumed: " + group[0].Assumed.Text + "\n" +
			prompts.AssumedWithin(group[0]) + "\n"
	}
	return prompts.Numbered(group)
}

// replyTo answers the call that a group of questions came by. A tool of ours returns a text.
func (s State) replyTo(group []*Question) json.RawMessage {
	first, message := group[0], ""
	switch {
	case !first.Tool.Served:
		return toolReply(first.Tool, group)
	case handlers[first.Kind].prompt != nil:
		message = s.answerText(group)
	case ask.SignalOf(first).GoesOn():
		message = prompts.AnsweredAtOnce(group)
	default:
		message = prompts.Served(group)
	}
	return text.JSON(ask.Reply{Behavior: Allow, Message: prompts.WithImages(message, s.ImagesOf(group))})
}

// toolReply answers a call with the answers of its questions.
func toolReply(call *checkpoints.ToolCall, group []*Question) json.RawMessage {
	switch reply := handlers[group[0].Kind].reply; {
	case reply != nil:
		return text.JSON(reply(call, group))
	case !slices.ContainsFunc(group, func(q *Question) bool { return !q.Declined }):
		return text.JSON(ask.Reply{Behavior: Deny, Message: prompts.Declined(group)})
	}
	return text.JSON(ask.Reply{Behavior: Allow, UpdatedInput: ask.WithAnswers(call.Input, group)})
}

// work is what check_work tells of an agent's children: of one, or of all; of those of ended that have, all, unless
// clients tell it where they were started.
func (s State) work(a *Agent, id string, ended []string) (written string, isError bool) {
	var lines []string
	ends := prompts.EndsTold(0)
	for _, c := range s.Children(a.ID) {
		if id != "" && c.ID != id {
			continue
		}
		what := c.Reason
		if c.Status == checkpoints.Running {
			what = s.Doing(c)
		}
		line := fmt.Sprintf("%s %s: %s (%s)", c.ID, c.Status, text.FirstLine(what),
			text.Truncate(text.FirstLine(c.Task), text.MaxNamed))
		switch {
		case c.Status.Ended() && c.Delegated.Nested.HasClients():
			line += "; all of it is in the output of the command that you have started it with"
		case c.Status.Ended() && slices.Contains(ended, c.ID):
			line += "\n\n" + ends.Add(s.childEnded(c)+prompts.ResumeStep(c), c.ID)
		case c.Status.Ended() && s.EndUntold(c):
			line += "; all of it is in your next message"
		}
		lines = append(lines, line)
	}
	switch {
	case len(lines) > 0:
		return strings.Join(lines, "\n"), false
	case id != "":
		return fmt.Sprintf("You have started no agent %s.", text.FirstLine(id)), true
	}
	return "You have delegated nothing: no work of other agents is under way, and none has ended.", false
}

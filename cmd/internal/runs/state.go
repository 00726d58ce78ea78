// Package runs is what the commands print of runs and their agents: the lists and trees of `ps`, the facts of `show`,
// the lines of `wait` and `logs`. It draws the views of package view, wherever they come from.
package runs

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Program is how a person calls the program whose commands the texts name, such as "claude-supervise".
type Program string

// StateOf says in one line how a node was left.
func StateOf(a view.Awaited) string {
	agent, is := a.View.Agent(a.Agent)
	if !is {
		return State(a.View)
	}
	return terminal.CleanLine(fmt.Sprintf("%s %s: %s (%s)", agent.ID, agent.Status, view.Because(agent.Reason),
		terminal.Money(agent.CostUSD)), 0)
}

// NextFor says what to type for a node that has not ended and does not go on by itself; "" if there is nothing.
func (p Program) NextFor(a view.Awaited) string {
	if agent, is := a.View.Agent(a.Agent); is && agent.ExitCode != nil {
		return ""
	}
	return p.Next(a.View)
}

// NextOf is NextFor for what may continue by itself once it is answered.
func (p Program) NextOf(l service.Left) string {
	if l.ByItself {
		return p.Answers(l.View)
	}
	return p.NextFor(l.Awaited)
}

// State says in one line how a run was left.
func State(v view.RunView) string {
	text := fmt.Sprintf("%s %s: %s", v.ID, Status(v), Stands(v))
	if !v.GoesOn() {
		text += Spent(v.StartedAt, v.EndedAt, v.Since, v.CostUSD)
	}
	return terminal.CleanLine(text, 0)
}

// Next says what to type for a run that does not go on by itself; "" if it has ended, or its reason says so
// already.
func (p Program) Next(v view.RunView) string {
	resume := p.Resume(v)
	if v.EndedAt != nil || strings.Contains(v.Reason, resume) {
		return ""
	}
	if len(v.OpenQuestions) == 0 {
		return "Everything is saved. To continue, run:\n  " + resume
	}
	var b strings.Builder
	b.WriteString("Answer with:\n")
	for _, q := range v.OpenQuestions {
		b.WriteString("  " + string(p) + " answer " + q + " VALUE\n")
	}
	return b.String() + "Then run:\n  " + resume
}

// Answers says how the open questions of a run are answered that continues by itself then; "" if it has none.
func (p Program) Answers(v view.RunView) string {
	if len(v.OpenQuestions) == 0 {
		return ""
	}
	words := "It continues by itself once it is answered:"
	for _, q := range v.OpenQuestions {
		words += fmt.Sprintf("\n  %s answer %s VALUE", p, q)
	}
	return words
}

// Resume is the command that continues a run.
func (p Program) Resume(v view.RunView) string {
	return view.ResumeCommand(string(p), v.ID, v.FolderGone)
}

// Spent says what a run has taken until its end, or until it was left.
func Spent(started time.Time, ended *time.Time, left time.Time, cost float64) string {
	if ended != nil {
		left = *ended
	}
	return fmt.Sprintf(" (%s, %s)", terminal.Duration(left.Sub(started)), terminal.Money(cost))
}

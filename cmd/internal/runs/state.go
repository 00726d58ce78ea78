// Package runs is what the commands print of runs and their agents: the lists and trees of `ps`, the facts of `show`,
// the lines of `wait` and `logs`. It draws the views of package view, wherever they come from: a program that reads
// runs of elsewhere prints them in the same form, with the same JSON and exit codes, by a [Source] and an [Awaiter] of
// its own.
package runs

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// Program is how a person calls the program whose commands the texts name, such as "claude-supervise".
type Program string

// InJSON is what is printed of a node for programs.
func InJSON(a view.Awaited) any {
	if agent, is := a.View.Agent(a.Agent); is {
		return agent
	}
	return a.View
}

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
	resume := string(p) + " resume " + v.ID
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

// Spent says what a run has taken until its end, or until it was left.
func Spent(started time.Time, ended *time.Time, left time.Time, cost float64) string {
	if ended != nil {
		left = *ended
	}
	return fmt.Sprintf(" (%s, %s)", terminal.Duration(left.Sub(started)), terminal.Money(cost))
}

// Awaited is an agent of a run that was left, or the run where it is its first.
func Awaited(v view.RunView, agent string) view.Awaited {
	a := view.Awaited{Node: view.Node{Run: v.ID, Agent: agent}, View: v}
	if len(v.Agents) > 0 && v.Agents[0].ID == agent {
		a.Agent = ""
	}
	return a
}

package main

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/supervisor"
)

// jsonEvent is a line of `run --json`. Fields may be added, never renamed.
type jsonEvent struct {
	Time  time.Time             `json:"time"`
	Run   string                `json:"run"`
	Agent string                `json:"agent"`
	Type  supervisor.NoticeType `json:"type"`

	Name            string                   `json:"name,omitempty"`
	Cwd             string                   `json:"cwd,omitempty"`
	Launch          int                      `json:"launch,omitempty"`
	Session         string                   `json:"session_id,omitempty"`
	Text            string                   `json:"text,omitempty"`
	Question        *supervisor.QuestionView `json:"question,omitempty"`
	Status          string                   `json:"status,omitempty"`
	Reason          string                   `json:"reason,omitempty"`
	Summary         string                   `json:"summary,omitempty"`
	Deliverables    string                   `json:"deliverables,omitempty"`
	Missing         []string                 `json:"missing,omitempty"`
	Metrics         string                   `json:"metrics_achieved,omitempty"`
	Issues          string                   `json:"issues_encountered,omitempty"`
	Recommendations string                   `json:"recommendations,omitempty"`
	ExitCode        *int                     `json:"exit_code,omitempty"`
	CostUSD         *float64                 `json:"cost_usd,omitempty"`
}

// event gives a notice as a line of JSON.
func event(n supervisor.Notice) jsonEvent {
	e := jsonEvent{Time: n.Time, Run: n.Run, Agent: n.Agent, Type: n.Type, Text: n.Text, Launch: n.Launch}
	if n.Question != nil {
		v := supervisor.View(n.Question)
		e.Question = &v
	}
	if r := n.Report; r != nil {
		e.Status, e.Summary, e.Deliverables, e.Missing = r.Status, r.Summary, r.Deliverables, r.Missing
		e.Metrics, e.Issues, e.Recommendations = r.Metrics, r.Issues, r.Recommendations
	}
	switch n.Type {
	case supervisor.RunStarted:
		e.Name, e.Cwd = n.RunState.Name, n.RunState.Cwd
	case supervisor.AgentStarted, supervisor.ResumedNow:
		e.Session = n.State.SessionID
	case supervisor.ParkedNow:
		e.Reason = n.State.Reason
	case supervisor.RunDone:
		code := n.ExitCode
		e.Status, e.Reason, e.ExitCode, e.CostUSD, e.Text = string(n.RunState.Status), n.RunState.Reason, &code, &n.State.CostUSD, ""
	}
	return e
}

// tell shows a notice to the person, or to the program that reads --json.
func (s *session) tell(n supervisor.Notice) {
	s.follow(n)
	if s.asJSON {
		s.print(event(n))
		if !n.Trouble {
			return
		}
	}
	if n.Type == supervisor.QuestionDone && s.prompted[n.Question.ID] {
		s.prompter.Gone(n.Question.ID, gone(n.Question)) // the prompt tells of it, unless it was answered there
		return
	}
	switch text := words(n); {
	case text == "":
	case n.Trouble:
		s.printer.Notice("! " + text)
	default:
		s.printer.Progress(text)
	}
}

// words says a notice in one line; "" for what is shown elsewhere.
func words(n supervisor.Notice) string {
	switch n.Type {
	case supervisor.RunStarted:
		return fmt.Sprintf("run %s · %s · follow it with: claude-supervise ps", n.Run, n.RunState.Cwd)
	case supervisor.AgentStarted:
		return "agent " + n.Agent + " started"
	case supervisor.ResumedNow:
		return strings.TrimSpace(fmt.Sprintf("agent %s goes on %s", n.Agent, n.Text))
	case supervisor.TextSaid:
		return n.Prose
	case supervisor.QuestionDone:
		return fmt.Sprintf("[%s] %s\n  %s", n.Question.ID, n.Question.Text, gone(n.Question))
	case supervisor.ParkedNow:
		return "parked, no process is left · " + n.Text
	case supervisor.Reported:
		return reported(n)
	case supervisor.Progress:
		return n.Text
	}
	return ""
}

// gone says what became of a question that is no longer open.
func gone(q *supervisor.Question) string {
	switch {
	case q.AnsweredAt == nil:
		return "withdrawn: nobody waits for its answer any more"
	case q.Skipped:
		return "skipped by " + q.AnsweredBy
	}
	return fmt.Sprintf("answered by %s: %s", q.AnsweredBy, q.Answer)
}

func reported(n supervisor.Notice) string {
	text := "reported " + n.Report.Status
	for _, part := range []struct{ title, text string }{
		{"deliverables", n.Report.Deliverables}, {"missing on disk", strings.Join(n.Report.Missing, ", ")},
		{"metrics", n.Report.Metrics}, {"issues", n.Report.Issues}, {"recommendations", n.Report.Recommendations},
	} {
		if t := strings.TrimSpace(part.text); t != "" {
			text += "\n  " + part.title + ": " + strings.ReplaceAll(t, "\n", "\n    ")
		}
	}
	return text
}

// follow keeps the status line at what the agent does now.
func (s *session) follow(n supervisor.Notice) {
	switch n.Type {
	case supervisor.AgentStarted, supervisor.ResumedNow:
		s.status.Text, s.status.Since = "starting", n.Time
	case supervisor.Progress:
		s.status.Text = strings.TrimSpace(n.Text)
	case supervisor.TextSaid:
		s.status.Text = "thinking"
	case supervisor.ParkedNow, supervisor.RunDone:
		s.status.Text = ""
		s.status.Since = time.Time{}
	}
	if n.State != nil {
		s.status.Tokens, s.status.CostUSD = n.State.InputTokens+n.State.OutputTokens, n.State.CostUSD
	}
	if s.status.Text == "" {
		s.status.Tokens, s.status.CostUSD = 0, 0
	}
	s.printer.Status(s.status)
}

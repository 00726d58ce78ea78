package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

const commonFields = 5 // that every event has

// jsonEvent is a line of `run --json`: the first five fields, and those that eventFields names for its type: empty or
// not, but for those with omitempty. Fields may be added, never renamed.
type jsonEvent struct {
	Time  time.Time                   `json:"time"`
	Run   string                      `json:"run"`
	Agent string                      `json:"agent"`
	Type  supervisor.NotificationType `json:"type"`
	Text  string                      `json:"text"`

	Name            string                 `json:"name"`
	Cwd             string                 `json:"cwd"`
	Parent          string                 `json:"parent"`
	Task            string                 `json:"task"`
	Delegation      supervisor.Stage       `json:"delegation"`
	Child           string                 `json:"child"`
	By              string                 `json:"by"`
	ToolUses        int                    `json:"tool_uses"`
	Launch          int                    `json:"launch"`
	Session         string                 `json:"session_id"`
	Question        *view.QuestionView     `json:"question"`
	Status          string                 `json:"status"`
	Reason          string                 `json:"reason"`
	Summary         string                 `json:"summary"`
	Deliverables    string                 `json:"deliverables"`
	Missing         []string               `json:"missing"`
	Metrics         string                 `json:"metrics_achieved"`
	Criteria        []supervisor.Criterion `json:"success_criteria"`
	Issues          string                 `json:"issues_encountered"`
	Recommendations string                 `json:"recommendations"`
	Duration        string                 `json:"total_duration"` // as the agent reports it
	ExitCode        *int                   `json:"exit_code"`
	CostUSD         *float64               `json:"cost_usd"`
	Tasks           *supervisor.Table      `json:"tasks"`
	APIStatus       int                    `json:"api_status,omitempty"` // with which the API has refused a request
}

// reportFields are those of an agent's report.
var reportFields = []string{"status", "summary", "deliverables", "missing", "metrics_achieved", "success_criteria",
	"issues_encountered", "recommendations", "total_duration"}

// eventFields are the fields of an event beside time, run, agent, type and text.
var eventFields = map[supervisor.NotificationType][]string{
	supervisor.RunStarted:    {"name", "cwd"},
	supervisor.AgentStarted:  {"launch", "parent", "session_id"},
	supervisor.ResumedNow:    {"launch", "parent", "session_id"},
	supervisor.QuestionOpen:  {"question"},
	supervisor.QuestionDone:  {"question"},
	supervisor.Progress:      {"api_status"},
	supervisor.ParkedNow:     {"reason"},
	supervisor.LimitedNow:    {"reason"},
	supervisor.WorkDelegated: {"delegation", "task", "child", "by", "reason"},
	supervisor.ChildDone:     {"parent", "status", "reason", "cost_usd", "tool_uses"},
	supervisor.Reported:      reportFields,
	supervisor.RunDone: append([]string{"name", "cwd", "reason", "exit_code", "cost_usd", "tasks"},
		reportFields...),
}

// MarshalJSON writes the fields that events of the type have.
func (e jsonEvent) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	fields := reflect.ValueOf(e)
	for i := range fields.NumField() {
		name, ifAny := strings.CutSuffix(fields.Type().Field(i).Tag.Get("json"), ",omitempty")
		if i >= commonFields && !slices.Contains(eventFields[e.Type], name) || ifAny && fields.Field(i).IsZero() {
			continue
		}
		value, err := terminal.JSON(fields.Field(i).Interface())
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, ",%q:%s", name, value)
	}
	return append(append([]byte("{"), out.Bytes()[1:]...), '}'), nil
}

// event gives a notice as a line of JSON.
func event(n supervisor.Notification) jsonEvent {
	e := jsonEvent{Time: n.Time, Run: n.Run, Agent: n.Agent, Type: n.Type, Text: n.Text, Launch: n.Launch}
	if n.Question != nil && n.Type != supervisor.WorkDelegated {
		v := view.View(n.Question)
		e.Question = &v
	}
	if r := n.Report; r != nil {
		e.Status, e.Summary, e.Deliverables, e.Missing = r.Status, r.Summary, r.Deliverables, r.Missing
		e.Metrics, e.Issues, e.Recommendations, e.Duration = r.Metrics, r.Issues, r.Recommendations, r.Duration
		e.Criteria, _ = supervisor.MatchCriteria(n.State)
	}
	switch n.Type {
	case supervisor.RunStarted:
		e.Name, e.Cwd = n.RunState.Name, n.RunState.Cwd
	case supervisor.AgentStarted, supervisor.ResumedNow:
		e.Session, e.Parent = n.State.SessionID, n.State.Parent
	case supervisor.Progress:
		e.APIStatus = n.APIStatus
	case supervisor.ParkedNow, supervisor.LimitedNow:
		e.Reason = n.State.Reason
	case supervisor.WorkDelegated:
		e.Delegation, e.Task, e.Child, e.By, e.Reason, e.Text = n.Stage, n.Task, n.Child, n.By, n.Text, ""
	case supervisor.ChildDone:
		a := n.State
		e.Parent, e.Status, e.Reason, e.Text = a.Parent, string(a.Status), a.Reason, ""
		e.CostUSD, e.ToolUses = &a.CostUSD, a.ToolUses
	case supervisor.RunDone:
		code := n.ExitCode
		e.Name, e.Cwd = n.RunState.Name, n.RunState.Cwd
		e.Status, e.Reason, e.ExitCode, e.CostUSD, e.Text = string(n.RunState.Status), n.RunState.Reason,
			&code, &n.CostUSD, ""
		e.Tasks = n.Tasks
	}
	return e
}

// tell shows a notice to the person, or to the program that reads --json.
func (s *session) tell(n supervisor.Notification) {
	s.follow(n)
	if n.Type == supervisor.ParkedNow {
		s.notices.Parked(n)
	}
	if n.Type == supervisor.RunStarted {
		underWay()
		s.notices.Begin(n.Run)
		s.prompter.Messages(terminal.Addressee{Run: n.Run}, func(ctx context.Context, text string) {
			sayAbove(ctx, s.printer, s.Client, n.Run, text, "", terminal.Who("run"))
		})
	}
	if s.asJSON {
		s.print(event(n))
		if !n.Trouble {
			return
		}
	}
	if n.Type == supervisor.QuestionDone {
		terminal.Drafts{Folder: s.Dirs.RunDir}.Drop(n.Run, n.Question.ID)
	}
	if n.Type == supervisor.QuestionDone && s.prompted[n.Question.ID] {
		// The prompt tells of it, unless it was answered there.
		s.prompter.Gone(n.Question.ID, asking.Gone(view.View(n.Question)))
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

// words says a notice in one line, and of which agent it is where there are several; "" for what is shown elsewhere.
func words(n supervisor.Notification) string {
	text := inWords(n)
	if text == "" || n.Who == "" {
		return text
	}
	switch n.Type {
	case supervisor.QuestionDone, supervisor.AgentStarted, supervisor.ResumedNow: // they name who it is
		return text
	}
	return n.Who + ": " + text
}

// limited says until when an agent waits for the end of a usage limit, by the person's own clock.
func limited(n supervisor.Notification) string {
	if n.State.NotBefore == nil {
		return n.Text
	}
	return n.State.LimitedBy + "; resumes at " + view.Clock(*n.State.NotBefore)
}

func inWords(n supervisor.Notification) string {
	switch n.Type {
	case supervisor.RunStarted:
		return fmt.Sprintf("run %s · %s\nFrom another terminal: claude-supervise attach %[1]s (or answer, stop, ps)",
			n.Run, placed(n.RunState.Cwd))
	case supervisor.AgentStarted:
		if n.Who != "" && n.State.Parent != "" {
			return "agent " + n.Agent + " started, for " + n.State.Parent + ": " + terminal.FirstLine(n.State.Task)
		}
		return "agent " + n.Agent + " started"
	case supervisor.ResumedNow:
		return strings.TrimSpace(fmt.Sprintf("agent %s continues %s", n.Agent, n.Text))
	case supervisor.TextSaid:
		return ofSubagent(n, n.Prose)
	case supervisor.WorkDelegated:
		return delegated(n)
	case supervisor.ChildDone:
		return fmt.Sprintf("%s: %s", n.State.Status, view.Because(n.State.Reason))
	case supervisor.QuestionDone:
		if questions.KindOf(n.Question.Kind).Hands && n.AtOnce { // told as a delegation
			return ""
		}
		return fmt.Sprintf("[%s] %s\n  %s", n.Question.ID, n.Question.Text, asking.Gone(view.View(n.Question)))
	case supervisor.ParkedNow:
		return "parked; no process is running · " + n.Text
	case supervisor.LimitedNow:
		return limited(n)
	case supervisor.Reported:
		return reported(n)
	case supervisor.Progress:
		return ofSubagent(n, view.Because(n.Text))
	}
	return ""
}

// delegated says what became of a delegation that nobody was asked about; the question tells of the others.
func delegated(n supervisor.Notification) string {
	switch {
	case !n.AtOnce:
		return ""
	case n.Stage == supervisor.DelegationDenied:
		return fmt.Sprintf("may not delegate: %s (%s: %s)", terminal.FirstLine(n.Task), n.By, n.Text)
	case n.Stage == supervisor.DelegationApproved:
		return "delegates to " + n.Child + ": " + terminal.FirstLine(n.Task)
	}
	return ""
}

// ofSubagent says of which subagent a text is, if it is one's.
func ofSubagent(n supervisor.Notification, text string) string {
	if n.Subagent == "" || text == "" {
		return text
	}
	return "(" + n.Subagent + ") " + text
}

func reported(n supervisor.Notification) string {
	text := "reported " + n.Report.Status
	criteria, metrics := supervisor.MatchCriteria(n.State)
	for _, part := range []struct{ title, text string }{
		{"deliverables", n.Report.Deliverables}, {"missing on disk", strings.Join(n.Missing, ", ")},
		{"success criteria", runs.Criteria(criteria)}, {"metrics", metrics}, {"issues", n.Report.Issues},
		{"recommendations", n.Report.Recommendations}, {"total duration", n.Report.Duration},
	} {
		if t := strings.TrimSpace(part.text); t != "" {
			text += "\n  " + part.title + ":" + beside(t)
		}
	}
	return text
}

// beside puts a text behind its title: a line beside it, several below. A list of one needs no dash.
func beside(t string) string {
	if strings.Contains(t, "\n") {
		return "\n    " + strings.ReplaceAll(t, "\n", "\n    ")
	}
	return " " + strings.TrimPrefix(t, "- ")
}

// A working is what the status line sums up: what each agent has spent, and what they do now.
type working struct {
	line  terminal.Status
	spent map[string]spending // by agent
}

type spending struct {
	tokens  int64
	costUSD float64
}

// follow keeps the status line at what the agents do now.
func (s *session) follow(n supervisor.Notification) {
	line := &s.working.line
	several := n.Who != ""
	say := func(text string) {
		line.Text = strings.TrimSpace(text)
		if several && line.Text != "" {
			line.Text = n.Who + ": " + line.Text
		}
	}
	switch n.Type {
	case supervisor.AgentStarted, supervisor.ResumedNow:
		say("starting")
		if !several || line.Since.IsZero() {
			line.Since = n.Time
		}
	case supervisor.Progress:
		say(n.Text)
	case supervisor.TextSaid:
		say("thinking")
	case supervisor.ParkedNow:
		if !several {
			line.Text, line.Since = "", time.Time{}
		}
	case supervisor.RunDone:
		line.Text, line.Since = "", time.Time{}
	}
	if a := n.State; a != nil {
		before, now := s.working.spent[a.ID], spending{a.InputTokens + a.OutputTokens, a.CostUSD}
		s.working.spent[a.ID] = now
		line.Tokens += now.tokens - before.tokens
		line.CostUSD += now.costUSD - before.costUSD
	}
	shown := *line
	if shown.Text == "" {
		shown.Tokens, shown.CostUSD = 0, 0
	}
	s.printer.Status(shown)
}

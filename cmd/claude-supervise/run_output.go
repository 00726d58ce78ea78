package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// A jsonEvent is a line of `run --json`: its fields in their order. Fields may be added, never renamed.
type jsonEvent []jsonField

type jsonField struct {
	name  string
	value any
}

// MarshalJSON writes the fields.
func (e jsonEvent) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for _, f := range e {
		value, err := terminal.JSON(f.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, ",%q:%s", f.name, value)
	}
	return append(append([]byte("{"), out.Bytes()[1:]...), '}'), nil
}

// event returns a notice as a line of JSON: the fields that every event has, and those of its type, empty or not.
func event(n notice.Notification) jsonEvent {
	text, own := n.Text, jsonEvent{}
	switch n.Type {
	case notice.RunStarted:
		own = jsonEvent{{"name", n.RunState.Name}, {"cwd", n.RunState.Cwd}}
	case notice.AgentStarted, notice.ResumedNow:
		own = jsonEvent{{"parent", n.State.Parent}, {"launch", n.Launch}, {"session_id", n.State.SessionID}}
	case notice.QuestionOpen, notice.QuestionDone:
		own = jsonEvent{{"question", view.View(n.Question)}}
	case notice.Progress:
		if n.APIStatus != 0 { // with which the API has refused a request
			own = jsonEvent{{"api_status", n.APIStatus}}
		}
	case notice.ParkedNow, notice.LimitedNow:
		own = jsonEvent{{"reason", n.State.Reason}}
	case notice.WorkDelegated:
		own = jsonEvent{{"task", n.Task}, {"delegation", n.Stage}, {"child", n.Child}, {"by", n.By}, {"reason", n.Text}}
		text = ""
	case notice.ChildDone:
		a := n.State
		own = jsonEvent{{"parent", a.Parent}, {"tool_uses", a.ToolUses}, {"status", a.Status}, {"reason", a.Reason},
			{"cost_usd", a.CostUSD}}
		text = ""
	case notice.Reported:
		own = append(jsonEvent{{"status", n.Report.Status}}, reportFields(n.Report, n.State)...)
	case notice.RunDone:
		own = slices.Concat(
			jsonEvent{{"name", n.RunState.Name}, {"cwd", n.RunState.Cwd}, {"status", n.RunState.Status},
				{"reason", n.RunState.Reason}},
			reportFields(n.Report, n.State),
			jsonEvent{{"exit_code", n.ExitCode}, {"cost_usd", n.CostUSD}, {"tasks", n.Tasks}})
		text = ""
	}
	return append(jsonEvent{{"time", n.Time}, {"run", n.Run}, {"agent", n.Agent}, {"type", n.Type}, {"text", text}},
		own...)
}

// reportFields are those of an agent's report but for its status; empty where there is none.
func reportFields(r *supervisor.Report, a *supervisor.Agent) jsonEvent {
	var criteria []task.Criterion
	if r == nil {
		r = &supervisor.Report{}
	} else {
		criteria, _ = task.MatchCriteria(a)
	}
	return jsonEvent{{"summary", r.Summary}, {"deliverables", r.Deliverables}, {"missing", r.Missing},
		{"metrics_achieved", r.Metrics}, {"success_criteria", criteria}, {"issues_encountered", r.Issues},
		{"recommendations", r.Recommendations}, {"total_duration", r.Duration}}
}

// tell shows a notice to the person, or to the program that reads --json.
func (s *session) tell(n notice.Notification) {
	s.follow(n)
	s.printer.Names(n.Agent, n.Who)
	if n.Type == notice.ParkedNow {
		s.notices.Parked(n)
	}
	if n.Type == notice.RunStarted {
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
	if n.Type == notice.QuestionDone {
		terminal.Drafts{Folder: s.Dirs.RunDir}.Drop(n.Run, n.Question.ID)
	}
	if n.Type == notice.QuestionDone && s.prompted[n.Question.ID] {
		// The prompt tells of it, unless it was answered there.
		s.prompter.Gone(n.Question.ID, asking.Gone(view.View(n.Question)))
		return
	}
	switch text := words(n); {
	case text == "":
	case n.Trouble:
		s.printer.Notice("! " + text)
	case n.Type == notice.ParkedNow: // beside its question, which is open
		s.printer.Above(text)
	default:
		s.printer.Progress(text)
	}
}

// words says a notice in one line, and of which agent it is where there are several; "" for what is shown elsewhere.
func words(n notice.Notification) string {
	text := inWords(n)
	if text == "" || n.Who == "" {
		return text
	}
	switch n.Type {
	case notice.QuestionDone, notice.AgentStarted, notice.ResumedNow: // they name who it is
		return text
	}
	return n.Who + ": " + text
}

// limited says until when an agent waits for the end of a usage limit, by the person's own clock.
func limited(n notice.Notification) string {
	if n.State.NotBefore == nil {
		return n.Text
	}
	return n.State.LimitedBy + "; resumes at " + view.Clock(*n.State.NotBefore)
}

func inWords(n notice.Notification) string {
	switch n.Type {
	case notice.RunStarted:
		return fmt.Sprintf("run %s · %s\nFrom another terminal: claude-supervise attach %[1]s (or answer, stop, ps)",
			n.Run, placed(n.RunState.Cwd))
	case notice.AgentStarted:
		if n.Who != "" && n.State.Parent != "" {
			return "agent " + n.Agent + " started, for " + n.State.Parent + ": " + terminal.FirstLine(n.State.Task)
		}
		return "agent " + n.Agent + " started"
	case notice.ResumedNow:
		return strings.TrimSpace(fmt.Sprintf("agent %s continues %s", n.Agent, n.Text))
	case notice.TextSaid:
		return ofSubagent(n, n.Prose)
	case notice.WorkDelegated:
		return delegated(n)
	case notice.ChildDone:
		return fmt.Sprintf("%s: %s", n.State.Status, view.Because(n.State.Reason))
	case notice.QuestionDone:
		if questions.KindOf(n.Question.Kind).Hands && n.AtOnce { // told as a delegation
			return ""
		}
		return fmt.Sprintf("[%s] %s\n  %s", n.Question.ID, n.Question.Text, asking.Gone(view.View(n.Question)))
	case notice.ParkedNow:
		return "parked, costs nothing while it waits · " + view.Because(n.Text)
	case notice.LimitedNow:
		return limited(n)
	case notice.Reported:
		return reported(n)
	case notice.Progress:
		return ofSubagent(n, calls.Readable(view.Because(n.Text)))
	}
	return ""
}

// delegated says what became of a delegation that nobody was asked about; the question tells of the others.
func delegated(n notice.Notification) string {
	switch {
	case !n.AtOnce:
		return ""
	case n.Stage == notice.DelegationDenied:
		return fmt.Sprintf("may not delegate: %s (%s: %s)", terminal.FirstLine(n.Task), n.By, n.Text)
	case n.Stage == notice.DelegationApproved:
		return "delegates to " + n.Child + ": " + terminal.FirstLine(n.Task)
	}
	return ""
}

// ofSubagent says of which subagent a text is, if it is one's.
func ofSubagent(n notice.Notification, text string) string {
	if n.Subagent == "" || text == "" {
		return text
	}
	return "(" + n.Subagent + ") " + text
}

func reported(n notice.Notification) string {
	text := "reported " + n.Report.Status
	criteria, metrics := task.MatchCriteria(n.State)
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

// keysMeanwhile says what can be typed while agents work.
const keysMeanwhile = "type to write · Ctrl-C leaves"

// follow keeps the status line at what the agents do now.
func (s *session) follow(n notice.Notification) {
	line := &s.working.line
	several := n.Who != ""
	say := func(text string) {
		line.Text = strings.TrimSpace(text)
		if several && line.Text != "" {
			line.Text = n.Who + ": " + line.Text
		}
	}
	switch n.Type {
	case notice.AgentStarted, notice.ResumedNow:
		say("starting")
		if !several || line.Since.IsZero() {
			line.Since = n.Time
		}
	case notice.Progress:
		say(calls.Readable(n.Text))
	case notice.TextSaid:
		say("thinking")
	case notice.ParkedNow:
		if !several {
			line.Text, line.Since = "", time.Time{}
		}
	case notice.RunDone:
		line.Text, line.Since = "", time.Time{}
	}
	if a := n.State; a != nil {
		before, now := s.working.spent[a.ID], spending{a.InputTokens + a.OutputTokens, a.CostUSD}
		s.working.spent[a.ID] = now
		line.Tokens += now.tokens - before.tokens
		line.CostUSD += now.costUSD - before.costUSD
	}
	shown := *line
	switch {
	case shown.Text == "":
		shown.Tokens, shown.CostUSD = 0, 0
	case s.asks:
		shown.Keys = keysMeanwhile
	}
	s.printer.Status(shown)
}

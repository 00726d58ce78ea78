package news

import (
	"fmt"
	"path/filepath"
	"strings"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// DemoFolder is how the name of a demo's own folder begins.
const DemoFolder = "supervise-demo-"

// placed is the folder of a run as it is told, with whose it is where that is a demo's.
func placed(cwd string) string {
	if strings.HasPrefix(filepath.Base(cwd), DemoFolder) {
		return cwd + " (the demo's own)"
	}
	return cwd
}

// Words says a notice in one line, and of which agent it is where there are several; "" for what is shown elsewhere.
func Words(n notice.Notification) string {
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

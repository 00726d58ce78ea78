// Package news says what happens in a run: each notice as a line of JSON or in words for a person, and how the run was
// left, with what to type next. It reads and writes nothing.
package news

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
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

// Event returns a notice as a line of JSON: the fields that every event has, and those of its type, empty or not.
func Event(n notice.Notification) json.Marshaler { return EventOf(n, view.View) }

// EventOf is Event where a question is shown so.
func EventOf(n notice.Notification, shows func(*supervisor.Question) view.QuestionView) json.Marshaler {
	text, own := n.Text, jsonEvent{}
	switch n.Type {
	case notice.RunStarted:
		own = jsonEvent{{"name", n.RunState.Name}, {"cwd", n.RunState.Cwd}}
	case notice.AgentStarted, notice.ResumedNow:
		own = jsonEvent{{"parent", n.State.Parent}, {"launch", n.Launch}, {"session_id", n.State.SessionID}}
	case notice.QuestionOpen, notice.QuestionDone:
		own = jsonEvent{{"question", shows(n.Question)}}
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

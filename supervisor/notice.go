package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A Notice is something worth telling a person or a program that watches a run. Those that stand for a change are
// given after the change was saved. The types are those of `run --json`; fields may be added.
type Notice struct {
	Time  time.Time
	Run   string
	Agent string
	Type  NoticeType
	// What belongs to the type; the rest is zero.
	Text     string    // text, progress, parked, resumed, run_done: for people
	Prose    string    // text: what of it is not a signal
	Launch   int       // agent_started
	Question *Question // question, answered
	Report   *checkpoints.Report
	State    *Agent // agent_started, parked, resumed, run_done
	RunState *Run   // run_started, run_done
	ExitCode int    // run_done: of this supervisor
	Trouble  bool   // progress: a person should look
}

// NoticeType is the type of a notice.
type NoticeType string

// The types of notice.
const (
	RunStarted   NoticeType = "run_started"
	AgentStarted NoticeType = "agent_started"
	TextSaid     NoticeType = "text"
	QuestionOpen NoticeType = "question"
	QuestionDone NoticeType = "answered"
	Progress     NoticeType = "progress"
	ParkedNow    NoticeType = "parked"
	ResumedNow   NoticeType = "resumed"
	Reported     NoticeType = "report"
	RunDone      NoticeType = "run_done"
)

// notices tells what a step changed, in words for who watches.
func notices(before, after State, e Event) []Notice {
	var ns []Notice
	tell := func(t NoticeType, agent string, n Notice) {
		n.Time, n.Run, n.Agent, n.Type = e.At, after.Run.ID, agent, t
		ns = append(ns, n)
	}
	if _, ok := e.Body.(Opened); ok {
		tell(RunStarted, "", Notice{RunState: after.Run})
	}
	if b, ok := e.Body.(Ended); ok && len(b.Survivors) > 0 {
		for _, s := range b.Survivors {
			tell(Progress, b.Agent, Notice{Text: "still ran at the end: " + s})
		}
	}
	for _, a := range after.agents() {
		old := before.Agents[a.ID]
		if old == a {
			continue
		}
		l, was := after.launch(a.ID), before.launch(a.ID)
		if l != nil && l.State == checkpoints.LaunchStarted && (was == nil || was.N != l.N || was.State != l.State) {
			kind := AgentStarted
			if l.N > 1 {
				kind = ResumedNow
			}
			text := ""
			if l.N > 1 && !l.Resume && slices.ContainsFunc(after.Launches[a.ID], func(l *Launch) bool { return l.Heard }) {
				text = "in a new conversation, from the checkpoint: the earlier one is gone"
				if after.Config.Relaunch == Fresh {
					text = "in a new conversation, from the checkpoint"
				}
			}
			tell(kind, a.ID, Notice{State: a, Launch: l.N, Text: text})
		}
		if a.Report != nil && (old == nil || old.Report == nil || !old.Report.Checked) && a.Report.Checked {
			tell(Reported, a.ID, Notice{Report: a.Report})
		}
		if old == nil || a.Status == old.Status {
			continue
		}
		switch a.Status {
		case checkpoints.Parked:
			tell(ParkedNow, a.ID, Notice{State: a, Text: a.Reason})
		case checkpoints.Queued, checkpoints.Blocked, checkpoints.Stopping:
			tell(Progress, a.ID, Notice{Text: a.Reason})
		}
	}
	for _, q := range after.questions(func(q *Question) bool { return before.Questions[q.ID] != q }) {
		old := before.Questions[q.ID]
		wasOpen := old == nil || old.State == checkpoints.QuestionOpen
		if wasOpen && q.State != checkpoints.QuestionOpen || old != nil && old.Answer != q.Answer {
			tell(QuestionDone, q.Agent, Notice{Question: q})
		}
	}
	if _, ok := e.Body.(Left); ok {
		root := after.Agents[after.Run.Root]
		tell(RunDone, root.ID, Notice{ExitCode: exitCodeOf(after), RunState: after.Run, State: root, Text: after.Run.Reason, Report: root.Report})
	}
	return ns
}

// spoken says in words a signal that only tells.
func spoken(s signals.Signal) string {
	if s.Kind == signals.Message {
		return fmt.Sprintf("message to %s: %s", s.Field("to"), s.Field("text"))
	}
	text := s.Field("step")
	if percent := s.Field("percent"); percent != "" {
		text = strings.TrimSuffix(percent, "%") + " % " + text
	}
	if eta := s.Field("eta"); eta != "" {
		text += ", ready in " + eta
	}
	return text
}

// doing says in one line what a call does: the tool, and of its input what a person would name it by.
func doing(m procs.ToolUse) string {
	var in map[string]any
	if json.Unmarshal(m.Input, &in) != nil {
		return m.Name
	}
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "description"} {
		if text, ok := in[key].(string); ok && text != "" {
			return m.Name + ": " + firstLine(text)
		}
	}
	return m.Name
}

func retrying(m procs.Retry) string {
	return fmt.Sprintf("the API refused a request (%d %s); claude tries again in %v, %d of %d",
		m.Status, m.Error, m.Delay.Round(time.Second), m.Attempt, m.Max)
}

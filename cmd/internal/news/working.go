package news

import (
	"cmp"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// A Working is what the status line of a supervisor sums up: what each agent has spent, and what they do now. The zero
// value has heard of none.
type Working struct {
	line  terminal.Status
	spent map[string]spending // by agent
}

type spending struct {
	tokens  int64
	costUSD float64
}

// keysMeanwhile says what can be typed while agents work.
const keysMeanwhile = "type to write · Ctrl-C leaves"

// Line takes a notice, and returns the line by then; with the keys if a person can type.
func (w *Working) Line(n notice.Notification, typed bool) terminal.Status {
	line := &w.line
	several := n.Who != ""
	say := func(text string) {
		line.Text = strings.TrimSpace(text)
		if several && line.Text != "" {
			line.Text = n.Who + ": " + line.Text
		}
	}
	if text, is := does(n); is {
		say(text)
	}
	switch n.Type {
	case notice.AgentStarted, notice.ResumedNow:
		if !several || line.Since.IsZero() {
			line.Since = n.Time
		}
	case notice.ParkedNow:
		if !several {
			line.Text, line.Since = "", time.Time{}
		}
	case notice.RunDone:
		line.Text, line.Since = "", time.Time{}
	}
	if a := n.State; a != nil {
		if w.spent == nil {
			w.spent = map[string]spending{}
		}
		before, now := w.spent[a.ID], spending{a.InputTokens + a.OutputTokens, a.CostUSD}
		w.spent[a.ID] = now
		line.Tokens += now.tokens - before.tokens
		line.CostUSD += now.costUSD - before.costUSD
	}
	shown := *line
	switch {
	case shown.Text == "":
		shown.Tokens, shown.CostUSD = 0, 0
	case typed:
		shown.Keys = keysMeanwhile
	}
	return shown
}

// does returns what an agent does by a notice, if that says something of it.
func does(n notice.Notification) (text string, is bool) {
	switch n.Type {
	case notice.AgentStarted, notice.ResumedNow:
		return "starting", true
	case notice.Progress:
		return calls.Readable(n.Text), true
	case notice.TextSaid:
		return "thinking", true
	}
	return "", false
}

// A Seen is the same of a run that somebody else supervises, or of one of its agents: what was done there last. The
// zero value has seen nothing.
type Seen struct{ does string }

// Line takes a sight, and returns what the run, or the agent of it that is named, does now, or how it stands: a line
// that does not move.
func (l *Seen) Line(s view.Snapshot, agent string) terminal.Status {
	for _, n := range s.News {
		if text, is := does(n); is {
			l.does = text
		}
	}
	agents, status, since := s.Run.Agents, s.Run.Status, s.Run.StartedAt
	if a, is := s.Run.Agent(agent); is {
		agents, status, since = []view.AgentView{a}, a.Status, a.Since
	}
	if works := status == "running" || status == "starting"; !works || !s.Run.GoesOn() {
		return terminal.Status{Text: string(status), Keys: keysMeanwhile}
	}
	line := terminal.Status{Text: terminal.CleanLine(cmp.Or(l.does, string(status)), 200), Since: since,
		Keys: keysMeanwhile}
	for _, of := range agents {
		line.Tokens += of.InputTokens + of.OutputTokens
		line.CostUSD += of.CostUSD
	}
	return line
}

package listen

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// Tasks returns what a process says of its background work as it is recorded.
func Tasks(said []procs.Task) []checkpoints.Task {
	var kept []checkpoints.Task
	for _, t := range said {
		kept = append(kept, checkpoints.Task(t))
	}
	return kept
}

// SubagentOf returns who calls as it is recorded; nil: the main conversation.
func SubagentOf(s procs.Subagent) *checkpoints.Subagent {
	if s == (procs.Subagent{}) {
		return nil
	}
	sub := checkpoints.Subagent{ID: s.ID, ToolUse: s.ToolUse, Type: s.Type, Task: s.Task, Prompt: s.Prompt,
		Depth: s.Depth}
	if s.By != nil {
		sub.By = SubagentOf(*s.By)
	}
	return &sub
}

// ToPerson reports whether a message is for the person, who sees all that agents say.
func ToPerson(to string) bool {
	switch strings.ToLower(strings.TrimSpace(to)) {
	case "", "user", "person", "human", "parent", "supervisor", "main":
		return true
	}
	return false
}

// Spoken says in words a signal that only tells.
func Spoken(s signals.Signal) string {
	if s.Kind == signals.Message {
		to := s.Field("to")
		if ToPerson(to) {
			to = "you"
		}
		return fmt.Sprintf("message to %s: %s", to, s.Field("text"))
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

// Retrying says in words that the CLI tries a request again.
func Retrying(m procs.Retry) string {
	return fmt.Sprintf("the API refused a request (%d %s); claude tries again in %v, %d of %d",
		m.Status, m.Error, m.Delay.Round(time.Second), m.Attempt, m.Max)
}

package conf

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
)

// A Preset is an answer given in advance: with --answer, --answers or a task file.
// Key is the question's own id, its header, or part of its text, in any case.
//
// Whoever writes a preset has not seen the question, and the agent chooses its words. So a preset answers
// clarifications and blockers; of what lets an agent do more it can only refuse.
type Preset struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	By    string `json:"by,omitempty"` // who is named as having answered; "" is "--answer KEY"

	FromFile bool `json:"from_file,omitempty"` // it stands in a task file, which may come with a repository

	// Demo says that it is the scenario's own, given by the program to the scripted agent that plays it. It grants what it
	// says, in a run of that agent only.
	Demo bool `json:"demo,omitempty"`
}

// Origin names who has answered.
func (p Preset) Origin() string {
	if p.By != "" {
		return p.By
	}
	if p.FromFile {
		return "the task file, " + p.Key
	}
	return "--answer " + p.Key
}

// Names tells how exactly the preset's key names a question: 3 its id, 2 its header, 1 part of its text, 0 not at all.
func (p Preset) Names(q signals.Question) int {
	key := strings.ToLower(strings.TrimSpace(p.Key))
	switch {
	case key == "":
		return 0
	case key == strings.ToLower(q.ID):
		return 3
	case key == strings.ToLower(q.Header):
		return 2
	case strings.Contains(strings.ToLower(q.Text), key):
		return 1
	}
	return 0
}

// Grants says of an answer to q, which q has for now, why no preset can be it: what it would let happen, and what does
// that in advance. "" if a preset can.
func (p Preset) Grants(q *checkpoints.Question, cfg Config) string {
	if p.Demo && cfg.Demo != "" && cfg.Abilities().PlaysDemos {
		return ""
	}
	return questions.InAdvance(q, p.FromFile)
}

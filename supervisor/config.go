package supervisor

import (
	"strings"
	"time"

	"claude-supervise/signals"
)

// Config is what the person asked for with `run`. It is kept in the run's record, so that `resume` needs no flags.
type Config struct {
	Claude        string        `json:"claude,omitempty"` // absolute path of the program
	Demo          string        `json:"demo,omitempty"`   // the scenario that the built-in stand-in plays instead
	Flags         []string      `json:"flags,omitempty"`  // handed on to claude
	Hold          time.Duration `json:"hold"`             // Forever: never park
	MaxHeld       int           `json:"max_held"`         // processes that may wait for a person at once; negative: any number
	OnQuestion    OnQuestion    `json:"on_question"`      // as the person gave it; "" goes by whether there is a terminal
	Policy        OnQuestion    `json:"policy"`           // what the present supervisor made of it
	Answers       []Preset      `json:"answers,omitempty"`
	AcceptIDs     []string      `json:"accept_ids,omitempty"`
	Relaunch      Relaunch      `json:"relaunch"`
	Retries       int           `json:"retries"`
	KeepProcesses bool          `json:"keep_processes,omitempty"`
}

// Forever as a hold keeps a process waiting for its answer without end.
const Forever time.Duration = -1

// DefaultHold is the life of the prompt cache: within it an answer costs no more than its tokens.
const DefaultHold = 5 * time.Minute

// OnQuestion says what becomes of the run when a question is not answered within the hold.
type OnQuestion string

// Ask keeps the supervisor until the answer; Park leaves with 75 once nothing can go on; Fail fails the agent.
const (
	Ask  OnQuestion = "ask"
	Park OnQuestion = "park"
	Fail OnQuestion = "fail"
)

// Relaunch says how a parked agent gets its answer.
type Relaunch string

// Resume continues the conversation; Fresh begins a new one with the checkpoint.
const (
	Resume Relaunch = "resume"
	Fresh  Relaunch = "fresh"
)

// A Preset is an answer given in advance with --answer or --answers.
// Key is the question's own id, its header, or part of its text, in any case.
type Preset struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	By    string `json:"by,omitempty"` // who is named as having answered; "" is "--answer KEY"
}

func (p Preset) by() string {
	if p.By != "" {
		return p.By
	}
	return "--answer " + p.Key
}

// names tells how exactly the preset's key names a question: 3 its id, 2 its header, 1 part of its text, 0 not at all.
func (p Preset) names(q signals.Question) int {
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

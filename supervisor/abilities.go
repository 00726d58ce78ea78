package supervisor

import (
	"strings"

	"claude-supervise/procs"
)

// Abilities returns what the agents of a run can do. Only this knows which agent they are: all that is decided by that
// is decided by an ability.
func (c Config) Abilities() procs.Abilities {
	if len(c.Exec) > 0 {
		return procs.OfCommand
	}
	return procs.OfClaude
}

// Abilities returns what the agents can do.
func (s State) Abilities() procs.Abilities { return s.Config.Abilities() }

// HandedOn is how messages call the flags of a person's own that are handed on to the agent.
const HandedOn = "what follows --"

// Understands reports whether the agents of a run understand what a flag of run or resume asks of them, or HandedOn.
func (c Config) Understands(flag string) bool {
	can := c.Abilities()
	switch flag {
	case "--demo":
		return can.PlaysDemos
	case "--model", HandedOn:
		return can.TakesFlags
	case "--allow", "--permissions":
		return can.AsksPermission
	case "--max-cost-usd", "--max-tokens", "--max-turns":
		return can.ReportsUsage
	case "--claude":
		return can.Flag == flag
	}
	return true
}

// Serves reports whether our tools are at the agents' hands.
func (s State) Serves() bool { return s.Abilities().ServesTools && !s.Config.Toolless }

// What a command that is run as the agent (--exec) finds in its environment, each empty where there is none, or where
// it is too long for a variable and stands in the prompt alone: the agent's checkpoint, the answer that it is started
// with, and all such answers as a JSON object by its own ids of the questions.
const (
	CheckpointVariable = "CLAUDE_SUPERVISE_CHECKPOINT"
	AnswerVariable     = "CLAUDE_SUPERVISE_ANSWER"
	AnswersVariable    = "CLAUDE_SUPERVISE_ANSWERS"
)

// PromptOf is what a launch is started with.
func (s State) PromptOf(agent string, launch int) string {
	var texts []string
	for _, v := range s.unsentTo(agent, launch) {
		texts = append(texts, v.Text)
	}
	return strings.Join(texts, "\n\n")
}

// maxVariable is the longest variable that Linux takes, in bytes: MAX_ARG_STRLEN of execve(2) without its NUL.
const maxVariable = 128<<10 - 1

// Variable writes a variable of the environment; one that is too long for it is empty.
func Variable(name, value string) string {
	if len(name)+len("=")+len(value) > maxVariable {
		value = ""
	}
	return name + "=" + value
}

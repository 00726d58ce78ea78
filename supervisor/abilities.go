package supervisor

import (
	"strings"

	"claude-supervise/procs"
)

// Abilities returns what the agents can do.
func (s State) Abilities() procs.Abilities { return s.Config.Abilities() }

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

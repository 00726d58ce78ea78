package host

// What a command that is run as the agent (--exec) finds in its environment, each empty where there is none, or where
// it is too long for a variable and stands in the prompt alone: the agent's checkpoint, the answer that it is started
// with, and all such answers as a JSON object by its own ids of the questions.
const (
	checkpointVariable = "CLAUDE_SUPERVISE_CHECKPOINT"
	answerVariable     = "CLAUDE_SUPERVISE_ANSWER"
	answersVariable    = "CLAUDE_SUPERVISE_ANSWERS"
)

// maxVariable is the longest variable that Linux takes, in bytes: MAX_ARG_STRLEN of execve(2) without its NUL.
const maxVariable = 128<<10 - 1

// variable writes a variable of the environment; one that is too long for it is empty.
func variable(name, value string) string {
	if len(name)+len("=")+len(value) > maxVariable {
		value = ""
	}
	return name + "=" + value
}

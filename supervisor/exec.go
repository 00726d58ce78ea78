package supervisor

import (
	"os"
	"strings"

	"claude-supervise/checkpoints"
)

// What a command that is run as the agent (--exec) finds in its environment, each empty where there is none, or where it is
// too long for a variable and stands in the prompt alone: the agent's checkpoint, the answer that it is started with, and
// all such answers as a JSON object by its own ids of the questions.
const (
	checkpointVariable = "CLAUDE_SUPERVISE_CHECKPOINT"
	answerVariable     = "CLAUDE_SUPERVISE_ANSWER"
	answersVariable    = "CLAUDE_SUPERVISE_ANSWERS"
)

// promptOf is what a launch is started with.
func (s State) promptOf(agent string, launch int) string {
	var texts []string
	for _, v := range s.deliveries(agent, func(v *Delivery) bool {
		return v.Launch == launch && v.State == checkpoints.DeliveryPending
	}) {
		texts = append(texts, v.Text)
	}
	return strings.Join(texts, "\n\n")
}

// handed is the environment of a command's launch.
func (e *engine) handed(a *Agent, l *Launch) []string {
	var answers []*Question
	for _, v := range e.state.deliveries(a.ID, func(v *Delivery) bool { return v.Launch == l.N }) {
		for _, g := range v.Groups {
			answers = append(answers, e.state.group(g)...)
		}
	}
	checkpoint, answer, all := "", "", ""
	if file := e.Dirs.CheckpointFile(e.run, a.ID); l.N > 1 {
		if _, err := os.Lstat(file); err == nil {
			checkpoint = file
		}
	}
	if n := len(answers); n > 0 {
		last := e.state.group(answers[n-1].Group)
		answer, all = answersInOne(last), string(answersByID(answers))
		if kept := last[0].Kept; kept != nil && kept.Hand != "" {
			checkpoint = kept.Hand
		}
	}
	return []string{variable(checkpointVariable, checkpoint), variable(answerVariable, answer), variable(answersVariable, all)}
}

// maxVariable is the longest variable that Linux takes, in bytes: MAX_ARG_STRLEN of execve(2) without its NUL.
const maxVariable = 128<<10 - 1

func variable(name, value string) string {
	if len(name)+len("=")+len(value) > maxVariable {
		value = ""
	}
	return name + "=" + value
}

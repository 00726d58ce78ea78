package ask

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/questions"
)

// ScriptAsks is why the answer to a question that a script asks can have no images.
const ScriptAsks = "a script asks it by a file, and reads the words of an answer alone"

// TakesImages says why the answer to a question can have no images; empty if it can.
func TakesImages(q *checkpoints.Question, abilities procs.Abilities) string {
	switch {
	case q.Run == "" || q.File != nil:
		return ScriptAsks
	case !questions.KindOf(q.Kind).Images:
		return "it is a decision, and takes no images"
	case !abilities.TakesInput:
		return "the run's command reads the words of an answer alone"
	case q.From != nil || q.Tool != nil && q.Tool.From != nil:
		return "a subagent has asked it, which can be told the words of an answer alone"
	}
	return ""
}

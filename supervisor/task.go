package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// Writable reports whether a question of this kind may be answered by what was written down before: by a task file.
// What lets the agent do more than it may by itself is a person's to decide.
func Writable(kind checkpoints.QuestionKind) bool { return questions.KindOf(kind).Writable }

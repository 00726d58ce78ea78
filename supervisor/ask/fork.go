package ask

import (
	"errors"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// ForksAt says why a question can never be answered differently, whatever was kept; nil if it can.
func ForksAt(q *checkpoints.Question) error {
	switch {
	case !questions.KindOf(q.Kind).Again:
		return fmt.Errorf("its answer has let something happen (%s), which no other answer undoes", q.Kind)
	case q.From != nil || q.Tool != nil && q.Tool.From != nil:
		return errors.New("a subagent has asked it, whose conversation is not of the agent's own")
	case !InCall(q):
		return errors.New("it was not asked by a call (AskUserQuestion, ask_user), to which another result can be given")
	}
	return nil
}

package asking

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
)

// Refused says why `answer` has kept nothing of what was typed, and what to type. k is what came of it.
func Refused(program string, k service.Kept, a service.Answer, err error) error {
	var undone *service.Refusal
	var refused *questions.Refusal
	switch {
	case errors.As(err, &undone) && undone.Reason == service.Elsewhere && undone.Command != "":
		return exitcode.Usage("%w, with `%s answer %s`", err, program, k.Question.ID)
	case !errors.As(err, &refused) || a.Typed == nil || refused.Reason == questions.Undecided:
		return err
	case strings.TrimSpace(*a.Typed) == "":
		return exitcode.Usage("no answer was given; type it after the id, as in `%s`",
			cmp.Or(k.Question.AnswerCommand, program+" answer "+k.Question.ID+" VALUE"))
	}
	return fmt.Errorf("%w; question %s stays open", err, k.Question.ID)
}

package asking

import (
	"context"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/precedents"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
)

// Reminds finds what the person has answered before, for a prompt. Whatever is amiss with that, nobody is kept from
// answering.
func Reminds(from service.Reminder) func(ctx context.Context, question string) (terminal.Reminder, bool) {
	return func(ctx context.Context, question string) (terminal.Reminder, bool) {
		found, err := from.Precedents(ctx, question)
		if err != nil || len(found) == 0 {
			return terminal.Reminder{}, false
		}
		before := found[0]
		said := before.Said()
		if questions.KindOf(before.Kind).Ruled && before.Times >= precedents.Enough {
			said += ". For a rule: claude-supervise permissions suggest"
		}
		return terminal.Reminder{Answer: before.Answer, Said: said}, true
	}
}

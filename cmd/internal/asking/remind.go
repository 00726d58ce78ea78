package asking

import (
	"context"

	"claude-supervise/cmd/internal/terminal"
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
		return terminal.Reminder{Answer: found[0].Answer, Said: found[0].Said()}, true
	}
}

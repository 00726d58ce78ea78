package asking

import (
	"context"
	"fmt"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/precedents"
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
		return terminal.Reminder{Answer: found[0].Answer, Said: SaidBefore(found[0])}, true
	}
}

// SaidBefore says when, where and to what an answer was given before.
func SaidBefore(p precedents.Precedent) string {
	said := "as you said on " + p.At.Local().Format("2 Jan")
	if !p.Same {
		said += fmt.Sprintf(" to %q", terminal.CleanLine(p.Asked, 60))
	}
	if !p.Here {
		said += " in another folder"
	}
	return said + " (" + p.Run + ")"
}

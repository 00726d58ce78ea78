package terminal

import (
	"cmp"
	"strings"

	"claude-supervise/supervisor/questions"
)

// heading says what sort of question this is.
func heading(q Question) string {
	return cmp.Or(questions.KindOf(q.Kind).Heading(q.Header), CleanLine(q.Header, 60), "Question")
}

// checklist cuts from the context of a delegation what its person is to think of, which a form shows with its help.
// The last one is ours: that of an agent's text is indented.
func checklist(q Question) (context, list string) {
	const begins = "\n\nBefore you approve:\n"
	at := strings.LastIndex(q.Context, begins)
	if at < 0 || !questions.KindOf(q.Kind).Hands {
		return q.Context, ""
	}
	return q.Context[:at], strings.TrimSpace(q.Context[at:])
}

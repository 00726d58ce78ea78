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

// verbs are what calls of tools do with what they are about.
var verbs = map[string]string{"Edit": "edit ", "MultiEdit": "edit ", "NotebookEdit": "edit ", "Write": "write ",
	"Read": "read ", "Bash": "run: ", "WebFetch": "fetch "}

// asks is the text of a question as a form has it: that of a permission says what would be done.
func asks(q Question) string {
	what, is := strings.CutPrefix(q.Text, "Allow "+q.Header+": ")
	if verb := verbs[q.Header]; is && verb != "" && questions.KindOf(q.Kind).Ruled {
		return "May it " + verb + what
	}
	return q.Text
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

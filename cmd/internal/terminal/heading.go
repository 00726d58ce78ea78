package terminal

import (
	"strings"

	"claude-supervise/supervisor/questions"
)

// headings are what forms call the questions of a kind, and those of its headers that are words of ours.
var headings = map[questions.Name]map[string]string{
	questions.AskBlocker: {"": "Blocked", "missing_info": "Blocked: it lacks information",
		"external_dependency": "Blocked: needs something from outside", "error": "Blocked by an error",
		"resource_limit": "Blocked by a limit"},
	questions.AskDelegation: {"": "Start another agent?"},
	questions.AskBudget:     {"": "Budget used up"},
	questions.AskOverrun:    {"": "It takes longer than estimated"},
	questions.AskCommand:    {"": "Run a command as you?"},
}

// heading says what sort of question this is.
func heading(q Question) string {
	of, is := headings[q.Kind]
	title := CleanLine(q.Header, 60)
	switch {
	case of[q.Header] != "":
		return of[q.Header]
	case is:
		return of[""]
	case title != "":
		return title
	case q.Kind != "" && q.Kind != questions.AskClarification:
		return CleanLine(string(q.Kind), 20)
	}
	return "Question"
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

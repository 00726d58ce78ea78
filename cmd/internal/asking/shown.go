package asking

import (
	"cmp"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// Placed is Shown where questions of several runs stand below one another: it says of which one each is.
func Placed(q view.QuestionView) terminal.Question {
	t := Shown(q)
	switch {
	case q.Session != nil:
		t.Place = terminal.FromHome(q.Cwd)
	case q.Cwd != "":
		t.Place = strings.TrimPrefix(q.RunName+" · "+terminal.FromHome(q.Cwd), " · ")
	}
	return t
}

// Shown is a question as the terminal shows it.
func Shown(q view.QuestionView) terminal.Question {
	t := terminal.Question{
		Terms: q.Terms(), ID: q.ID, Header: q.Header, Text: q.Asks(), Context: q.Context, Agent: AgentOf(q), Run: q.Run,
		Asker: shownAsker(q.Asker), Urgent: q.Urgent,
		Declinable: view.Declinable(q), AskedAt: q.AskedAt, Command: q.AnswerCommand,
		Secret: ask.AsksForSecret(q.Question, q.Context),
		Task:   q.Task, Group: q.Group, Index: q.Index, Of: 1, Optional: q.Optional && q.Run != "",
	}
	if q.Final() {
		t.Command = ""
	}
	if q.Image != nil {
		t.Context = strings.TrimSpace(t.Context + "\n" + view.ShowsImage + q.Image.String())
	}
	if q.Assumption != "" {
		t.Context = strings.TrimSpace(t.Context + "\n" + view.AssumedInWords(q))
	}
	switch kind := questions.KindOf(q.Kind); {
	case kind.Runs: // what runs is kept as it is
		t.Context = text.Visible(q.Context)
		if n := text.HiddenIn(q.Context); n > 0 {
			t.Context += fmt.Sprintf("\n(%d characters cannot be seen; here as \\x1b, \\u202e and so on.)", n)
		}
	case kind.Hands:
		t.Instead = questions.Instead
	case kind.Ruled:
		if q.Folder == "" && q.Session == nil { // --allow is for the agent's own
			t.Advance = InAdvance(q.AllowRule)
		}
	}
	if a, b, alike := indistinguishable(t.Options); alike {
		t.Context = strings.TrimSpace(fmt.Sprintf("%s\nOptions %d and %d look the same, and are not: choose by number.",
			t.Context, a+1, b+1))
	}
	return t
}

// AgentOf names the agent that asks: where a run has several, by more than an id. That of a session is where it is.
func AgentOf(q view.QuestionView) string {
	if q.Session != nil {
		return q.Session.Where()
	}
	if start, _, _ := strings.Cut(q.Who, " "); q.Who == "" || strings.HasPrefix(q.Agent, start) {
		return cmp.Or(q.Who, q.Agent)
	}
	return q.Agent + ", " + q.Who
}

// shownAsker says who of an agent asks, where that is a subagent.
func shownAsker(a *view.AskerView) string {
	if a == nil {
		return ""
	}
	who := "subagent"
	if a.Type != "" {
		who += " " + a.Type
	}
	if a.Depth > 1 {
		who += fmt.Sprintf(", %d deep", a.Depth)
	}
	return who + ": " + a.Task
}

// indistinguishable finds two options that differ in nothing that is shown.
func indistinguishable(options []terminal.Option) (a, b int, found bool) {
	seen := map[string]int{} // the first option of each look
	for i, o := range options {
		look := terminal.CleanLine(o.Label, 0)
		first, known := seen[look]
		switch {
		case look == "":
		case !known:
			seen[look] = i
		case options[first].Label != o.Label:
			return first, i, true
		}
	}
	return 0, 0, false
}

// allowFlag writes the flag that permits in advance what a rule permits, as it is typed in a shell.
func allowFlag(rule string) string {
	quoted, err := syntax.Quote(rule, syntax.LangPOSIX)
	if err != nil { // it holds what POSIX cannot write on one line
		quoted, err = syntax.Quote(rule, syntax.LangBash)
	}
	if err != nil {
		return ""
	}
	return "--allow " + quoted
}

// InAdvance says how a call is permitted in advance; rule is the one that does, "" if none can.
func InAdvance(rule string) string {
	if rule != "" {
		if flag := allowFlag(rule); flag != "" {
			return flag
		}
	}
	return "no rule can; it is asked about each time"
}

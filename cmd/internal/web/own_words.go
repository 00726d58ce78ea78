package web

import (
	"errors"
	"strings"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// What is told to people beside a terminal says what to type there. Who is on the page is told what the page has.

var (
	// whatAnswers, and whatResumes, are how commands say what to type then.
	whatAnswers = text.Lazily(`\s*Answer with:\n(?:  \S+ answer \S+ VALUE\n)+Then run:\n  \S+ resume \S+`)
	whatResumes = text.Lazily(`(?m)[;.]?\s*(?:[Tt]o continue, run|Run):\s+\S+ resume [\w-]+$`)
	// whatFollows is how they say what to type for an agent that has ended.
	whatFollows = text.Lazily(`; for follow-up work in its conversation:\s+\S+ run --continue \S+ "TASK"`)
	// ids may have in brackets what they are.
	ids = text.Lazily(`\b(?:r-[0-9A-Za-z]{8}|a-[0-9A-Za-z]{12}|q-[0-9A-Za-z]{6})\b(?: \([^()]*\))?`)
)

// onPage returns what is said of a run as the page says it: without ids and what is typed on a terminal.
func (d drawer) onPage(v view.RunView, said string) string {
	if service.Can[service.Resumer](d.config.Service) {
		said = whatAnswers().ReplaceAllString(said, " Answer its question, then resume it.")
		said = whatResumes().ReplaceAllString(said, ". Resume continues it.")
	}
	if strings.Contains(said, d.config.Program+" ") { // an id is what that command takes
		return said
	}
	return ids().ReplaceAllStringFunc(said, func(found string) string {
		id, who, _ := strings.Cut(found, " (")
		a, is := v.Agent(id)
		switch {
		case is:
			return d.agentCalled(a)
		case who != "":
			return found
		case id == v.ID:
			return d.runCalled(v)
		case strings.HasPrefix(id, "q-"):
			return "its question"
		}
		return id
	})
}

// endedOnPage returns why nothing was done for an agent that has ended as the page says it.
func (d drawer) endedOnPage(said string) string {
	instead := ""
	if service.Can[service.Starter](d.config.Service) {
		instead = "; for follow-up work start a run"
	}
	return whatFollows().ReplaceAllLiteralString(said, instead)
}

// wrong is why what was filled in in a card is no answer, with what can be filled in instead.
func wrong(c Card, p problem, err error) string {
	var unread *questions.Refusal
	said := strings.TrimSuffix(p.text(), "; question "+c.ID+" stays open") // as its card shows
	why, _, typed := strings.Cut(said, ": type ")
	switch {
	case !errors.As(err, &unread) || !typed:
		return said
	case len(c.Options) > 0 && c.Rule == "" && c.OwnWords && !c.Buttons && unread.Reason == questions.NotOffered:
		return why + `: choose an option, or write the words between """ to send them as they are`
	case len(c.Options) > 0:
		return why + ": choose an option"
	case c.Rule != "":
		return why + ": write " + c.Rule
	}
	return why + ": write an answer"
}

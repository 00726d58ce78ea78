package questions

import (
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Card is a question as the page shows it: what the terminal shows of it.
func Card(q view.QuestionView) web.Card {
	t := Shown(q)
	c := web.Card{
		ID: q.ID, Kind: t.Kind, State: string(q.State), Run: q.Run, Agent: t.Seen(t.Agent), AgentID: q.Agent,
		Asker: t.Seen(t.Asker), Header: t.Seen(t.Header), Text: t.Seen(t.Text), Context: t.Seen(t.Context),
		Evidence: t.Evidence(), Task: t.Seen(t.Task), MultiSelect: q.MultiSelect, OwnWords: true, Rule: t.Rule(),
		Words:   wordsFor(q),
		Instead: q.Kind == supervisor.AskDelegation, Skippable: q.Optional && q.Run != "",
		Declinable: t.Declinable, Sharable: q.Run != "" && supervisor.Sharable(q.Kind),
		Terminal: q.Kind == supervisor.AskCommand, Command: q.AnswerCommand, Urgent: q.Urgent, AskedAt: q.AskedAt,
		By: t.Seen(q.AnsweredBy), Skipped: q.Skipped, Declined: q.Declined,
		Changeable: q.State == "answered" && q.Run != "" && q.Kind != supervisor.AskCommand,
	}
	if q.Kind == supervisor.AskClarification && q.Validate == "choice" && len(t.Options) > 0 {
		c.OwnWords = false
	}
	if q.Answer != nil {
		c.Answer = t.Seen(*q.Answer)
	}
	for i, o := range t.Options {
		label := t.Seen(o.Label)
		c.Options = append(c.Options, web.Option{Place: i, Label: label, Description: t.Seen(o.Description),
			Preview: t.Seen(o.Preview), Blank: !visible(label)})
	}
	return c
}

// wordsFor says what a person's own words are for, beside the options of a question.
func wordsFor(q view.QuestionView) string {
	switch {
	case q.Kind == supervisor.AskDelegation:
		return "Another task to approve, or why it is denied"
	case q.Kind == supervisor.AskBudget:
		return "The new bound, if it is raised"
	case len(q.Options) == 0:
		return "Your answer"
	case !supervisor.Writable(q.Kind):
		return "Why it is denied, or another rule to allow"
	case q.Kind == supervisor.AskBlocker:
		return "In your own words, or what belongs to the option"
	}
	return "Or in your own words"
}

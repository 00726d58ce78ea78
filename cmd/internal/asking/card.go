package asking

import (
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// Card is a question as the page shows it: what the terminal shows of it.
func Card(q view.QuestionView) web.Card {
	image := q.Image
	q.Image = nil // it is seen, and not only named
	t, kind := Shown(q), questions.KindOf(q.Kind)
	c := web.Card{
		ID: q.ID, Kind: string(t.Kind), State: string(q.State), Run: q.Run, Agent: t.Seen(t.Agent), AgentID: q.Agent,
		Asker: t.Seen(t.Asker), Header: t.Seen(t.Header), Text: t.Seen(t.Text), Context: t.Seen(t.Context),
		Evidence: t.Evidence(), Task: t.Seen(t.Task), MultiSelect: q.MultiSelect, OwnWords: true, Rule: t.Rule(),
		Words: kind.Words, Instead: kind.Hands, Skippable: q.Optional && q.Run != "",
		Declinable: t.Declinable, Sharable: q.Run != "" && kind.Sharable && !kind.Ruled, Buttons: kind.Ruled,
		Terminal: kind.Runs, Command: q.AnswerCommand, Urgent: q.Urgent, AskedAt: q.AskedAt,
		Images: kind.Images && q.Run != "" && q.Asker == nil,
		Secret: t.Secret, Assumes: q.Assumption != "",
		By: t.Seen(q.AnsweredBy), Skipped: q.Skipped, Declined: q.Declined,
		Changeable: q.State == "answered" && q.Run != "" && !kind.Runs,
		Again:      q.State != "open" && q.Answer != nil && q.Run != "" && kind.Again,
	}
	switch {
	case len(q.Options) == 0:
		c.Words = "Your answer"
	case c.Words == "" && q.Terms().TakesNotes():
		c.Words = "A note to what you chose, or an answer in your own words"
	case c.Words == "":
		c.Words = "Or in your own words"
	}
	if kind.Tells && q.Validate == "choice" && len(t.Options) > 0 {
		c.OwnWords = false
	}
	if q.Answer != nil {
		c.Answer = t.Seen(*q.Answer)
	}
	if image != nil {
		c.Shows = []web.Picture{picture(t, *image)}
	}
	for _, i := range q.Images {
		c.With = append(c.With, picture(t, i))
	}
	for i, o := range t.Options {
		label := t.Seen(o.Label)
		c.Options = append(c.Options, web.Option{Place: i, Label: label, Description: t.Seen(o.Description),
			Preview: t.Seen(o.Preview), Blank: terminal.CleanLine(label, 0) == ""})
	}
	return c
}

func picture(t terminal.Question, i view.ImageView) web.Picture {
	return web.Picture{Hash: i.Hash, Name: t.Seen(text.Line(i.Name, text.MaxNamed)), Words: t.Seen(i.InWords()),
		Width: i.Width, Height: i.Height}
}

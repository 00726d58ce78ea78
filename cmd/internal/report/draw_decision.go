package report

import (
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// decisions draws what was asked and answered; none says that there is nothing.
func decisions(all []view.Decision, none string) g.Node {
	if len(all) == 0 {
		return html.P(g.Text(none))
	}
	return g.Map(all, oneDecision)
}

// oneDecision draws a question with what became of it.
func oneDecision(d view.Decision) g.Node {
	return html.Div(html.Class("decision"), html.ID(d.ID), markup.Lines(
		paragraph("meta", markup.Dotted(g.Text(d.ID), g.Text(string(d.Kind)), some(d.Who), moment(d.AskedAt))),
		paragraph("text", see(d.Asks())),
		g.If(d.Context != "", folded("What was shown with it", markup.Evidence("What was shown with it", see(d.Context)))),
		g.Iff(d.Image != nil, func() g.Node { return paragraph("text", see(view.ShowsImage+d.Image.InWords())) }),
		g.If(d.Assumption != "", paragraph("text", see(view.AssumedInWords(d.QuestionView)))),
		paragraph("text answer", see(outcome(d))),
		paragraph("meta", markup.Dotted(byWhom(d), markup.Some(ran(d)), markup.Some(remark(d)))),
	))
}

// byWhom draws who has answered, and how long that took.
func byWhom(d view.Decision) g.Node {
	switch {
	case d.AnsweredAt != nil && d.AnsweredBy != "":
		return markup.One(g.Text("by "), own(by(d)), g.Text(", "+after(d.After)))
	case d.AnsweredAt != nil:
		return g.Text(after(d.After))
	case d.State == supervisor.Open:
		return g.Text("open for " + terminal.Duration(d.After))
	}
	return nil
}

// ran says how a command of a person ended; "" for anything else.
func ran(d view.Decision) string {
	if d.Ran == "" {
		return ""
	}
	return "ran: " + line(d.Ran)
}

// remark says how an answer was told whose process had ended; "" for anything else.
func remark(d view.Decision) string {
	if d.AnsweredAt == nil {
		return ""
	}
	return line(d.Remark)
}

// after says how long an answer took.
func after(d time.Duration) string {
	if d < time.Second {
		return "at once"
	}
	return "after " + terminal.Duration(d)
}

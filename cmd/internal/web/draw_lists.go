package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
)

// desk draws the first page: what waits for a person, and the runs.
func (d drawer) desk(p deskPage) g.Node {
	return d.page(p.frame,
		html.H1(html.Class("hidden"), g.Text("What waits for you")),
		g.Iff(p.Answered != nil, func() g.Node {
			return html.Section(markup.Aria("labelledby", "answered"),
				html.H2(html.ID("answered"), g.Text("Just answered")), markup.Lines(d.card(*p.Answered)))
		}),
		html.Section(markup.Aria("labelledby", "waiting"), markup.Lines(
			openQuestions(p.Count),
			html.Div(html.ID("cards"), html.Class("queue"), markup.Lines(g.Map(p.Cards, d.card))),
			otherPages(p),
		)),
		html.Section(markup.Aria("labelledby", "going"), markup.Lines(
			html.H2(html.ID("going"), g.Text("Runs")),
			d.runs(p.Runs),
			paragraph("meta none", "No run is active."),
			g.If(p.MoreRuns > 0, html.P(g.Textf("%d more: ", p.MoreRuns), command(d.config.Program+" ps"))),
		)),
	)
}

// pastRuns draws the page of the runs that have ended.
func (d drawer) pastRuns(p deskPage) g.Node {
	runs := d.runs(p.Runs)
	if len(p.Runs) == 0 {
		runs = html.Div(html.ID("runs"), markup.Lines(html.P(g.Text("No run has ended yet."))))
	}
	return d.page(p.frame,
		html.H1(g.Text("Past runs")),
		hiddenHeading("Runs, the latest first"),
		runs,
		otherPages(p),
	)
}

// oneRun draws the page of a run.
func (d drawer) oneRun(p deskPage) g.Node {
	return d.page(p.frame,
		html.H1(g.Text(p.Title)),
		html.P(html.Class("meta"), g.Text("run "), html.Span(html.Class("id"), g.Text(p.Runs[0].ID))),
		hiddenHeading("What it asks, and its agents"),
		html.Div(html.ID("cards"), markup.Lines(g.Map(p.Cards, d.card))),
		d.runs(p.Runs),
	)
}

func (d drawer) runs(runs []shownRun) g.Node {
	return html.Div(html.ID("runs"), markup.Lines(g.Map(runs, d.run)))
}

// otherPages draws the links to the rest of a list.
func otherPages(p deskPage) g.Node {
	if p.Earlier < 0 && p.Later < 0 {
		return nil
	}
	return html.Nav(html.Class("pages"), markup.Aria("label", "More of the list"), markup.Lines(
		g.If(p.Earlier >= 0, html.A(markup.Numbered("?from=", int64(p.Earlier)).Href(), g.Text("Earlier ones"))),
		g.If(p.Later >= 0, html.A(html.Rel("next"), markup.Numbered("?from=", int64(p.Later)).Href(), g.Text("Next ones"))),
	))
}

// oneQuestion draws the page of a question.
func (d drawer) oneQuestion(p questionPage) g.Node {
	others := "All open questions"
	if p.Count == 0 {
		others = "No question is open"
	}
	return d.page(p.frame,
		html.H1(g.Text("Question")),
		html.P(html.Class("meta"), html.Span(html.Class("id"), g.Text(p.ID))),
		hiddenHeading("What is asked"),
		html.Div(html.ID("cards"), d.card(p.shownCard)),
		html.P(html.A(markup.Path("/").Href(), g.Text(others))),
	)
}

// report draws the page of what happened in a run.
func (d drawer) report(p reportPage) g.Node {
	return d.document(p.frame,
		markup.Lines(html.Link(html.Rel("stylesheet"), markup.Path("/static/report.css").Href())),
		d.top(p.frame),
		content(
			html.H1(g.Text(p.Title)),
			html.P(html.A(markup.PathOf("/runs/", p.Run).Href(), g.Text("Its questions and agents"))),
			html.Div(html.ID("report"), p.Report),
		))
}

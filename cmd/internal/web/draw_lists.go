package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
)

// desk draws the first page: what waits for a person, and the runs.
func (d drawer) desk(p deskPage) g.Node {
	return d.page(p.frame,
		html.H1(html.Class("hidden"), g.Text("What waits for you")),
		g.If(service.Can[service.Looker](d.config.Service),
			html.P(html.ID("away"), html.Class("away"), html.Role("status"), markup.Flag("hidden"))),
		g.Iff(p.Answered != nil, func() g.Node {
			return html.Section(markup.Aria("labelledby", "answered"),
				html.H2(html.ID("answered"), g.Text("Just answered")), markup.Lines(d.card(*p.Answered)))
		}),
		html.Div(html.Class("columns"), markup.Lines(
			html.Section(markup.Aria("labelledby", "waiting"), markup.Lines(
				openQuestions(p.Count),
				html.Div(html.ID("cards"), html.Class("queue"), markup.Lines(g.Map(p.Cards, d.card))),
				otherPages(p),
			)),
			html.Section(html.Class("beside"), markup.Aria("labelledby", "going"), markup.Lines(
				html.Div(html.ID("views"), html.Role("tablist"), markup.Aria("label", "Beside the questions"),
					markup.Flag("hidden"), markup.Lines(tab("runs", "Runs"), tab("log", "Log"), tab("change", "Change"))),
				html.Div(html.ID("view-runs"), markup.Lines(
					html.H2(html.ID("going"), g.Text("Runs")),
					d.runs(p.Runs),
					paragraph("meta none", "No run is active."),
					g.If(p.MoreRuns > 0, html.P(g.Textf("%d more: ", p.MoreRuns), command(d.config.Program+" ps"))),
				)),
				html.Div(html.ID("view-log"), markup.Flag("hidden")),
				html.Div(html.ID("view-change"), markup.Flag("hidden"), g.If(service.Can[service.Differ](d.config.Service),
					markup.Flag("data-made"))),
			)),
		)),
	)
}

// tab draws a button that has the right of a wide window show something else.
func tab(view, words string) g.Node {
	return html.Button(html.Type("button"), html.Class("quiet"), html.Role("tab"), html.ID("tab-"+view),
		markup.Attribute("data-view", view), markup.Aria("controls", "view-"+view), g.Text(words))
}

// pastRuns draws the page of the runs that have ended.
func (d drawer) pastRuns(p pastPage) g.Node {
	none := "No run has ended yet."
	if p.Words != "" || p.End != "" {
		none = "No past run is like that."
	}
	return d.page(p.frame,
		html.H1(g.Text("Past runs")),
		html.Form(html.Class("find"), html.Role("search"), markup.Path("/runs").Action(), markup.Lines(
			html.Div(html.Label(html.For("find"), g.Text("Find")),
				html.Input(html.ID("find"), html.Name("q"), html.Type("search"), html.Value(p.Words),
					html.Placeholder("name, task, folder, result"))),
			html.Div(html.Label(html.For("end"), g.Text("That have")),
				html.Select(html.ID("end"), html.Name("end"), html.Option(html.Value(""), g.Text("ended in any way")),
					g.Map(ends, func(end supervisor.Status) g.Node {
						return html.Option(html.Value(string(end)), g.If(end == p.End, html.Selected()), g.Text(string(end)))
					}))),
			html.Button(g.Text("Find")),
		)),
		hiddenHeading("Runs, the latest first"),
		html.Div(html.ID("runs"), html.Class("past"), markup.Lines(g.Map(p.Runs, d.run),
			g.If(len(p.Runs) == 0, html.P(g.Text(none))))),
		p.otherPages(),
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
func otherPages(p deskPage) g.Node { return pastPage{deskPage: p}.otherPages() }

func (p pastPage) otherPages() g.Node {
	if p.Earlier < 0 && p.Later < 0 {
		return nil
	}
	at := func(from int) markup.Address {
		return markup.Numbered("?from=", int64(from)).With("q", p.Words).With("end", string(p.End))
	}
	return html.Nav(html.Class("pages"), markup.Aria("label", "More of the list"), markup.Lines(
		g.If(p.Earlier >= 0, html.A(at(p.Earlier).Href(), g.Text("Earlier ones"))),
		g.If(p.Later >= 0, html.A(html.Rel("next"), at(p.Later).Href(), g.Text("Next ones"))),
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
			html.H1(g.Text(p.Heading)),
			p.Above,
			html.Div(html.ID("report"), p.Report),
			p.Below,
		))
}

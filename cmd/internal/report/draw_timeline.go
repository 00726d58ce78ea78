package report

import (
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// drawnTimeline draws how each agent stood over time; where that is not known, why.
func drawnTimeline(r view.RunReport) g.Node {
	if r.Problem != "" {
		return html.P(see(r.Problem))
	}
	t := newTimeline(r)
	return g.Group{
		html.Ul(html.Class("legend"), g.Map(kinds(r), legend)),
		html.P(html.Class("ends"), moment(r.From), g.Text(" "), moment(r.To)),
		g.Map(r.Agents, func(a view.ReportedAgent) g.Node { return row(a, t.Bars(a)) }),
		paragraph("meta", g.Text("The times on the right are those in which an agent had a process. Long stretches in which "+
			"nobody works are drawn shorter.")),
	}
}

func legend(kind view.SpanKind) g.Node {
	return html.Li(markup.Element("svg", html.Class("key"), markup.Attribute("viewBox", "0 0 10 10"),
		markup.Aria("hidden", "true"), rectangle(kind, "", "", "10", "10")), g.Text(string(kind)))
}

// row draws an agent: its place in the tree, its bars, and how long it had a process.
func row(a view.ReportedAgent, bars []Bar) g.Node {
	const deepest = 12 // that has a style
	return html.Div(html.Class("row"), markup.Lines(
		html.Div(html.Class("tree d"+strconv.Itoa(min(a.Depth, deepest))), own(a.Who), g.Text(" "),
			html.Span(html.Class("meta"), g.Text(string(a.Status)))),
		html.Div(html.Class("bar"), markup.Element("svg", html.Class("bars"), markup.Attribute("viewBox", "0 0 1000 16"),
			markup.Attribute("preserveAspectRatio", "none"), html.Role("img"),
			markup.Aria("label", "How "+line(a.Who)+" stood, over time"), markup.Lines(g.Map(bars, bar)))),
		html.Div(html.Class("took"), g.Text(terminal.Duration(a.Worked))),
	))
}

// bar draws a span, which says what it is under the pointer.
func bar(b Bar) g.Node {
	title := string(b.Kind) + ", " + terminal.Duration(b.Took())
	if b.Reason != "" {
		title += ": " + line(view.Because(b.Reason))
	}
	return rectangle(b.Kind, fmt.Sprintf("%.1f", b.X), "0", fmt.Sprintf("%.1f", b.Width), "16",
		markup.Element("title", g.Text(title)))
}

// rectangle draws one in the style of a kind of span.
func rectangle(kind view.SpanKind, x, y, width, height string, more ...g.Node) g.Node {
	return markup.Element("rect", html.Class(class(kind)), g.If(x != "", markup.Attribute("x", x)),
		g.If(y != "", markup.Attribute("y", y)), html.Width(width), html.Height(height), g.Group(more))
}

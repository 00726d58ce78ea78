package report

import (
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// document draws a page that needs nothing but itself.
func document(title string, body ...g.Node) g.Node {
	return html.Doctype(markup.Lines(html.HTML(html.Lang("en"), markup.Lines(
		html.Head(markup.Lines(
			html.Meta(html.Charset("utf-8")),
			html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
			html.Meta(html.Name("color-scheme"), html.Content("light dark")),
			html.Meta(markup.Attribute("http-equiv", "Content-Security-Policy"),
				html.Content("default-src 'none'; style-src 'unsafe-inline'")),
			markup.Style(styles, "style/page.css", "style/report.css"),
			html.TitleEl(g.Text(title)),
		)),
		html.Body(markup.Lines(body...)),
	))))
}

// record draws the page of what was decided in several runs.
func record(r view.Record) g.Node {
	title := recordTitle(r)
	runs := g.Map(r.Runs, decisionsOf)
	if len(r.Runs)+len(r.Beside) == 0 {
		runs = g.Group{html.P(g.Text("There was no run."))}
	}
	return document(title, html.Main(html.Class("report"), markup.Lines(
		html.H1(g.Text(title)),
		g.If(r.Cwd != "", html.P(g.Text("In "), own(r.Cwd), g.Text(" and below"))),
		runs,
		g.Iff(len(r.Beside) > 0, func() g.Node {
			return g.Group{html.H2(g.Text(inSessions)), decisions(r.Beside, "")}
		}),
	)))
}

// decisionsOf draws what was decided in one of several runs.
func decisionsOf(r view.RunReport) g.Node {
	return g.Group{
		html.H2(markup.Dotted(g.Text(r.Run.ID), some(r.Run.Name))),
		html.P(html.Class("meta"), markup.Dotted(
			markup.One(g.Text(string(r.Run.Status)), because(r.Run.Reason)),
			own(r.Run.Cwd),
			g.Text(when(r.Run.StartedAt)),
			g.Text(terminal.Money(r.Run.CostUSD)),
		)),
		decisions(r.Asked, "Nothing was asked."),
	}
}

// see is a text, in a way in which all of it is seen.
func see(s string) g.Node { return g.Text(cut(text.Visible, s, maxText)) }

// line is a text on one line, in a way in which all of it is seen.
func line(s string) string { return cut(text.VisibleLine, s, 300) }

// own is a line of what others wrote: its direction of writing is its own.
func own(s string) g.Node { return bdi(g.Text(line(s))) }

func bdi(shown g.Node) g.Node { return markup.Element("bdi", shown) }

// some is own, or nil for "".
func some(s string) g.Node { return g.If(s != "", own(s)) }

// because draws a reason behind what it is for; nil where there is none.
func because(reason string) g.Node {
	return g.If(reason != "", g.Group{g.Text(": "), own(view.Because(reason))})
}

func paragraph(class string, shown ...g.Node) g.Node {
	return html.P(html.Class(class), g.Group(shown))
}

// folded draws what is shown when a person asks for it.
func folded(summary string, shown g.Node) g.Node {
	return html.Details(html.Summary(g.Text(summary)), shown)
}

// list draws lines of what others wrote.
func list(lines []string) g.Node {
	return html.Ul(g.Map(lines, func(s string) g.Node { return html.Li(own(s)) }))
}

func moment(t time.Time) g.Node {
	return html.Time(html.DateTime(t.UTC().Format(time.RFC3339)), g.Text(when(t)))
}

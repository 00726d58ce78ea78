package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
)

// A drawer draws the pages, and the parts of them that are sent alone.
type drawer struct{ config *Config }

// page draws a page: what all have, around what this one shows.
func (d drawer) page(f frame, shown ...g.Node) g.Node {
	return d.document(f, d.top(f), content(shown...))
}

// document draws a page as a whole. What is an attribute is one of its body.
func (d drawer) document(f frame, body ...g.Node) g.Node {
	return html.Doctype(markup.Lines(html.HTML(html.Lang("en"), markup.Lines(
		d.head(f),
		html.Body(live(f.Live), g.Group(body)),
	))))
}

// live says where the changes of a page are told.
func live(address string) g.Node {
	return g.If(address != "", markup.Attribute("data-live", address))
}

func (d drawer) head(f frame) g.Node {
	return html.Head(markup.Lines(
		html.Meta(html.Charset("utf-8")),
		html.Meta(html.Name("viewport"), html.Content("width=device-width, initial-scale=1")),
		html.Meta(html.Name("referrer"), html.Content("no-referrer")),
		html.Meta(html.Name("color-scheme"), html.Content("light dark")),
		html.TitleEl(
			g.If(f.Count > 0, g.Textf("(%d) ", f.Count)),
			markup.Dotted(markup.Some(f.Title), g.Text(d.config.Program)),
		),
		html.Link(html.Rel("icon"), html.ID("icon"), markup.Numbered("/icon.svg?n=", int64(f.Count)).Href(),
			html.Type("image/svg+xml")),
		html.Link(html.Rel("stylesheet"), markup.Path("/static/page.css").Href()),
		html.Link(html.Rel("manifest"), markup.Path("/manifest.webmanifest").Href()),
		markup.Path("/static/page.js").Script(),
		markup.Path("/static/keys.js").Script(),
		markup.Path("/static/beside.js").Script(),
	))
}

// top draws what stands above the content: the menu, and where the script and the state say what is wrong.
func (d drawer) top(f frame) g.Node {
	return markup.Lines(
		html.A(html.Class("skip"), markup.Path("#main").Href(), g.Text("Skip to the content")),
		html.Header(html.Class("top"), markup.Lines(
			html.P(html.Class("name"), html.A(markup.Path("/").Href(), g.Text(d.config.Program))),
			html.Nav(markup.Aria("label", "Pages"),
				html.A(markup.Path("/").Href(), f.at("/"), g.Text("Now")), g.Text(" "),
				html.A(markup.Path("/runs").Href(), f.at("/runs"), g.Text("Past runs")),
				g.If(service.Can[service.Reporter](d.config.Service), g.Group{g.Text(" "), html.A(markup.Path(meanwhilePath).Href(),
					f.at(meanwhilePath), g.Text("Since you left"))}),
				g.If(f.Starts, g.Group{g.Text(" "), html.A(markup.Path("/start").Href(), f.at("/start"), g.Text("Start a run"))}),
			),
			html.Button(html.ID("keys-button"), html.Class("quiet"), html.Type("button"), markup.Flag("hidden"), g.Text("Keys")),
		)),
		d.keysHelp(f),
		html.P(html.ID("told"), html.Class("told"), html.Role("status"), markup.Aria("live", "polite")),
		html.Div(html.ID("problems"), html.Class("problems"), html.Role("status"), g.Map(f.Problems, errorText)),
	)
}

// at marks the menu's link to the page that is shown.
func (f frame) at(address string) g.Node {
	return g.If(f.Place == address, markup.Aria("current", "page"))
}

func content(shown ...g.Node) g.Node {
	return html.Main(html.ID("main"), markup.Lines(shown...))
}

func errorText(text string) g.Node { return html.P(html.Class("error"), g.Text(text)) }

// alert is read out once the page is there.
func alert(text ...g.Node) g.Node {
	return html.P(html.Class("error"), html.Role("alert"), g.Group(text))
}

// hidden is read out, and not shown.
func hidden(text string) g.Node { return html.Span(html.Class("hidden"), g.Text(text)) }

func hiddenHeading(text string) g.Node { return html.H2(html.Class("hidden"), g.Text(text)) }

func paragraph(class, text string) g.Node { return html.P(html.Class(class), g.Text(text)) }

// post draws a form that changes something.
func post(to markup.Address, class string, fields ...g.Node) g.Node {
	return html.Form(html.Method("post"), to.Action(), g.If(class != "", html.Class(class)), g.Group(fields))
}

func command(text string) g.Node { return html.Code(g.Text(text)) }

// clean is a text of an agent without what a person would not see.
func (d drawer) clean(text string) g.Node { return g.Text(d.config.Clean(text)) }

// line is clean, on one line.
func (d drawer) line(text string) string {
	return strings.Join(strings.Fields(d.config.Clean(text)), " ")
}

// lineText is the line of a text; nil where there is none.
func (d drawer) lineText(text string) g.Node { return g.If(text != "", g.Text(d.line(text))) }

// moment draws a time by the clock of this machine. The script says how long ago it was.
func moment(t time.Time) g.Node {
	return html.Time(html.Class("ago"), html.DateTime(iso(t)), g.Text(when(t)))
}

func iso(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// when says a time by the clock of this machine.
func when(t time.Time) string {
	layout := "15:04, 2 Jan"
	if t = t.Local(); t.Year() != time.Now().Year() {
		layout += " 2006"
	}
	return t.Format(layout)
}

func statusText(status supervisor.Status) g.Node {
	return html.Span(html.Class("status "+string(status)), g.Text(string(status)))
}

// named leads to what a person knows by other words than its id.
func named(to markup.Address, id, words string) g.Node {
	return html.A(to.Href(), html.Title(id), g.Text(words))
}

// questionLinks leads to the open questions of a run or an agent.
func questionLinks(ids []string) g.Group {
	links := make(g.Group, len(ids))
	for i, id := range ids {
		words := "its question"
		if len(ids) > 1 {
			words = fmt.Sprintf("question %d", i+1)
		}
		links[i] = named(markup.PathOf("/questions/", id), id, words)
	}
	return links
}

// folder draws a path: where there is no room, the part above the last is cut.
func (d drawer) folder(path string) g.Node {
	p := folderOf(path)
	return html.P(html.Class("meta folder"), g.Text("in "), html.Code(html.Class("path"), html.Title(d.line(p.Whole)),
		html.Span(g.Text(d.line(p.Above))), html.Span(g.Text(d.line(p.Last)))))
}

// openQuestions draws how many there are. The script keeps it right.
func openQuestions(n int) g.Node {
	count, noun := "No", "questions"
	if n > 0 {
		count = strconv.Itoa(n)
	}
	if n == 1 {
		noun = "question"
	}
	return html.H2(html.ID("waiting"), html.Span(html.ID("count"), g.Text(count)), g.Text(" open "),
		html.Span(html.ID("noun"), g.Text(noun)))
}

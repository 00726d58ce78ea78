package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
)

// agent draws the page of an agent.
func (d drawer) agent(p agentPage) g.Node {
	return d.document(p.frame,
		g.If(p.Log != "", markup.Attribute("data-log", p.Log)),
		d.top(p.frame),
		content(
			html.H1(g.Text(p.Title)),
			d.agentLine(p.In, p.AgentView),
			html.P(html.Class("meta"), g.Text("agent "), html.Span(html.Class("id"), g.Text(p.ID)), g.Text(" of "),
				named(markup.PathOf("/runs/", p.In.ID), p.In.ID, d.runCalled(p.In))),
			html.Details(html.Summary(g.Text("Its task")), html.Pre(html.Class("text"), d.clean(p.Task))),
			g.If(!p.Ended, g.Group{d.messageForm(p.ID), d.stopForm(p.ID, p.Title)}),
			html.H2(g.Text("What it said and did")),
			g.If(!p.Whole, html.P(html.A(markup.Path("?after=0").Href(), g.Text("From the beginning")))),
			d.log(p.Said),
			g.If(p.Next >= 0, html.P(html.A(markup.Numbered("?after=", p.Next).Href(), g.Text("Next part")))),
		))
}

func (d drawer) messageForm(agent string) g.Node {
	if !service.Can[service.Messenger](d.config.Service) {
		return nil
	}
	return post(markup.PathOf("/agents/", agent, "/message"), "act", markup.Lines(
		html.Label(html.For("message"), g.Text("Message to the agent")),
		textarea("message", "text", 2, html.Required()),
		html.P(html.Class("buttons"), html.Button(g.Text("Send"))),
	))
}

func (d drawer) log(said []string) g.Node {
	texts := g.Map(said, func(text string) g.Node { return html.P(d.clean(text)) })
	if len(said) == 0 {
		texts = g.Group{paragraph("none", "Nothing was printed yet.")}
	}
	return html.Div(html.ID("log"), html.Class("log"), html.Role("log"), html.TabIndex("0"),
		markup.Aria("label", "What the agent said and did"), markup.Lines(texts))
}

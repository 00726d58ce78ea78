package web

import (
	"slices"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// run draws a run with its agents.
func (d drawer) run(r shownRun) g.Node {
	class := "run"
	if r.EndedAt != nil {
		class += " ended"
	}
	return html.Article(html.Class(class), html.ID("run-"+r.ID), markup.Attribute("data-id", r.ID),
		markup.Attribute("data-v", r.Version()), markup.Aria("labelledby", "run-name-"+r.ID), html.TabIndex("-1"),
		markup.Lines(
			d.runName(r),
			d.howARunIs(r),
			g.If(r.Summary != "", html.P(html.Class("text summary"), d.clean(r.Summary))),
			g.If(r.Worker != "", paragraph("meta", "on "+d.line(r.Worker))),
			g.If(r.Cwd != "", d.folder(r.Cwd)),
			g.If(r.Solo() == "", html.Ul(html.Class("tree"), d.nodes(r.RunView, r.Tree))),
			g.If(r.Solo() == "" && r.More > 0,
				html.P(html.A(markup.PathOf("/runs/", r.ID).Href(), g.Textf("%d more agents", r.More)))),
			d.whatToDo(r),
		))
}

func (d drawer) runName(r shownRun) g.Node {
	return html.H3(html.ID("run-name-"+r.ID), named(markup.PathOf("/runs/", r.ID), r.ID, d.runCalled(r.RunView)))
}

// howARunIs draws the line below its name.
func (d drawer) howARunIs(r shownRun) g.Node {
	return html.P(html.Class("meta"), markup.Dotted(
		markup.One(statusText(r.Status), g.Text(" "), moment(r.Since)),
		g.Text(text.Money(r.CostUSD)),
		d.why(r.RunView, r.Why()),
		g.If(r.Solo() != "", questionLinks(r.OpenQuestions)),
	))
}

// whatToDo draws what a person can do with a run.
func (d drawer) whatToDo(r shownRun) g.Node {
	s, name := d.config.Service, d.runCalled(r.RunView)
	return html.Div(html.Class("buttons"), markup.Lines(
		g.If(r.EndedAt == nil, d.stopForm(r.ID, name)),
		g.If(r.EndedAt == nil && r.Left && service.Can[service.Resumer](s), resumeForm(r.ID, name)),
		g.If(r.Solo() != "", html.A(markup.PathOf("/agents/", r.Solo()).Href(), g.Text("Log"), hidden(" of "+name))),
		g.If(service.Can[service.Reporter](s), html.A(markup.PathOf("/runs/", r.ID, "/report").Href(), g.Text("Report"),
			hidden(" of "+name))),
		g.If(service.Can[service.Differ](s), html.A(markup.PathOf("/runs/", r.ID, "/change").Href(), g.Text("Changes"),
			hidden(" of "+name))),
		g.Iff(r.Forked != nil && service.Can[service.Forker](s), func() g.Node { return forkButtons(r, name) }),
		g.If(service.Can[service.Retrier](s) && failed(r.RunView),
			actForm(markup.PathOf("/runs/", r.ID, "/retry"), "Retry what failed", " in "+name, "")),
		g.If(service.Can[service.Pruner](s) && r.EndedAt != nil, actForm(markup.PathOf("/runs/", r.ID, "/prune"), "Delete",
			" the records of "+name, "Delete the records of "+name+"? "+deletes)),
	))
}

// deletes says what a deletion is.
const deletes = "Its questions, its log and its report are gone then. Files in its folder stay."

// failed reports whether something in a run can be tried again.
func failed(v view.RunView) bool {
	return v.SupervisorPID == 0 && slices.ContainsFunc(v.Agents, func(a view.AgentView) bool {
		return a.Status == "failed" || a.Status == "unreported"
	})
}

// actForm draws a button that does something: its label, and to what. sure is what is asked first, if
// anything is.
func actForm(to markup.Address, label, of, sure string) g.Node {
	return post(to, "act", g.If(sure != "", markup.Attribute("data-sure", sure)),
		html.Button(html.Class("quiet"), g.Text(label), hidden(of)))
}

func resumeForm(run, name string) g.Node {
	return actForm(markup.PathOf("/runs/", run, "/resume"), "Resume", " "+name, "")
}

// stopForm stops a run or an agent; the script asks whether it is meant.
func (d drawer) stopForm(id, name string) g.Node {
	return actForm(markup.PathOf("/runs/", id, "/stop"), "Stop", " "+name,
		"Stop "+name+", and what it started? "+d.config.Stops)
}

func (d drawer) nodes(v view.RunView, agents []shownAgent) g.Node {
	return g.Map(agents, func(a shownAgent) g.Node { return d.node(v, a) })
}

// node draws an agent, and below it those that it has started.
func (d drawer) node(v view.RunView, a shownAgent) g.Node {
	return html.Li(
		named(markup.PathOf("/agents/", a.ID), a.ID, d.agentCalled(a.AgentView)), g.Text(" "), statusText(a.Status),
		g.If(a.Reason != "", g.Group{g.Text(" "), html.Span(html.Class("meta"), d.why(v, a.Reason))}),
		g.Map(questionLinks(a.OpenQuestions), func(link g.Node) g.Node { return g.Group{g.Text(" "), link} }),
		g.Iff(len(a.Below) > 0, func() g.Node { return html.Ul(d.nodes(v, a.Below)) }),
	)
}

// agentLine draws how an agent is.
func (d drawer) agentLine(v view.RunView, a view.AgentView) g.Node {
	return html.P(html.ID("agent-"+a.ID), html.Class("meta"),
		markup.Attribute("data-v", string(a.Status)+" "+iso(a.Since)), markup.Dotted(
			statusText(a.Status),
			d.why(v, a.Reason),
			questionLinks(a.OpenQuestions),
		))
}

// why is the reason of a run or of an agent of it, with its times by the clock of this machine; nil where there is
// none.
func (d drawer) why(v view.RunView, reason string) g.Node {
	return d.lineText(d.onPage(v, view.Because(reason)))
}

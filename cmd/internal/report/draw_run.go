package report

import (
	"cmp"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// page draws the report of a run as a page: first what was to be done, and what came of it.
func page(r view.RunReport) g.Node {
	task, summary := "", ""
	if len(r.Agents) > 0 {
		root := r.Agents[0]
		task, _, _ = strings.Cut(strings.TrimSpace(root.Task), "\n")
		if root.Report != nil {
			summary = root.Report.Summary
		}
	}
	return document("Run "+r.Run.ID, html.Main(markup.Lines(
		html.H1(own(cmp.Or(task, r.Run.Name, r.Run.ID))),
		html.P(html.Class("meta"), markup.Dotted(g.Text("Run "+r.Run.ID), some(r.Run.Name))),
		g.If(summary != "", paragraph("text", see(summary))),
		Part(r),
	)))
}

// Part draws the report of a run as one element, of a page that has [CSS].
func Part(r view.RunReport) g.Node {
	return html.Div(html.Class("report"), markup.Lines(
		html.P(html.Strong(html.Class("end "+ending(r.Run.ExitCode)), g.Text(string(r.Run.Status))), because(r.Run.Reason)),
		facts(r),
		html.H2(g.Text("Timeline")),
		drawnTimeline(r),
		html.H2(g.Text("Questions and answers")),
		decisions(chosen(r.Asked, false), "Nothing was asked."),
		html.H2(g.Text("Permitted and run")),
		decisions(chosen(r.Asked, true), "No agent has asked for a permission."),
		rules(r.Rules),
		html.H2(g.Text("Cost and tokens")),
		costs(r.Agents),
		html.H2(g.Text("Tasks and deliverables")),
		g.Map(r.Agents, deliverables),
	))
}

// facts draws what stands above all: where, when, how it ended.
func facts(r view.RunReport) g.Node {
	fact := func(name string, value g.Node) g.Node {
		return markup.One(html.Dt(g.Text(name)), html.Dd(value))
	}
	return html.Dl(markup.Lines(
		fact("Folder", own(r.Run.Cwd)),
		g.Iff(r.Run.Forked != nil, func() g.Node { return fact("Continues from", g.Text(r.Run.Forked.InWords())) }),
		fact("Started", moment(r.Run.StartedAt)),
		g.Iff(r.Run.EndedAt != nil, func() g.Node { return fact("Ended", moment(*r.Run.EndedAt)) }),
		g.Iff(r.Run.ExitCode != nil, func() g.Node { return fact("Exit code", g.Text(strconv.Itoa(*r.Run.ExitCode))) }),
		fact("Took", g.Text(terminal.Duration(r.Took()))),
		fact("Cost", g.Text(terminal.Money(r.Run.CostUSD))),
	))
}

// rules draws what was permitted without being asked; nil if nothing was.
func rules(all []view.PermissionView) g.Node {
	if len(all) == 0 {
		return nil
	}
	return g.Group{html.H3(g.Text("Unasked, by rules")), html.Ul(g.Map(all, func(p view.PermissionView) g.Node {
		return html.Li(html.Code(html.Class("text"), g.Text(line(p.Rule))), g.Text(", by "), own(p.From))
	}))}
}

// costs draws the table of what each agent has cost. The keyboard scrolls it where it is too wide.
func costs(agents []view.ReportedAgent) g.Node {
	heading := func(name string) g.Node { return html.Th(html.Scope("col"), g.Text(name)) }
	headings := g.Map([]string{"Cost", "Tokens in", "from cache", "to cache", "out", "Tool uses", "Launches"},
		func(name string) g.Node { return html.Th(html.Scope("col"), html.Class("n"), g.Text(name)) })
	return html.Div(html.Class("wide"), html.ID("cost"), html.TabIndex("0"), html.Role("region"),
		markup.Aria("label", "Cost and tokens"), html.Table(markup.Lines(
			html.THead(html.Tr(heading("Agent"), heading("Status"), headings)),
			html.TBody(markup.Lines(g.Map(agents, cost))),
		)))
}

// cost draws the row of an agent.
func cost(a view.ReportedAgent) g.Node {
	number := func(shown ...g.Node) g.Node { return html.Td(html.Class("n"), g.Group(shown)) }
	tokens := func(n int64) g.Node { return number(g.Text(terminal.Tokens(n))) }
	tier := a.UnusualTier()
	return html.Tr(
		html.Th(html.Scope("row"), own(a.Who), html.Br(), html.Span(html.Class("meta"), g.Text(a.ID))),
		html.Td(html.Class("s"), g.Text(string(a.Status))),
		number(g.Text(terminal.Money(a.CostUSD)), g.If(tier != "", g.Group{g.Text(" ("), own(tier), g.Text(")")})),
		tokens(a.InputTokens), tokens(a.CacheRead), tokens(a.CacheCreation), tokens(a.OutputTokens),
		number(g.Text(strconv.Itoa(a.ToolUses))),
		number(g.Text(strconv.Itoa(a.Launches))),
	)
}

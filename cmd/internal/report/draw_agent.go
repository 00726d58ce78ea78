package report

import (
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// deliverables draws what an agent was to do, and what it gave back.
func deliverables(a view.ReportedAgent) g.Node {
	return html.Div(html.Class("decision"), html.ID(a.ID), markup.Lines(
		html.H3(markup.Dotted(own(a.Who), g.Text(string(a.Status)))),
		folded("The task", paragraph("text", see(a.Task))),
		reported(a),
		g.Map(a.Parts, part),
		g.Iff(a.Worktree != nil, func() g.Node { return worktree(*a.Worktree, a.Changed) }),
	))
}

// reported draws the report of an agent; without one, why there is none.
func reported(a view.ReportedAgent) g.Node {
	switch {
	case a.Report != nil:
		return whatItReports(a)
	case a.Reason != "":
		return html.P(own(view.Because(a.Reason)))
	}
	return html.P(g.Text("No report."))
}

func whatItReports(a view.ReportedAgent) g.Node {
	r := a.Report
	return g.Group{
		paragraph("text", see(r.Summary)),
		section("Deliverables", r.Deliverables),
		g.If(len(r.Missing) > 0, g.Group{html.H4(g.Text("Missing on disk")), list(r.Missing)}),
		section("Metrics", r.Metrics),
		section("Issues", r.Issues),
		section("Recommendations", r.Recommendations),
	}
}

// part draws what a subagent has reported.
func part(p supervisor.PartReport) g.Node {
	return g.Group{
		html.H4(g.Text("Subagent: "), see(p.By.Name()), g.Text(", "+p.Status)),
		paragraph("text", see(p.Summary)),
		section("Deliverables", p.Deliverables),
		g.If(len(p.Missing) > 0, g.Group{html.H4(g.Text("Missing on disk")), list(p.Missing)}),
		section("Issues", p.Issues),
	}
}

// section draws a part of a report, if it has it.
func section(name, text string) g.Node {
	return g.If(text != "", g.Group{html.H4(g.Text(name)), paragraph("text", see(text))})
}

// worktree draws what an agent has left in a folder of its own, and the commands that take it over.
func worktree(w view.WorktreeView, changed []string) g.Node {
	state, place := string(w.State), line(w.Path)
	if w.Branch != "" {
		place = strings.TrimSpace("branch " + line(w.Branch) + "\n" + place)
	}
	return g.Group{
		html.H4(g.Text("Worktree")),
		paragraph("text", g.Text(state), g.If(w.Left != "", g.Group{g.Text(": "), see(w.Left)}), g.Text("\n"+place)),
		g.If(len(changed) > 0, folded("Changed files", list(few(changed)))),
		g.If(len(w.Merge) > 0, markup.Evidence("The commands that merge it",
			g.Map(w.Merge, func(command string) g.Node { return g.Group{see(command), g.Text("\n")} }))),
	}
}

package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
)

// keysHelp draws what the keys of the script do, which are those of the board. It is shown by the script alone.
func (d drawer) keysHelp(f frame) g.Node {
	s := d.config.Service
	row := func(key, does string) g.Node {
		return html.Div(html.Dt(html.Kbd(g.Text(key))), html.Dd(g.Text(does)))
	}
	return html.Dialog(html.ID("keys"), markup.Aria("labelledby", "keys-heading"), markup.Lines(
		html.H2(html.ID("keys-heading"), g.Text("Keys")),
		html.Dl(markup.Lines(
			row("j k", "down and up the questions and runs; g G: to the first and the last"),
			row("a", "to the next open question, urgent first, then the oldest; <: back"),
			row("Enter", "into the question, or to the page of the run; Esc: out of the field"),
			row("1–9", "choose an option of the question; a button is pressed with Enter"),
			g.If(service.Can[service.Messenger](s), row("w", "write to the agent")),
			row("s", "stop the run and what it started"),
			g.If(service.Can[service.Resumer](s), row("r", "resume the run")),
			g.If(service.Can[service.Retrier](s), row("R", "try again what has failed in the run")),
			g.If(service.Can[service.Pruner](s), row("p", "delete the records of a run that has ended")),
			g.If(service.Can[service.Differ](s), row("d", "what the run has changed")),
			row("t", "in a wide window, what is beside the questions: runs, log, change"),
			g.If(f.Starts, row("n", "start a run")),
			row("/ e", "find past runs"),
			row("c", "copy the id"),
			row("o", "copy the path of the folder, and show it"),
			row("?", "show this"),
		)),
		html.Label(html.Class("option"), html.Input(html.Type("checkbox"), html.ID("keys-on"), html.Checked()),
			html.Span(g.Text("Keys are on"))),
		html.Form(html.Method("dialog"), html.Button(g.Text("Close"))),
	))
}

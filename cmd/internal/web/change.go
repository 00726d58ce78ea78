package web

import (
	"net/http"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
)

// pageChange shows what a run has changed; to the script, which has it beside the questions, that alone.
func (s *Server) pageChange(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Service.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	made, err := s.config.Service.(service.Differ).Diff(r.Context(), v.ID, false)
	if err != nil {
		return err
	}
	part := html.Div(html.Class("made"),
		markup.Evidence("What the run has changed", s.draws.diff(strings.TrimRight(made, "\n"))))
	if fragment(r) {
		return send(w, http.StatusOK, part)
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	name := s.draws.runCalled(v)
	return send(w, http.StatusOK, s.draws.page(s.frame(now, "Changes of "+name, countOnly),
		html.H1(g.Text("Changes of "+name)),
		html.P(html.A(markup.PathOf("/runs/", v.ID).Href(), g.Text("Its questions and agents"))), part))
}

// diff draws the lines of a text, each that a change adds or removes as such.
func (d drawer) diff(of string) (rows g.Group) {
	for is, line := range text.DiffLines(of) {
		class := map[text.DiffLine]string{text.Added: "added", text.Removed: "removed"}[is]
		rows = append(rows, html.Span(g.If(class != "", html.Class(class)), g.Text(d.config.Clean(line)+"\n")))
	}
	return rows
}

package web

import (
	"fmt"
	"net/http"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
)

// maxChange is how much is shown of what a run has changed, in bytes.
const maxChange = 256 << 10

// pageChange shows what a run has changed; to the script, which has it beside the questions, that alone.
func (s *Server) pageChange(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Service.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	text, err := s.config.Service.(service.Differ).Diff(r.Context(), v.ID)
	if err != nil {
		return err
	}
	more := ""
	if over := len(text) - maxChange; over > 0 {
		text, more = text[:maxChange], fmt.Sprintf("%d more bytes: %s show %s --diff", over, s.config.Program, v.ID)
	}
	part := s.draws.change(s.config.Clean(text), more)
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

func (d drawer) change(text, more string) g.Node {
	return html.Div(html.Class("made"),
		markup.Evidence("What the run has changed", lines(madeLines(strings.TrimRight(text, "\n")))),
		g.If(more != "", paragraph("meta", more)))
}

// madeLines is diffLines of what was changed in several files: each begins anew.
func madeLines(text string) (all []diffLine) {
	rows, begin := strings.Split(text, "\n"), 0
	for i := 1; i < len(rows); i++ {
		if strings.HasPrefix(rows[i-1], "--- ") && strings.HasPrefix(rows[i], "+++ ") {
			all, begin = append(all, diffLines(strings.Join(rows[begin:i-1], "\n"))...), i-1
		}
	}
	return append(all, diffLines(strings.Join(rows[begin:], "\n"))...)
}

// lines draws the lines of a change, each as what it is.
func lines(of []diffLine) g.Node {
	return g.Map(of, func(line diffLine) g.Node {
		return html.Span(g.If(line.Class != "", html.Class(line.Class)), g.Text(line.Text+"\n"))
	})
}

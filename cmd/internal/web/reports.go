package web

import (
	"net/http"
	"net/url"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/supervisor/service"
)

// A reportPage is what `report` shows, with what stands beside it on the page.
type reportPage struct {
	frame
	Heading              string
	Above, Report, Below g.Node // Above and Below may be nil
}

// pageReport shows what happened in a run; to the script, which asks for it when the run has changed, the report alone.
func (s *Server) pageReport(w http.ResponseWriter, r *http.Request) error {
	what, err := s.config.Service.(service.Reporter).Report(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	part := report.Part(what)
	if fragment(r) {
		return send(w, http.StatusOK, part)
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	id := what.Run.ID
	frame := s.frame(now, "Report of "+s.draws.runCalled(what.Run), "/live?run="+url.QueryEscape(id))
	return send(w, http.StatusOK, s.draws.report(reportPage{frame: frame, Heading: frame.Title, Report: part,
		Above: html.P(html.A(markup.PathOf("/runs/", id).Href(), g.Text("Its questions and agents")))}))
}

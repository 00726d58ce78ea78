package web

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"

	"claude-supervise/cmd/internal/report"
)

// A reportPage is what `report` shows of a run.
type reportPage struct {
	frame
	Run    string
	Report template.HTML
}

// pageReport shows what happened in a run; to the script, which asks for it when the run has changed, the report alone.
func (s *Server) pageReport(w http.ResponseWriter, r *http.Request) error {
	what, err := s.config.Actions.Report(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	var part bytes.Buffer
	if err := report.Part(&part, what); err != nil {
		return err
	}
	if fragment(r) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(part.Bytes()) // who has gone needs it no more
		return nil
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	id := what.Run.ID
	frame := s.frame(now, "Report of "+id, "/live?run="+url.QueryEscape(id))
	return s.page(w, http.StatusOK, "report", reportPage{frame, id, template.HTML(part.String())})
}

package web

import (
	"net/http"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/report"
	"claude-supervise/supervisor/service"
)

// meanwhilePath is the page of what happened since the person was last told.
const meanwhilePath = "/meanwhile"

// pageMeanwhile shows what happened since the person was last told. To look at it changes nothing: a button does.
func (s *Server) pageMeanwhile(w http.ResponseWriter, r *http.Request) error {
	what, err := s.config.Service.(service.Reporter).Meanwhile(r.Context())
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	f := s.frame(now, "Since you left", countOnly)
	f.Place = meanwhilePath
	return send(w, http.StatusOK, s.draws.report(reportPage{frame: f, Heading: report.MeanwhileTitle(what),
		Report: report.MeanwhilePart(what),
		Below: post(markup.Path(meanwhilePath), "act",
			html.Input(html.Type("hidden"), html.Name("until"), html.Value(what.To.Format(time.RFC3339Nano))),
			html.Button(html.Class("quiet"), g.Text("I have seen it")))}))
}

// formMeanwhile takes that the person was told what happened until a moment, which is that of the page they saw.
func (s *Server) formMeanwhile(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	until, err := time.Parse(time.RFC3339Nano, r.PostForm.Get("until"))
	if err != nil || until.After(time.Now()) {
		return &refusal{Status: http.StatusBadRequest, Text: "until is not a time that is past; nothing was done"}
	}
	err = s.config.Service.(service.Reporter).Told(r.Context(), until)
	return s.done(w, r, markup.Path("/"), "What comes next is told from now on.", err)
}

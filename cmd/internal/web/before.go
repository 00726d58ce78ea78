package web

import (
	"net/http"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/precedents"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
)

// before returns a question, and what was answered before to what is like it.
func (s *Server) before(r *http.Request) (Card, []precedents.Precedent, error) {
	q, err := s.config.Service.Question(r.Context(), r.PathValue("id"))
	if err != nil {
		return Card{}, nil, err
	}
	found, err := s.config.Service.(service.Reminder).Precedents(r.Context(), q.ID)
	return s.config.Card(q), found, err
}

func (s *Server) apiPrecedents(w http.ResponseWriter, r *http.Request) error {
	_, found, err := s.before(r)
	if err != nil {
		return err
	}
	found, _ = part(found, 0, len(found))
	return reply(w, http.StatusOK, found)
}

// partBefore is what the script puts into the card of an open question: buttons by which the person says again what
// they said before. What lets something happen is only told.
func (s *Server) partBefore(w http.ResponseWriter, r *http.Request) error {
	c, found, err := s.before(r)
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, html.Div(html.Class("before"), g.Map(found, func(p precedents.Precedent) g.Node {
		answer, said := s.config.Clean(p.Answer), s.config.Clean(p.Said())
		if questions.KindOf(questions.Name(c.Kind)).Lets {
			return paragraph("meta", "You answered before: "+answer+", "+said)
		}
		return post(markup.PathOf("/questions/", c.ID), "answer", html.Input(html.Type("hidden"), html.Name("words"),
			html.Value(p.Answer)), html.Button(html.Class("quiet"), html.Span(html.Class("label"), g.Text(answer)), small(said)))
	})))
}

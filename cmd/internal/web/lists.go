package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/view"
)

const (
	pageCards  = 50  // questions on one page
	pageRuns   = 50  // runs on one page
	pageAgents = 100 // of each run where several runs are shown
	allAgents  = 2000
)

// A deskPage is all that is before a person, or some runs of it.
type deskPage struct {
	frame
	Cards          []shownCard
	Earlier, Later int // from where other pages begin; -1: there is none
	Runs           []shownRun
	MoreRuns       int
	Answered       *shownCard // that was answered just now
}

func (s *Server) deskPage(now view.Overview, from int) deskPage {
	cards, more := part(now.Questions, from, pageCards)
	p := deskPage{frame: s.frame(now, "", fmt.Sprintf("/live?from=%d", from)), Earlier: -1, Later: -1,
		MoreRuns: max(len(now.Runs)-pageRuns, 0)}
	p.Place = "/"
	for _, q := range cards {
		p.Cards = append(p.Cards, s.card(now, q))
	}
	if from > 0 {
		p.Earlier = max(from-pageCards, 0)
	}
	if more {
		p.Later = from + pageCards
	}
	for _, v := range now.Runs[:min(len(now.Runs), pageRuns)] {
		p.Runs = append(p.Runs, treeOf(v, pageAgents))
	}
	return p
}

func from(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (s *Server) pageDesk(w http.ResponseWriter, r *http.Request) error {
	now, at, err := s.desk.overviewAt(r.Context())
	if err != nil {
		return err
	}
	if r.URL.RawQuery == "" {
		text := s.drawnPage.of(at, func() []byte { return []byte(markup.String(s.draws.desk(s.deskPage(now, 0)))) })
		return sendText(w, http.StatusOK, text)
	}
	p := s.deskPage(now, from(r))
	if id := r.URL.Query().Get("answered"); id != "" {
		if q, err := s.config.Service.Question(r.Context(), id); err == nil {
			c := s.card(s.withRun(r.Context(), now, q), q)
			p.Answered = &c
		}
	}
	return send(w, http.StatusOK, s.draws.desk(p))
}

// A questionPage is one question, open or not.
type questionPage struct {
	frame
	shownCard
}

func (s *Server) pageQuestion(w http.ResponseWriter, r *http.Request) error {
	q, err := s.config.Service.Question(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	now = s.withRun(r.Context(), now, q)
	return send(w, http.StatusOK, s.draws.oneQuestion(questionPage{
		s.frame(now, s.draws.begins(q.Asks()), "/live?question="+url.QueryEscape(q.ID)), s.card(now, q)}))
}

// runPage is a run with its open questions; without any Runs if there is none of this id.
func (s *Server) runPage(r *http.Request, now view.Overview, id string) deskPage {
	p := deskPage{frame: s.frame(now, id, "/live?run="+url.QueryEscape(id))}
	v, err := s.config.Service.Run(r.Context(), id)
	if err != nil {
		return p
	}
	p.Runs, p.Title = []shownRun{treeOf(v, allAgents)}, s.draws.runCalled(v)
	for _, q := range now.Questions {
		if q.Run == v.ID {
			p.Cards = append(p.Cards, s.card(now, q))
		}
	}
	return p
}

func (s *Server) pageRun(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Service.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, s.draws.oneRun(s.runPage(r, now, v.ID)))
}

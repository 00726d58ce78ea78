package web

import (
	"net/http"
	"strings"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/view"
)

// A cardChange is a change of a question for the script.
type cardChange struct {
	ID    string `json:"id"`
	HTML  string `json:"html"`
	Open  bool   `json:"open"`
	Next  string `json:"next"` // the open question that stands behind it; "": none
	Count int    `json:"count"`
	Text  string `json:"text"`
}

func (s *Server) questionChange(now view.Overview, q view.QuestionView, next string) any {
	c := s.card(now, q)
	return cardChange{ID: q.ID, HTML: markup.String(s.draws.card(c)), Open: c.Open(), Next: next,
		Count: len(now.Questions), Text: strings.Join(strings.Fields(c.Text), " ")}
}

// A piece of the page is one of its elements for the script.
type piece struct {
	ID    string `json:"id"`
	HTML  string `json:"html"`
	Ended bool   `json:"ended,omitempty"`
}

func (s *Server) runChange(v view.RunView, agents int) any {
	return piece{ID: v.ID, HTML: markup.String(s.draws.run(treeOf(v, agents))), Ended: v.EndedAt != nil}
}

// A liveState is what a page shows, for its script. A list that is nil is not on that page.
type liveState struct {
	Cards  []piece `json:"cards"`
	Runs   []piece `json:"runs"`
	Agents []piece `json:"agents"`
	Count  int     `json:"count"`

	Problems []string `json:"problems"`
}

// pageLive tells the script of a page what has changed: of the first page all, of another what it is about.
func (s *Server) pageLive(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	question, run, agent := query.Get("question"), query.Get("run"), query.Get("agent")
	if question+run+agent+query.Get("count") == "" {
		first := from(r)
		whole := func(now view.Overview, at string) []byte {
			draw := func() []byte { return encoded(s.pieces(s.deskPage(now, first))) }
			if first > 0 {
				return draw()
			}
			return s.drawnLive.of(at, draw)
		}
		return s.serveChanges(w, r, whole, func(c *change) (string, []byte) { return c.name, c.page })
	}
	return s.serveChanges(w, r, func(now view.Overview, _ string) []byte {
		state := liveState{Count: len(now.Questions), Problems: s.problems(now)}
		if now.Gone != nil { // the page keeps what it shows
			return encoded(state)
		}
		if q, err := s.config.Service.Question(r.Context(), question); err == nil && question != "" {
			state.Cards = s.pieces(deskPage{Cards: []shownCard{s.card(s.withRun(r.Context(), now, q), q)}}).Cards
		}
		if run != "" {
			state = s.pieces(s.runPage(r, now, run))
		}
		if v, err := s.config.Service.Run(r.Context(), agent); err == nil && agent != "" {
			state.Agents = s.agentPiece(v, agent)
		}
		return encoded(state)
	}, func(c *change) (string, []byte) {
		switch {
		case c.name == "problems":
			return c.name, c.page
		case c.question != "" && c.question != question && (run == "" || c.run != run):
			return "count", encoded(struct {
				Count int `json:"count"`
			}{c.count})
		case c.question != "":
			return c.name, c.page
		case run != "" && c.run == run:
			return c.name, encoded(s.runChange(c.now, allAgents))
		case agent != "":
			if changed := s.agentPiece(c.now, agent); changed != nil {
				return "agent", encoded(changed[0])
			}
		}
		return "", nil
	})
}

func (s *Server) pieces(p deskPage) liveState {
	state := liveState{Cards: []piece{}, Runs: []piece{}, Count: p.Count, Problems: p.Problems}
	for _, c := range p.Cards {
		state.Cards = append(state.Cards, piece{ID: c.ID, HTML: markup.String(s.draws.card(c))})
	}
	for _, v := range p.Runs {
		state.Runs = append(state.Runs, piece{ID: v.ID, HTML: markup.String(s.draws.run(v))})
	}
	return state
}

// agentPiece returns the line that says how an agent is.
func (s *Server) agentPiece(v view.RunView, id string) []piece {
	for _, a := range v.Agents {
		if a.ID == id {
			return []piece{{ID: id, HTML: markup.String(s.draws.agentLine(v, a))}}
		}
	}
	return nil
}

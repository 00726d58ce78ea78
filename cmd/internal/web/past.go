package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

const (
	partOfPast  = 200  // runs that are read at once
	maxSearched = 5000 // runs that one search looks through; the next begins behind them
)

// ends are the ways in which a run can have ended.
var ends = []supervisor.Status{"succeeded", "partial", "failed", "unreported", "stopped"}

// A pastPage is runs that have ended, or those of them that are looked for.
type pastPage struct {
	deskPage
	Words    string            // each of them is in a run that is shown, in any case
	End      supervisor.Status // that of each; "": any
	Searched int               // how many were looked through
}

// sought reports whether a run is looked for.
func (p pastPage) sought(v view.RunView) bool {
	if p.End != "" && v.Status != p.End {
		return false
	}
	texts := []string{v.ID, v.Name, v.Cwd, v.Summary, v.Reason}
	for _, a := range v.Agents {
		texts = append(texts, a.ID, a.Name, a.Task)
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(p.Words)), func(word string) bool {
		return !strings.Contains(all, word)
	})
}

// find looks for runs after the first ones, and sets where the next page begins.
func (p *pastPage) find(ctx context.Context, past func(ctx context.Context, skip, most int) ([]view.RunView, error),
	first int) error {
	for at := first; ; {
		runs, err := past(ctx, at, partOfPast)
		if err != nil {
			return err
		}
		for _, v := range runs {
			if len(p.Runs) == pageRuns || p.Searched == maxSearched {
				p.Later = at
				return nil
			}
			if p.Searched, at = p.Searched+1, at+1; p.sought(v) {
				p.Runs = append(p.Runs, treeOf(v, pageAgents))
			}
		}
		if len(runs) < partOfPast {
			return nil
		}
	}
}

func (s *Server) pagePast(w http.ResponseWriter, r *http.Request) error {
	first, query := from(r), r.URL.Query()
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	p := pastPage{deskPage: deskPage{frame: s.frame(now, "Past runs", countOnly), Earlier: -1, Later: -1},
		Words: strings.Join(strings.Fields(query.Get("q")), " ")}
	p.Place = "/runs"
	if end := supervisor.Status(query.Get("end")); slices.Contains(ends, end) {
		p.End = end
	}
	if err := p.find(r.Context(), s.config.Service.Past, first); err != nil {
		return err
	}
	if first > 0 {
		p.Earlier = max(first-pageRuns, 0)
		if p.Words != "" || p.End != "" { // where the page before began is not known
			p.Earlier = 0
		}
	}
	return send(w, http.StatusOK, s.draws.pastRuns(p))
}

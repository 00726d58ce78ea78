package web

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"path"
	"strings"

	"claude-supervise/supervisor/service"
)

// A startPage is the form that starts a run.
type startPage struct {
	frame
	Folders            []string
	Folder, Below      string
	Key                string
	Wrong              problem
	Prompt, Task, Name string
}

func (s *Server) pageStart(w http.ResponseWriter, r *http.Request) error {
	return s.startPage(w, r, http.StatusOK, startPage{Key: rand.Text()})
}

func (s *Server) startPage(w http.ResponseWriter, r *http.Request, status int, p startPage) error {
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	p.frame, p.Folders = s.frame(now, "Start a run", countOnly), s.config.Folders
	p.Place = "/start"
	return send(w, status, s.draws.start(p))
}

// formStart starts a run by the form, which has a key of its own: sent twice, it starts one.
func (s *Server) formStart(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	f := r.PostForm
	p := startPage{Folder: f.Get("folder"), Below: f.Get("below"), Key: f.Get("key"),
		Prompt: f.Get("prompt"), Task: strings.TrimSpace(f.Get("task")), Name: strings.TrimSpace(f.Get("name"))}
	run, _, err := s.config.Service.(service.Starter).Start(r.Context(), service.Start{Prompt: p.Prompt, Task: p.Task,
		Cwd: path.Join(p.Folder, p.Below), Name: p.Name, Key: p.Key})
	if err != nil {
		status, wrong := problemOf(err)
		if status >= http.StatusInternalServerError {
			return err
		}
		p.Wrong = wrong
		return s.startPage(w, r, status, p)
	}
	s.desk.refresh(r.Context(), nil)
	http.Redirect(w, r, "/runs/"+url.PathEscape(run), http.StatusSeeOther)
	return nil
}

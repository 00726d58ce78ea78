package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// fragment reports whether the script asks: it needs the card alone.
func fragment(r *http.Request) bool { return r.Header.Get("X-Fragment") != "" }

// formAnswer takes an answer by the form. What is no answer comes back with the reason beside what was sent.
func (s *Server) formAnswer(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	pictures, refused := readAnswer(r)
	var unfit *client.UnfitImages
	if refused != nil && !errors.As(refused, &unfit) {
		return refused
	}
	a := service.Answer{By: by(questions.ByPage, r), Images: pictures, Change: r.PostForm.Get("change") != "",
		AllLike: r.PostForm.Get("all_like") != ""}
	form := questions.Filled{Words: r.PostForm.Get("words"), Instead: r.PostForm.Get("instead")}
	for _, text := range r.PostForm["option"] {
		place, err := strconv.Atoi(text)
		if err != nil {
			return &refusal{Status: http.StatusBadRequest, Text: "that is not an option; nothing was answered"}
		}
		form.Places = append(form.Places, place)
	}
	switch why, assumed := r.PostForm.Get("why"), questions.AsAssumed; r.PostForm.Get("do") {
	case "assumed":
		a.Typed = &assumed
	case "skip":
		a.Skip = true
	case "decline":
		a.Decline = &why
	default:
		a.Form = &form
	}
	if refused == nil {
		_, refused = s.config.Service.Answer(r.Context(), id, a)
	}
	status, p := http.StatusOK, problem{}
	if refused != nil {
		if status, p = problemOf(refused); status == http.StatusNotFound || status >= http.StatusInternalServerError {
			return refused
		}
	}
	var q view.QuestionView
	var err error
	if refused == nil {
		q, err = s.answered(r, id, a)
	} else {
		s.desk.refresh(r.Context(), nil)
		q, err = s.config.Service.Question(r.Context(), id)
	}
	if refused == nil && !fragment(r) {
		http.Redirect(w, r, "/?answered="+url.QueryEscape(id), http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	c := s.card(s.withRun(r.Context(), now, q), q)
	if refused != nil {
		c.Error, c.Given, c.Changing = wrong(c.Card, p, refused), form, a.Change && status == http.StatusUnprocessableEntity
	}
	if p.Answer != nil {
		c.Error = "Yours came later. The answer that counts:"
	}
	if fragment(r) {
		return send(w, status, s.draws.card(c))
	}
	f := s.frame(now, s.draws.begins(q.Asks()), "/live?question="+url.QueryEscape(id))
	return send(w, status, s.draws.oneQuestion(questionPage{f, c}))
}

// said says a text to the script.
func said(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who has gone needs it no more
}

// done shows what becomes of something that was done, and leads back to where it was.
func (s *Server) done(w http.ResponseWriter, r *http.Request, back markup.Address, text string, err error) error {
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context(), nil)
	if v, err := s.config.Service.Run(r.Context(), r.PathValue("id")); err == nil { // else it is said as it is
		text = s.draws.onPage(v, text)
	}
	if fragment(r) {
		said(w, http.StatusOK, s.config.Clean(text))
		return nil
	}
	return send(w, http.StatusOK, s.draws.done(back, text))
}

// called is what a person calls a run or an agent.
func (s *Server) called(ctx context.Context, id string) string {
	v, err := s.config.Service.Run(ctx, id)
	if err != nil {
		return id
	}
	if a, is := v.Agent(id); is {
		return s.draws.agentCalled(a)
	}
	return s.draws.runCalled(v)
}

// place is the page of a run or an agent.
func place(id string) markup.Address {
	if strings.HasPrefix(id, "a-") {
		return markup.PathOf("/agents/", id)
	}
	return markup.PathOf("/runs/", id)
}

func (s *Server) formStop(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	if r.PostForm.Get("sure") == "" {
		return send(w, http.StatusOK, s.draws.sure("Stop", s.called(r.Context(), id), ", and what it started?",
			s.config.Stops, markup.PathOf("/runs/", id, "/stop"), place(id)))
	}
	text, err := s.config.Service.Stop(r.Context(), id, by(questions.ByPage, r))
	return s.done(w, r, place(id), text, err)
}

func (s *Server) formResume(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	text, err := s.config.Service.(service.Resumer).Resume(r.Context(), id)
	return s.done(w, r, place(id), text, err)
}

// formRetry tries again what has failed in a run.
func (s *Server) formRetry(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	text, err := s.config.Service.(service.Retrier).Retry(r.Context(), id)
	return s.done(w, r, place(id), text, err)
}

// formPrune deletes what is kept of a run that has ended.
func (s *Server) formPrune(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	if r.PostForm.Get("sure") == "" {
		return send(w, http.StatusOK, s.draws.sure("Delete", "the records of "+s.called(r.Context(), id), "?", deletes,
			markup.PathOf("/runs/", id, "/prune"), place(id)))
	}
	text, err := s.config.Service.(service.Pruner).Prune(r.Context(), id)
	return s.done(w, r, markup.Path("/runs"), text, err)
}

func (s *Server) formMessage(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	text, err := s.config.Service.(service.Messenger).Say(r.Context(), id, r.PostForm.Get("text"), by(questions.ByPage, r))
	return s.done(w, r, place(id), text, err)
}

// formLook takes that the person looks, and says what has happened while they did not. Only the script says so: of a
// page that is open nobody knows who sees it.
func (s *Server) formLook(w http.ResponseWriter, r *http.Request) error {
	said(w, http.StatusOK, s.config.Away(s.config.Service.(service.Looker).Look(r.Context())))
	return nil
}

// ended reports whether an agent has come to its end.
func ended(a view.AgentView) bool { return supervisor.Status(a.Status).Ended() }

package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A problem is what an error is to who asked.
type problem struct {
	Error      string     `json:"error"`
	Command    string     `json:"command,omitempty"`
	Field      string     `json:"field,omitempty"`
	Answer     *string    `json:"answer,omitempty"`
	AnsweredBy string     `json:"answered_by,omitempty"`
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	Skipped    bool       `json:"skipped,omitempty"`
	Declined   bool       `json:"declined,omitempty"`
}

// text is what is wrong, with what to type.
func (p problem) text() string {
	if p.Command == "" {
		return p.Error
	}
	return p.Error + ": " + p.Command
}

var statuses = map[service.Reason]int{service.Unfit: http.StatusUnprocessableEntity,
	service.NotThere: http.StatusNotFound, service.Conflict: http.StatusConflict, service.Closed: http.StatusGone,
	service.Elsewhere: http.StatusForbidden, service.Away: http.StatusServiceUnavailable}

func problemOf(err error) (status int, p problem) {
	var own *refusal
	var undone *service.Refusal
	var unread *questions.Refusal
	var taken *client.TakenError
	var pictures *client.ImagesRefusal
	var unfit *client.UnfitImages
	p.Error = err.Error()
	switch {
	case errors.As(err, &own):
		p.Field = own.Field
		return own.Status, p
	case errors.As(err, &taken):
		p.Answer, p.AnsweredBy, p.AnsweredAt = &taken.Answer, taken.By, &taken.At
		p.Skipped, p.Declined = taken.Skipped, taken.Declined
		return http.StatusConflict, p
	case errors.As(err, &undone):
		p.Command, p.Field = undone.Command, undone.Field
		return statuses[undone.Reason], p
	case errors.As(err, &unread), errors.As(err, &pictures), errors.As(err, &unfit):
		return http.StatusUnprocessableEntity, p
	case client.TooLate(err), errors.Is(err, supervisor.ErrEnded), errors.Is(err, supervisor.ErrOwned):
		return http.StatusConflict, p
	case view.NoSuchID(err):
		return http.StatusNotFound, p
	case view.Gone(err):
		return http.StatusServiceUnavailable, p
	}
	return http.StatusInternalServerError, p
}

// fail tells who asked what is wrong: a program as JSON, a person as a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, p := problemOf(err)
	if pathOfAPI(r) {
		_ = reply(w, status, p)
		return
	}
	p.Error = s.draws.endedOnPage(p.Error)
	switch {
	case fragment(r):
		said(w, status, p.text())
	default:
		s.pageProblem(w, status, p)
	}
}

// nothingHere answers what no other route takes: with 405 where another method of its path is one.
func (s *Server) nothingHere(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		with := *r
		with.Method = method
		if _, pattern := s.routes.Handler(&with); pattern != "" && !strings.HasSuffix(pattern, "/") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 && !slices.Contains(allowed, r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return &refusal{Status: http.StatusMethodNotAllowed,
			Text: fmt.Sprintf("%s takes %s, not %s", r.URL.Path, strings.Join(allowed, " and "), r.Method)}
	}
	return &refusal{Status: http.StatusNotFound, Text: fmt.Sprintf("there is no %s %s here", r.Method, r.URL.Path)}
}

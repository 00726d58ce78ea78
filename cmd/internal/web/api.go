package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// The API has the same objects as the commands' JSON. What is refused is {"error"}, with "command" where a terminal is
// the place for it, and "answer", "answered_by" and "answered_at" where another answer stands.

// maxListed is how many of a list one reply has; the header Link names the next ones.
const maxListed = 1000

func reply(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(encoded(v), '\n')) // who has gone needs it no more
	return nil
}

// part returns a part of a list, and whether there is more behind it. An empty one is no null.
func part[T any](list []T, skip, most int) ([]T, bool) {
	list = list[min(skip, len(list)):]
	return append([]T{}, list[:min(most, len(list))]...), len(list) > most
}

// nextPart names the part of a list that follows.
func nextPart(w http.ResponseWriter, r *http.Request, skip, most int) {
	query := r.URL.Query()
	query.Set("offset", strconv.Itoa(skip+most))
	query.Set("limit", strconv.Itoa(most))
	w.Header().Set("Link", fmt.Sprintf("<%s?%s>; rel=\"next\"", r.URL.EscapedPath(), query.Encode()))
}

// An apiQuestion is a question as `questions --json` has it, each option with all of its keys.
type apiQuestion struct {
	view.QuestionView
	Options []apiOption `json:"options"`
}

type apiOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview"`
}

func inAPI(q view.QuestionView) apiQuestion {
	options := make([]apiOption, len(q.Options))
	for i, o := range q.Options {
		options[i] = apiOption(o)
	}
	return apiQuestion{q, options}
}

func allInAPI(questions []view.QuestionView) []apiQuestion {
	all := make([]apiQuestion, len(questions))
	for i, q := range questions {
		all[i] = inAPI(q)
	}
	return all
}

func (s *Server) apiRuns(w http.ResponseWriter, r *http.Request) error {
	skip, most, err := window(r)
	if err != nil {
		return err
	}
	var runs []view.RunView
	more := false
	if r.URL.Query().Get("ended") != "" {
		if runs, err = s.config.Service.Past(r.Context(), skip, most+1); err != nil {
			return err
		}
		runs, more = part(runs, 0, most)
	} else {
		now, err := s.desk.current(r.Context())
		if err != nil {
			return err
		}
		runs, more = part(now.Runs, skip, most)
	}
	if more {
		nextPart(w, r, skip, most)
	}
	return reply(w, http.StatusOK, runs)
}

func (s *Server) apiQuestions(w http.ResponseWriter, r *http.Request) error {
	skip, most, err := window(r)
	if err != nil {
		return err
	}
	now, err := s.desk.current(r.Context())
	if err != nil {
		return err
	}
	questions, more := part(now.Questions, skip, most)
	if more {
		nextPart(w, r, skip, most)
	}
	return reply(w, http.StatusOK, allInAPI(questions))
}

func (s *Server) apiQuestion(w http.ResponseWriter, r *http.Request) error {
	q, err := s.config.Service.Question(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, inAPI(q))
}

// An apiLine is a line of a log: as it is, and what it says.
type apiLine struct {
	Line json.RawMessage `json:"line"`
	Said []string        `json:"said"`
}

func (s *Server) apiLog(w http.ResponseWriter, r *http.Request) error {
	log, err := s.config.Service.Log(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	after := int64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
			return &refusal{Status: http.StatusBadRequest, Text: fmt.Sprintf("after takes the next of an earlier reply, not %q",
				text)}
		}
	}
	_, agent := log.Of()
	lines, next, _, err := log.Part(r.Context(), after, logParts)
	if err != nil {
		return err
	}
	found := []apiLine{}
	for _, line := range lines {
		if !json.Valid(line.Line) { // cut by a crash
			continue
		}
		found = append(found, apiLine{Line: line.Line, Said: append([]string{}, line.Said...)})
	}
	return reply(w, http.StatusOK, struct {
		Agent string    `json:"agent"`
		Lines []apiLine `json:"lines"`
		Next  int64     `json:"next"` // what comes later is after this
	}{agent, found, max(next, 0)})
}

func (s *Server) apiEvents(w http.ResponseWriter, r *http.Request) error {
	whole := func(now view.Overview, at string) []byte {
		return s.drawnEvents.of(at, func() []byte {
			runs, _ := part(now.Runs, 0, len(now.Runs))
			now.Problems, _ = part(now.Problems, 0, len(now.Problems))
			return encoded(struct {
				Runs      []view.RunView `json:"runs"`
				Questions []apiQuestion  `json:"questions"`
				Problems  []string       `json:"problems"`
			}{runs, allInAPI(now.Questions), now.Problems})
		})
	}
	return s.serveChanges(w, r, whole, func(c *change) (string, []byte) { return c.name, c.api })
}

func (s *Server) apiAnswer(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Value   *string  `json:"value"`
		Values  []string `json:"values"`
		Decline *string  `json:"decline"`
		Skip    bool     `json:"skip"`
		Change  bool     `json:"change"`
		AllLike bool     `json:"all_like"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	given := 0
	for _, is := range []bool{body.Value != nil, body.Values != nil, body.Decline != nil, body.Skip} {
		if is {
			given++
		}
	}
	if given != 1 {
		return &refusal{Status: http.StatusUnprocessableEntity,
			Text: `give one of "value", "values", "decline" and "skip"; nothing was answered`}
	}
	return s.answerAPI(w, r, service.Answer{Typed: body.Value, Values: body.Values, Decline: body.Decline, Skip: body.Skip,
		Change: body.Change, AllLike: body.AllLike, By: by("a person by the API", r)})
}

func (s *Server) answerAPI(w http.ResponseWriter, r *http.Request, a service.Answer) error {
	id := r.PathValue("id")
	kept, err := s.config.Service.Answer(r.Context(), id, a)
	if err != nil {
		return err
	}
	q, err := s.answered(r, id, a)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, struct {
		apiQuestion
		AllLike     bool     `json:"all_like"`
		SkippedWith []string `json:"skipped_with"`
		Note        string   `json:"note"`
	}{inAPI(q), a.AllLike, append([]string{}, kept.Skipped...), kept.Note})
}

// answered returns a question that was just answered, and waits until the page has seen the answer.
func (s *Server) answered(r *http.Request, id string, a service.Answer) (view.QuestionView, error) {
	q, err := s.config.Service.Question(r.Context(), id)
	switch {
	case view.NoSuchID(err): // a script's: its file has gone with the answer
		q, err = view.QuestionView{ID: id, State: "answered"}, nil
		s.desk.refreshClosed(r.Context(), q)
	case err != nil, a.Change: // it was closed before
		s.desk.refresh(r.Context(), nil)
	default:
		s.desk.closed(q)
		s.desk.refreshClosed(r.Context(), q)
	}
	return q, err
}

// by says who has done something, for people.
func by(where string, r *http.Request) string { return where + " from " + hostName(r.RemoteAddr) }

// becomes replies what becomes of something that was done.
func (s *Server) becomes(w http.ResponseWriter, r *http.Request, id, text string, err error) error {
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context(), nil)
	return reply(w, http.StatusOK, struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}{id, text})
}

func (s *Server) apiStart(w http.ResponseWriter, r *http.Request) error {
	var body service.Start
	if err := read(r, &body); err != nil {
		return err
	}
	body.Key = r.Header.Get("Idempotency-Key")
	run, made, err := s.config.Service.(service.Starter).Start(r.Context(), body)
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context(), nil)
	v, err := s.config.Service.Run(r.Context(), run)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
		w.Header().Set("Location", "/runs/"+run)
	}
	return reply(w, status, v)
}

func (s *Server) apiStop(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	before, _ := s.statusOf(r, id) // what is not there is not stopped
	text, err := s.config.Service.Stop(r.Context(), id, by("a person by the API", r))
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context(), nil)
	after, goesOn := s.statusOf(r, id)
	status := "stopping"
	switch {
	case before.Ended():
		status = "ended"
	case after.Ended():
		status = "stopped"
	case after != "" && !goesOn:
		status = "kept"
	}
	return reply(w, http.StatusOK, struct {
		ID     string `json:"id"`
		Status string `json:"status"` // as `stop --json` has it
		Text   string `json:"text"`
	}{id, status, text})
}

// statusOf returns how a run or an agent is, and whether its run goes on; "" where it is not known.
func (s *Server) statusOf(r *http.Request, id string) (status supervisor.Status, goesOn bool) {
	v, err := s.config.Service.Run(r.Context(), id)
	if err != nil {
		return "", false
	}
	if a, is := v.Agent(id); is {
		return a.Status, v.GoesOn()
	}
	return v.Status, v.GoesOn()
}

func (s *Server) apiResume(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	text, err := s.config.Service.(service.Resumer).Resume(r.Context(), id)
	return s.becomes(w, r, id, text, err)
}

func (s *Server) apiMessage(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Text string `json:"text"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	id := r.PathValue("id")
	text, err := s.config.Service.(service.Messenger).Say(r.Context(), id, body.Text, by("a person by the API", r))
	return s.becomes(w, r, id, text, err)
}

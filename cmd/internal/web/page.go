package web

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

const (
	pageCards  = 50  // questions on one page
	pageRuns   = 50  // runs on one page
	pageAgents = 100 // of each run where several runs are shown
	allAgents  = 2000
)

// A shownCard is a card in its place.
type shownCard struct {
	Card
	RunName, Folder string
	Error           string // why what was sent is no answer
	Given           Form   // what was sent
}

// Checked reports whether an option was chosen in what was sent.
func (c shownCard) Checked(place int) bool { return slices.Contains(c.Given.Places, place) }

// Version is another for a card that looks otherwise.
func (c shownCard) Version() string { return version(c) }

// A shownRun is a run with its agents as a tree.
type shownRun struct {
	view.RunView
	Tree []shownAgent
	More int // agents that are left out
	Goes bool
	Left bool // resume goes on with it
}

// Version is another for a run that looks otherwise.
func (r shownRun) Version() string { return version(r) }

// A shownAgent is an agent with those that it has started.
type shownAgent struct {
	view.AgentView
	Below []shownAgent
}

func version(v any) string {
	h := fnv.New64a()
	_, _ = h.Write(encoded(v)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

func (s *Server) funcs() template.FuncMap {
	return template.FuncMap{
		"clean": s.config.Clean,
		"line":  func(text string) string { return strings.Join(strings.Fields(s.config.Clean(text)), " ") },
		"path":  url.PathEscape,
		"when":  func(t time.Time) string { return t.Local().Format("15:04:05, 2 Jan 2006") },
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"money": func(usd float64) string { return fmt.Sprintf("$%.2f", usd) },
		"diff":  diffLines,
	}
}

// A diffLine is a line of evidence, and whether a change adds or removes it.
type diffLine struct{ Text, Class string }

func diffLines(text string) []diffLine {
	var lines []diffLine
	for line := range strings.SplitSeq(text, "\n") {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{line, class})
	}
	return lines
}

func (s *Server) html(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("web: %s: %v", name, err)) // a bug: the templates are ours, and the buffer takes all
	}
	return template.HTML(b.String())
}

func (s *Server) page(w http.ResponseWriter, status int, name string, data any) error {
	text := s.html(name, data)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who has gone needs it no more
	return nil
}

// card gives a question as the page shows it.
func (s *Server) card(now view.Overview, q view.QuestionView) shownCard {
	c := shownCard{Card: s.config.Card(q)}
	if at := slices.IndexFunc(now.Runs, func(v view.RunView) bool { return v.ID == q.Run }); at >= 0 {
		c.RunName, c.Folder = now.Runs[at].Name, now.Runs[at].Cwd
		if a, is := now.Runs[at].Agent(q.Agent); is && a.Cwd != "" {
			c.Folder = a.Cwd
		}
	}
	return c
}

// treeOf puts each agent below the one that has started it, at most most of them.
func treeOf(v view.RunView, most int) shownRun {
	r := shownRun{RunView: v, Goes: v.GoesOn(), Left: !v.GoesOn() && v.EndedAt == nil}
	agents := v.Agents[:min(len(v.Agents), most)]
	r.More = len(v.Agents) - len(agents)
	below, known := map[string][]view.AgentView{}, map[string]bool{}
	for _, a := range agents {
		known[a.ID] = true
	}
	for _, a := range agents {
		parent := a.Parent
		if !known[parent] {
			parent = ""
		}
		below[parent] = append(below[parent], a)
	}
	var grow func(string) []shownAgent
	grow = func(parent string) (grown []shownAgent) {
		children := below[parent]
		delete(below, parent) // which may be in a circle, in a database that somebody has changed
		for _, a := range children {
			grown = append(grown, shownAgent{a, grow(a.ID)})
		}
		return grown
	}
	r.Tree = grow("")
	return r
}

// A cardChange is a change of a question for the script.
type cardChange struct {
	ID    string        `json:"id"`
	HTML  template.HTML `json:"html"`
	Open  bool          `json:"open"`
	Next  string        `json:"next"` // the open question that stands behind it; "": none
	Count int           `json:"count"`
	Text  string        `json:"text"`
}

func (s *Server) questionChange(now view.Overview, q view.QuestionView, next string) any {
	c := s.card(now, q)
	return cardChange{ID: q.ID, HTML: s.html("card", c), Open: c.Open(), Next: next, Count: len(now.Questions),
		Text: strings.Join(strings.Fields(c.Text), " ")}
}

// A pieceOf the page is one of its elements for the script.
type piece struct {
	ID    string        `json:"id"`
	HTML  template.HTML `json:"html"`
	Ended bool          `json:"ended,omitempty"`
}

func (s *Server) runChange(v view.RunView) any {
	return piece{ID: v.ID, HTML: s.html("run", treeOf(v, pageAgents)), Ended: v.EndedAt != nil}
}

// A deskPage is all that is before a person.
type deskPage struct {
	Cards          []shownCard
	From, Count    int // the place of the first card, and how many questions there are
	Earlier, Later int // from where other pages begin; -1: there is none
	Runs           []shownRun
	MoreRuns       int
	Problems       []string
	Answered       *shownCard // that was answered just now
	Live           string
	ID             string
}

func (s *Server) deskPage(now view.Overview, from int) deskPage {
	cards, more := part(now.Questions, from, pageCards)
	p := deskPage{From: from, Count: len(now.Questions), Earlier: -1, Later: -1, Problems: now.Problems,
		MoreRuns: max(len(now.Runs)-pageRuns, 0)}
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
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	p := s.deskPage(now, from(r))
	if p.From == 0 {
		p.Live = "/live"
	}
	if id := r.URL.Query().Get("answered"); id != "" {
		if q, err := s.config.Source.Question(r.Context(), id); err == nil {
			c := s.card(now, q)
			p.Answered = &c
		}
	}
	return s.page(w, http.StatusOK, "desk", p)
}

// pageLive tells the script of the page with the first questions what has changed.
func (s *Server) pageLive(w http.ResponseWriter, r *http.Request) error {
	return s.serveChanges(w, r, func(now view.Overview) any {
		p := s.deskPage(now, 0)
		var state struct {
			Cards []piece `json:"cards"`
			Runs  []piece `json:"runs"`
			Count int     `json:"count"`
		}
		state.Count = p.Count
		for _, c := range p.Cards {
			state.Cards = append(state.Cards, piece{ID: c.ID, HTML: s.html("card", c)})
		}
		for _, v := range p.Runs {
			state.Runs = append(state.Runs, piece{ID: v.ID, HTML: s.html("run", v)})
		}
		return state
	}, func(c *change) []byte { return c.page })
}

// A questionPage is one question, open or not.
type questionPage struct {
	shownCard
	Count int
	Live  string
}

func (s *Server) pageQuestion(w http.ResponseWriter, r *http.Request) error {
	q, err := s.config.Source.Question(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	return s.page(w, http.StatusOK, "question", questionPage{s.card(now, q), len(now.Questions), ""})
}

func (s *Server) pagePast(w http.ResponseWriter, r *http.Request) error {
	first := from(r)
	runs, err := s.config.Source.Past(r.Context(), first, pageRuns+1)
	if err != nil {
		return err
	}
	p := deskPage{From: first, Earlier: -1, Later: -1}
	shown, more := part(runs, 0, pageRuns)
	for _, v := range shown {
		p.Runs = append(p.Runs, treeOf(v, pageAgents))
	}
	if first > 0 {
		p.Earlier = max(first-pageRuns, 0)
	}
	if more {
		p.Later = first + pageRuns
	}
	return s.page(w, http.StatusOK, "past", p)
}

func (s *Server) pageRun(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Source.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	p := deskPage{ID: v.ID, Runs: []shownRun{treeOf(v, allAgents)}}
	if now, err := s.desk.overview(r.Context()); err == nil {
		for _, q := range now.Questions {
			if q.Run == v.ID {
				p.Cards = append(p.Cards, s.card(now, q))
			}
		}
	}
	return s.page(w, http.StatusOK, "runpage", p)
}

// pageProblem shows what is wrong.
func (s *Server) pageProblem(w http.ResponseWriter, status int, p problem) {
	_ = s.page(w, status, "problem", struct {
		problem
		Status int
		Title  string
	}{p, status, http.StatusText(status)})
}

// fragment reports whether the script asks: it needs the card alone.
func fragment(r *http.Request) bool { return r.Header.Get("X-Fragment") != "" }

// formAnswer takes an answer by the form. What is no answer comes back with the reason beside what was sent.
func (s *Server) formAnswer(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if err := r.ParseForm(); err != nil {
		return err
	}
	a := Answer{By: by("the page", r), Change: r.PostForm.Get("change") != "", AllLike: r.PostForm.Get("all_like") != ""}
	form := Form{Words: r.PostForm.Get("words"), Instead: r.PostForm.Get("instead")}
	for _, text := range r.PostForm["option"] {
		place, err := strconv.Atoi(text)
		if err != nil {
			return &Refusal{Status: http.StatusBadRequest, Text: "that is no option; nothing was answered"}
		}
		form.Places = append(form.Places, place)
	}
	switch why := r.PostForm.Get("why"); r.PostForm.Get("do") {
	case "skip":
		a.Skip = true
	case "decline":
		a.Decline = &why
	default:
		a.Form = &form
	}
	_, refused := s.config.Actions.Answer(r.Context(), id, a)
	status, p := http.StatusOK, problem{}
	if refused != nil {
		if status, p = problemOf(refused); status == http.StatusNotFound || status >= http.StatusInternalServerError {
			return refused
		}
	}
	s.desk.refresh(r.Context())
	if refused == nil && !fragment(r) {
		http.Redirect(w, r, "/?answered="+url.QueryEscape(id), http.StatusSeeOther)
		return nil
	}
	q, err := s.config.Source.Question(r.Context(), id)
	if view.NoSuchID(err) && refused == nil { // a script's: its file has gone with the answer
		q, err = view.QuestionView{ID: id, State: "answered"}, nil
	}
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	c := s.card(now, q)
	c.Error, c.Given = p.Error, form
	if p.Command != "" {
		c.Error += ": " + p.Command
	}
	if fragment(r) {
		return s.page(w, status, "card", c)
	}
	return s.page(w, status, "question", questionPage{c, len(now.Questions), ""})
}

// done shows what becomes of something that was done.
func (s *Server) done(w http.ResponseWriter, r *http.Request, text string, err error) error {
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context())
	return s.page(w, http.StatusOK, "done", struct{ Text, Back string }{text, "/"})
}

func (s *Server) formStop(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	id := r.PathValue("id")
	if r.PostForm.Get("sure") == "" {
		return s.page(w, http.StatusOK, "sure", struct{ ID string }{id})
	}
	text, err := s.config.Actions.Stop(r.Context(), id)
	return s.done(w, r, text, err)
}

func (s *Server) formResume(w http.ResponseWriter, r *http.Request) error {
	text, err := s.config.Actions.Resume(r.Context(), r.PathValue("id"))
	return s.done(w, r, text, err)
}

func (s *Server) formMessage(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	text, err := s.config.Actions.Say(r.Context(), r.PathValue("id"), r.PostForm.Get("text"), by("the page", r))
	return s.done(w, r, text, err)
}

// ended reports whether an agent has come to its end.
func ended(a view.AgentView) bool { return supervisor.Status(a.Status).Ended() }

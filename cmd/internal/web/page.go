package web

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"path"
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

// Told reports whether an agent's line says the reason of the run, too.
func (r shownRun) Told() bool {
	return r.Reason == "" || len(r.Tree) > 0 && r.Tree[0].Reason == r.Reason
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
		"when":  when,
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"money": func(usd float64) string { return fmt.Sprintf("$%.2f", usd) },
		"diff":  diffLines,
	}
}

// when says a time by the clock of this machine.
func when(t time.Time) string {
	layout := "15:04, 2 Jan"
	if t = t.Local(); t.Year() != time.Now().Year() {
		layout += " 2006"
	}
	return t.Format(layout)
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

// A frame is what every page has.
type frame struct {
	Title  string // "": that of the first page
	Count  int    // of open questions
	Live   string // where the page's changes are told; "": it has none
	Starts bool   // runs can be started here
}

// countOnly tells the count of open questions.
const countOnly = "/live?count=only"

func (s *Server) frame(now view.Overview, title, live string) frame {
	return frame{Title: title, Count: len(now.Questions), Live: live, Starts: len(s.config.Folders) > 0}
}

// A deskPage is all that is before a person, or some runs of it.
type deskPage struct {
	frame
	Cards          []shownCard
	Earlier, Later int // from where other pages begin; -1: there is none
	Runs           []shownRun
	MoreRuns       int
	Problems       []string
	Answered       *shownCard // that was answered just now
}

func (s *Server) deskPage(now view.Overview, from int) deskPage {
	cards, more := part(now.Questions, from, pageCards)
	p := deskPage{frame: s.frame(now, "", fmt.Sprintf("/live?from=%d", from)), Earlier: -1, Later: -1,
		Problems: now.Problems, MoreRuns: max(len(now.Runs)-pageRuns, 0)}
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
	if id := r.URL.Query().Get("answered"); id != "" {
		if q, err := s.config.Source.Question(r.Context(), id); err == nil {
			c := s.card(now, q)
			p.Answered = &c
		}
	}
	return s.page(w, http.StatusOK, "desk", p)
}

// A liveState is what a page shows, for its script. A list that is nil is not on that page.
type liveState struct {
	Cards  []piece `json:"cards"`
	Runs   []piece `json:"runs"`
	Agents []piece `json:"agents"`
	Count  int     `json:"count"`
}

// pageLive tells the script of a page what has changed: of the first page all, of another what it is about.
func (s *Server) pageLive(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	question, run, agent := query.Get("question"), query.Get("run"), query.Get("agent")
	if question+run+agent+query.Get("count") == "" {
		return s.serveChanges(w, r, func(now view.Overview) any { return s.pieces(s.deskPage(now, from(r))) },
			func(c *change) (string, []byte) { return c.name, c.page })
	}
	return s.serveChanges(w, r, func(now view.Overview) any {
		state := liveState{Count: len(now.Questions)}
		if q, err := s.config.Source.Question(r.Context(), question); err == nil && question != "" {
			state.Cards = s.pieces(deskPage{Cards: []shownCard{s.card(now, q)}}).Cards
		}
		if run != "" {
			state = s.pieces(s.runPage(r, now, run))
		}
		if v, err := s.config.Source.Run(r.Context(), agent); err == nil && agent != "" {
			state.Agents = s.agentPiece(v.Agents, agent)
		}
		return state
	}, func(c *change) (string, []byte) {
		switch {
		case c.question != "" && c.question != question && (run == "" || c.run != run):
			return "count", encoded(struct {
				Count int `json:"count"`
			}{c.count})
		case c.question != "" || run != "" && c.run == run:
			return c.name, c.page
		case agent != "":
			if changed := s.agentPiece(c.agents, agent); changed != nil {
				return "agent", encoded(changed[0])
			}
		}
		return "", nil
	})
}

func (s *Server) pieces(p deskPage) liveState {
	state := liveState{Cards: []piece{}, Runs: []piece{}, Count: p.Count}
	for _, c := range p.Cards {
		state.Cards = append(state.Cards, piece{ID: c.ID, HTML: s.html("card", c)})
	}
	for _, v := range p.Runs {
		state.Runs = append(state.Runs, piece{ID: v.ID, HTML: s.html("run", v)})
	}
	return state
}

// agentPiece gives the line that says how an agent is.
func (s *Server) agentPiece(agents []view.AgentView, id string) []piece {
	for _, a := range agents {
		if a.ID == id {
			return []piece{{ID: id, HTML: s.html("agentline", a)}}
		}
	}
	return nil
}

// A questionPage is one question, open or not.
type questionPage struct {
	frame
	shownCard
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
	return s.page(w, http.StatusOK, "question", questionPage{s.frame(now, q.ID, "/live?question="+url.QueryEscape(q.ID)),
		s.card(now, q)})
}

func (s *Server) pagePast(w http.ResponseWriter, r *http.Request) error {
	first := from(r)
	runs, err := s.config.Source.Past(r.Context(), first, pageRuns+1)
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	p := deskPage{frame: s.frame(now, "Past runs", countOnly), Earlier: -1, Later: -1}
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

// runPage is a run with its open questions; without any Runs if there is none of this id.
func (s *Server) runPage(r *http.Request, now view.Overview, id string) deskPage {
	p := deskPage{frame: s.frame(now, id, "/live?run="+url.QueryEscape(id))}
	v, err := s.config.Source.Run(r.Context(), id)
	if err != nil {
		return p
	}
	p.Runs = []shownRun{treeOf(v, allAgents)}
	for _, q := range now.Questions {
		if q.Run == v.ID {
			p.Cards = append(p.Cards, s.card(now, q))
		}
	}
	return p
}

func (s *Server) pageRun(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Source.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	return s.page(w, http.StatusOK, "runpage", s.runPage(r, now, v.ID))
}

// A startPage is the form that starts a run.
type startPage struct {
	frame
	Folders            []string
	Folder, Below      string
	Key                string
	Error, Command     string
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
	return s.page(w, status, "start", p)
}

// formStart starts a run by the form, which has a key of its own: sent twice, it starts one.
func (s *Server) formStart(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	f := r.PostForm
	p := startPage{Folder: f.Get("folder"), Below: f.Get("below"), Key: f.Get("key"),
		Prompt: f.Get("prompt"), Task: strings.TrimSpace(f.Get("task")), Name: strings.TrimSpace(f.Get("name"))}
	run, _, err := s.config.Actions.Start(r.Context(), Start{Prompt: p.Prompt, Task: p.Task,
		Cwd: path.Join(p.Folder, p.Below), Name: p.Name, Key: p.Key})
	if err != nil {
		status, wrong := problemOf(err)
		if status >= http.StatusInternalServerError {
			return err
		}
		p.Error, p.Command = wrong.Error, wrong.Command
		return s.startPage(w, r, status, p)
	}
	s.desk.refresh(r.Context())
	http.Redirect(w, r, "/runs/"+url.PathEscape(run), http.StatusSeeOther)
	return nil
}

// pageProblem shows what is wrong.
func (s *Server) pageProblem(w http.ResponseWriter, status int, p problem) {
	_ = s.page(w, status, "problem", struct {
		frame
		problem
	}{frame{Title: http.StatusText(status)}, p})
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
	c.Error, c.Given = p.text(), form
	if fragment(r) {
		return s.page(w, status, "card", c)
	}
	return s.page(w, status, "question", questionPage{s.frame(now, id, "/live?question="+url.QueryEscape(id)), c})
}

// said says a text to the script.
func said(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who has gone needs it no more
}

// done shows what becomes of something that was done, and leads back to where it was.
func (s *Server) done(w http.ResponseWriter, r *http.Request, back, text string, err error) error {
	if err != nil {
		return err
	}
	s.desk.refresh(r.Context())
	if fragment(r) {
		said(w, http.StatusOK, s.config.Clean(text))
		return nil
	}
	return s.page(w, http.StatusOK, "done", struct {
		frame
		Text, Back string
	}{frame{Title: "Done"}, text, back})
}

// place is the page of a run or an agent.
func place(id string) string {
	if strings.HasPrefix(id, "a-") {
		return "/agents/" + url.PathEscape(id)
	}
	return "/runs/" + url.PathEscape(id)
}

func (s *Server) formStop(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	id := r.PathValue("id")
	if r.PostForm.Get("sure") == "" {
		return s.page(w, http.StatusOK, "sure", struct {
			frame
			ID, Back string
		}{frame{Title: "Stop " + id + "?"}, id, place(id)})
	}
	text, err := s.config.Actions.Stop(r.Context(), id)
	return s.done(w, r, place(id), text, err)
}

func (s *Server) formResume(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	text, err := s.config.Actions.Resume(r.Context(), id)
	return s.done(w, r, place(id), text, err)
}

func (s *Server) formMessage(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return err
	}
	id := r.PathValue("id")
	text, err := s.config.Actions.Say(r.Context(), id, r.PostForm.Get("text"), by("the page", r))
	return s.done(w, r, place(id), text, err)
}

// ended reports whether an agent has come to its end.
func ended(a view.AgentView) bool { return supervisor.Status(a.Status).Ended() }

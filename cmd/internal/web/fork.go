package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
)

// What is asked before something is done, where a script asks. Without one the person reads what it would do.
const (
	beginsAnew = "A new run continues from this question with the other answer, in a git worktree or a copy of its own. " +
		"What was done since outside of its folder is not undone."
	keeps = "What it has changed since the question is merged into the folder of the run that asked, not committed, and " +
		"the other runs that have answered the question are stopped."
)

// againForm answers a question differently, in a new run.
func againForm(c shownCard) g.Node {
	return html.Details(html.Summary(g.Text("Answer it differently, in a new run")), markup.Lines(
		post(markup.PathOf("/questions/", c.ID, "/again"), "act", markup.Attribute("data-sure", beginsAnew), markup.Lines(
			options(c), ownWords(c), html.P(html.Class("buttons"), html.Button(html.Class("quiet"), g.Text("Start the run")))))))
}

// forkButtons is what can be done with a run that continues from a question.
func forkButtons(r shownRun, name string) g.Node {
	return g.Group{
		html.A(markup.PathOf("/runs/", r.ID, "/compare").Href(), g.Text("Compare"),
			hidden(" "+name+" with the run that asked")),
		g.If(r.EndedAt != nil, actForm(markup.PathOf("/runs/", r.ID, "/keep"), "Keep", " what "+name+" has changed",
			"Keep what "+name+" has changed? "+keeps)),
	}
}

// formAgain starts the run that goes on from a question with another answer.
func (s *Server) formAgain(w http.ResponseWriter, r *http.Request) error {
	a, err := againAnswer(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	sure := r.PostForm.Get("sure") != ""
	begun, err := s.config.Service.(service.Forker).Again(r.Context(), id, a, sure)
	switch {
	case err != nil:
		return err
	case !sure:
		return send(w, http.StatusOK, s.draws.sure("Start", "a run", " with the other answer?", begun.Caution,
			markup.PathOf("/questions/", id, "/again"), markup.PathOf("/questions/", id), sentAgain(r)...))
	}
	return s.done(w, r, markup.PathOf("/runs/", begun.Run), begun.Run+" continues from "+id+" in the background.", nil)
}

// againAnswer reads the other answer: options, words or both.
func againAnswer(r *http.Request) (service.Answer, error) {
	a := service.Answer{By: by(questions.ByPage, r)}
	if err := readForm(r); err != nil {
		return a, err
	}
	a.Form = &questions.Filled{Words: r.PostForm.Get("words")}
	for _, at := range r.PostForm["option"] {
		place, err := strconv.Atoi(at)
		if err != nil {
			return a, &refusal{Status: http.StatusBadRequest, Text: "that is not an option; nothing was started"}
		}
		a.Form.Places = append(a.Form.Places, place)
	}
	return a, nil
}

// sentAgain is the other answer as a form sends it once more.
func sentAgain(r *http.Request) (sent []g.Node) {
	for _, name := range []string{"option", "words"} {
		for _, value := range r.PostForm[name] {
			sent = append(sent, html.Input(html.Type("hidden"), html.Name(name), html.Value(value)))
		}
	}
	return sent
}

// formKeep takes over what a run has changed.
func (s *Server) formKeep(w http.ResponseWriter, r *http.Request) error {
	if err := readForm(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	sure := r.PostForm.Get("sure") != ""
	becomes, err := s.config.Service.(service.Forker).Keep(r.Context(), id, sure)
	if err != nil || sure {
		return s.done(w, r, place(id), becomes, err)
	}
	return send(w, http.StatusOK, s.draws.sure("Keep", s.called(r.Context(), id), "?", becomes,
		markup.PathOf("/runs/", id, "/keep"), place(id)))
}

// pageCompare shows a run beside the one from whose question it continues.
func (s *Server) pageCompare(w http.ResponseWriter, r *http.Request) error {
	v, err := s.config.Service.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if v.Forked == nil {
		return &refusal{Status: http.StatusConflict, Text: v.ID + " continues from no question of another run"}
	}
	both, err := s.config.Service.(service.Forker).Compare(r.Context(), v.Forked.Run, v.ID)
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	return send(w, http.StatusOK, s.draws.page(s.frame(now, "Two answers", countOnly), html.H1(g.Text("Two answers")),
		s.draws.compared(both), html.P(html.A(markup.PathOf("/runs/", v.ID).Href(), g.Text("Its questions and agents")))))
}

// compared draws what came of two answers to a question.
func (d drawer) compared(both [2]service.Compared) g.Node {
	row := func(name string, of func(service.Compared) g.Node) g.Node {
		return html.Tr(html.Th(markup.Attribute("scope", "row"), html.Span(g.Text(name))), html.Td(of(both[0])),
			html.Td(of(both[1])))
	}
	var paths []string
	for i := range both {
		for path := range both[i].Changed {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return html.Table(html.Class("both"), html.THead(html.Tr(html.Td(), g.Map(both[:], func(c service.Compared) g.Node {
		return html.Th(markup.Attribute("scope", "col"), html.A(markup.PathOf("/runs/", c.Run).Href(), g.Text(c.Run)))
	}))), html.TBody(markup.Lines(
		row("Answer", func(c service.Compared) g.Node { return d.clean(c.Answer) }),
		row("Status", func(c service.Compared) g.Node { return statusText(c.Status) }),
		row("Cost", func(c service.Compared) g.Node { return g.Text(text.Money(c.CostUSD)) }),
		row("Took", func(c service.Compared) g.Node {
			return g.Text(time.Duration(c.Seconds * float64(time.Second)).Round(time.Second).String())
		}),
		row("Report", func(c service.Compared) g.Node { return d.clean(c.Report) }),
		g.If(both[0].Problem+both[1].Problem != "", row("Not known", func(c service.Compared) g.Node {
			return d.clean(c.Problem)
		})),
		g.Map(slices.Compact(paths), func(path string) g.Node {
			return html.Tr(html.Th(markup.Attribute("scope", "row"), html.Code(d.lineText(path))),
				html.Td(g.Text(both[0].Changed[path])), html.Td(g.Text(whatOf(both, path))))
		}))),
	)
}

// whatOf is what the second of two runs has made of a file.
func whatOf(both [2]service.Compared, path string) string {
	if both[0].SameAs(both[1], path) {
		return "the same"
	}
	return strings.TrimSpace(both[1].Changed[path])
}

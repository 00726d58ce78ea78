package web

import (
	"cmp"
	"context"
	"slices"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// A shownCard is a card in its place.
type shownCard struct {
	Card
	RunName, Folder string
	Left            bool             // it is answered, and its run has to be resumed to go on with that
	Error           string           // why what was sent is no answer
	Given           questions.Filled // what was sent
	Changing        bool             // that was to take the place of an answer, and cannot
}

// Misfilled reports whether the form has to be filled in otherwise.
func (c shownCard) Misfilled() bool { return c.Error != "" && (c.Open() || c.Changing) }

// Checked reports whether an option was chosen in what was sent.
func (c shownCard) Checked(place int) bool { return slices.Contains(c.Given.Places, place) }

// Version is another for a card that looks otherwise.
func (c shownCard) Version() string { return version(c) }

// withRun adds the run of a question to what there is now: it may have ended.
func (s *Server) withRun(ctx context.Context, now view.Overview, q view.QuestionView) view.Overview {
	if v, err := s.config.Service.Run(ctx, q.Run); q.Run != "" && err == nil {
		now.Ended = append(slices.Clip(now.Ended), v)
	}
	return now
}

// card returns a question as the page shows it.
func (s *Server) card(now view.Overview, q view.QuestionView) shownCard {
	c := shownCard{Card: s.config.Card(q)}
	c.RunName = cmp.Or(s.draws.line(q.RunName), q.Run)
	runs, of := now.Runs, func(v view.RunView) bool { return v.ID == q.Run }
	at := slices.IndexFunc(runs, of)
	if at < 0 {
		runs, at = now.Ended, slices.IndexFunc(now.Ended, of)
	}
	if at >= 0 {
		v := runs[at]
		c.RunName, c.Folder = s.draws.runCalled(v), v.Cwd
		a, is := v.Agent(q.Agent)
		switch {
		case len(v.Agents) < 2:
			c.Agent = "" // it is the run
		case is:
			c.Agent = s.draws.agentCalled(a)
		}
		c.Folder = cmp.Or(a.Cwd, c.Folder)
		c.Left = q.State == "answered" && v.EndedAt == nil && !v.GoesOn()
	}
	return c
}

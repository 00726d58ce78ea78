package web

import (
	"slices"
	"strings"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// A shownCard is a card in its place.
type shownCard struct {
	Card
	RunName, Folder string
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

// A diffLine is a line of evidence, and whether a change adds or removes it.
type diffLine struct{ Text, Class string }

// diffLines gives the lines of a text. What comes before the first @@ of a change is no part of it.
func diffLines(text string) []diffLine {
	var lines []diffLine
	changes := false
	for line := range strings.SplitSeq(text, "\n") {
		class := ""
		switch {
		case strings.HasPrefix(line, "@@ "):
			changes = true
		case changes && strings.HasPrefix(line, "+"):
			class = "added"
		case changes && strings.HasPrefix(line, "-"):
			class = "removed"
		}
		lines = append(lines, diffLine{line, class})
	}
	return lines
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

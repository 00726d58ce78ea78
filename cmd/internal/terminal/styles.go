package terminal

import (
	"charm.land/bubbles/v2/textarea"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// styles are the looks of a form: weight, and the terminal's own sixteen colours, which its person has chosen to be
// readable. With NO_COLOR only the place where keys go is marked.
type styles struct {
	title, accent, faint, alarm lipgloss.Style
	added, removed, hunk        ansi.Style  // of lines of a change
	fields, unselected          *huh.Styles // of lists; of one in which nothing is selected
}

func newStyles(colours bool) *styles {
	s := &styles{fields: new(huh.Styles), unselected: new(huh.Styles)}
	if colours {
		s.title = s.title.Bold(true)
		s.accent = s.accent.Bold(true).Foreground(lipgloss.Cyan)
		s.faint = s.faint.Faint(true)
		s.alarm = s.alarm.Bold(true).Foreground(lipgloss.Yellow)
		s.added = ansi.NewStyle().ForegroundColor(ansi.Green)
		s.removed = ansi.NewStyle().ForegroundColor(ansi.Red)
		s.hunk = ansi.NewStyle().ForegroundColor(ansi.Cyan)
	}
	field := &s.fields.Focused
	field.SelectSelector = s.accent.SetString("❯ ")
	field.MultiSelectSelector = field.SelectSelector
	field.SelectedPrefix = s.accent.SetString("[x] ")
	field.UnselectedPrefix = lipgloss.NewStyle().SetString("[ ] ")
	if colours {
		field.SelectedOption = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	}
	s.unselected.Focused.SelectSelector = lipgloss.NewStyle().SetString("  ")
	return s
}

// theme is what huh's fields look like; none reports whether nothing is selected. huh asks for it for every row that it
// draws, so it is made once.
func (s *styles) theme(none func() bool) huh.Theme {
	return huh.ThemeFunc(func(bool) *huh.Styles {
		if none() {
			return s.unselected
		}
		return s.fields
	})
}

// textarea is what the field for own words looks like.
func (s *styles) textarea() textarea.Styles {
	return textarea.Styles{Focused: textarea.StyleState{Prompt: s.accent}}
}

package questions

import (
	"slices"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// PageValue turns what came by the page into the answer that is kept; a *web.Refusal says what is wrong with it. cwd
// and check are as for Flags.Value.
func (f Flags) PageValue(q view.QuestionView, a web.Answer, cwd string, check func(value string) error) (string,
	error) {
	if a.Decline != nil {
		return f.Reason(q, "", *a.Decline, true)
	}
	if err := f.Fits(q); err != nil || f.Skip {
		return "", err
	}
	ask := Shown(q)
	var value string
	var err error
	switch {
	case a.Value != nil:
		value, err = terminal.Choose(ask, *a.Value, cwd)
	case a.Form != nil:
		value, err = formValue(ask, *a.Form, cwd)
	default:
		value, err = severalValues(ask, a.Values, cwd)
	}
	if err != nil {
		return "", err
	}
	if check == nil {
		check = func(string) error { return nil }
	}
	if err := check(value); err != nil {
		return "", web.Refused("%v; question %s stays open", err, q.ID)
	}
	return value, nil
}

// severalValues gives the answer that chooses several options.
func severalValues(ask terminal.Question, values []string, cwd string) (string, error) {
	var places []int
	for _, typed := range values {
		at, err := terminal.Find(ask, typed)
		switch {
		case err != nil:
			return "", err
		case at < 0:
			return "", web.Refused("%q is not one of the options; own words are given as the value, not in values", typed)
		case !slices.Contains(places, at):
			places = append(places, at)
		}
	}
	return terminal.Pick(ask, places, cwd)
}

// formValue gives the answer that a filled in form is. Words beside an option are what belongs to it, where options
// take any; a person who gave both elsewhere may have meant either.
func formValue(ask terminal.Question, form web.Form, cwd string) (string, error) {
	words := strings.TrimSpace(form.Words)
	switch {
	case len(form.Places) == 0 && ask.Decides():
		return "", web.Refused("choose one of the options")
	case len(form.Places) == 0:
		return terminal.Choose(ask, words, cwd)
	}
	label, err := terminal.Pick(ask, form.Places, cwd)
	switch {
	case err != nil:
		return "", err
	case ask.Decides() && label == supervisor.Denial("", ""):
		instead := ""
		if ask.Instead != "" {
			instead = form.Instead
		}
		return terminal.Choose(ask, supervisor.Denial(words, instead), cwd)
	case ask.Decides():
		return terminal.Choose(ask, label+" "+words, cwd)
	case words == "":
		return label, nil
	case ask.Kind == string(supervisor.AskBlocker) && len(form.Places) == 1:
		return terminal.Choose(ask, label+": "+words, cwd)
	}
	return "", web.Refused("an option is chosen, and there are words of your own: leave one of them out")
}

// visible reports whether there is anything of a text to be seen.
func visible(text string) bool { return terminal.CleanLine(text, 0) != "" }

package service

import (
	"strings"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// Judge turns what a person gives to a question into the answer that is kept, whoever gives it, wherever. It returns ""
// for a question that is skipped. A *questions.Refusal says why something is no answer, a *Refusal why it cannot be
// given so. Whether what it decides can be carried out, such as that a rule permits the call, is for who keeps it
// (questions.Check): away from the machine of the run there is no telling. program is how the person calls the program
// whose commands the texts name.
//
// What lets something happen is answered by the id of its question alone: what the person looked at may be closed, and
// another be open since.
func Judge(program string, q view.QuestionView, a Answer, at questions.Place) (string, error) {
	if a.Decline != nil {
		return declined(program, q, a)
	}
	if a.Skip && a.Typed != nil {
		return "", Refused("--skip takes no value: it continues without an answer")
	}
	if err := Fits(program, q, a); err != nil || a.Skip {
		return "", err
	}
	t := q.Terms()
	switch {
	case a.Chosen != nil:
		return *a.Chosen, nil
	case a.Form != nil:
		return t.Fill(*a.Form, at)
	case a.Typed == nil:
		return t.Several(a.Values, at)
	}
	value, err := t.Choose(*a.Typed, at)
	switch {
	case err != nil:
		return "", err
	case a.Named != NamedByID && questions.KindOf(q.Kind).Lets:
		return "", Refused("an answer to a question of this kind (%s) needs its id, for another may be open than the "+
			"one that you saw; nothing was kept. Look at it with `%s show %s`, then type: %s answer %s %s", q.Kind,
			program, q.ID, program, q.ID, text.CleanLine(value, 60))
	case a.Named == NamedByNone && !a.Screen && freeText(q, value):
		return "", Refused("without a terminal, free text needs the id of its question: %s answer %s %q", program, q.ID,
			value)
	}
	return value, nil
}

// Fits refuses what a question does not take beside its answer.
func Fits(program string, q view.QuestionView, a Answer) error {
	switch {
	case q.Session != nil:
		return fitsSession(program, q, a)
	case q.Run == "" && (a.Skip || a.SkipRest):
		return Refused("question %s belongs to no run: it is neither skipped nor resumed", q.ID)
	case q.Run == "" && a.AllLike:
		return Refused("question %s belongs to no run, so there are none like it; leave --all-like out", q.ID)
	case a.AllLike && !records.Sharable(q.Kind):
		return Refused("the answer to a question of this kind (%s) is for it alone; leave --all-like out", q.Kind)
	case a.SkipRest && !q.Optional:
		return Refused("%s and the questions asked with it are required; --skip-rest skips none of them; nothing was kept",
			q.ID)
	case a.Skip && !q.Optional:
		return Refused("question %s is required and cannot be skipped; `%s stop %s` ends the run instead", q.ID, program,
			q.Run)
	}
	return nil
}

// declined returns the reason why a question is not answered.
func declined(program string, q view.QuestionView, a Answer) (string, error) {
	switch why := *a.Decline; {
	case a.Typed != nil:
		return "", Refused("--decline refuses to answer: give either a VALUE or the reason")
	case a.Skip:
		return "", Refused("--skip and --decline cannot be combined")
	case strings.TrimSpace(why) == "":
		return "", Refused("say why, so that the agent knows what to do: %s answer %s --decline \"WHY\"", program, q.ID)
	case q.Run == "" && q.Session == nil:
		return "", Refused("question %s belongs to no run: its script would take the reason for the answer", q.ID)
	case !questions.KindOf(q.Kind).Refusable():
		var offered []string
		for _, o := range q.Options {
			offered = append(offered, o.Label)
		}
		return "", Refused("question %s cannot be declined, its run waits for one of its answers: %s answer %s %s",
			q.ID, program, q.ID, strings.Join(offered, "|"))
	case a.Named == NamedByNone && !a.Screen:
		return "", Refused("without a terminal, --decline needs the id of its question: %s answer %s --decline %q",
			program, q.ID, why)
	}
	return questions.Terms{}.Choose(*a.Decline, questions.Place{}) // words, whatever they look like
}

// freeText reports whether an answer is the person's own words.
func freeText(q view.QuestionView, value string) bool {
	for _, o := range q.Options {
		if value == o.Label {
			return false
		}
	}
	return !q.MultiSelect
}

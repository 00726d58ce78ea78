package questions

import (
	"cmp"
	"fmt"
	"strings"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Flags are what `answer` takes beside a value.
type Flags struct {
	// Program is how a person calls the program whose commands the texts name; "": claude-supervise.
	Program        string
	Change         bool // the answer takes the place of the one given before
	Skip, SkipRest bool // the question is left out; those that were asked with it are
	AllLike        bool // it is the answer to every question of the run that is alike
	Resume, AsJSON bool
	Decline        *string // why there is no answer; nil: it is not declined
}

func (f Flags) program() string { return cmp.Or(f.Program, "claude-supervise") }

// Value turns what was typed into the answer that is kept, or says in a usage error what is wrong with it. named: the
// question was named by an id. tty: a person sits there. cwd is where paths in it begin. check says whether a decision
// can be carried out, where that can be told here; nil: it is told where the answer is kept.
func (f Flags) Value(q view.QuestionView, typed, cwd string, named, tty bool,
	check func(value string) error) (string, error) {
	if f.Decline != nil {
		return f.Reason(q, typed, *f.Decline, named || tty)
	}
	switch {
	case f.Skip && typed != "":
		return "", exitcode.Usage("--skip takes no value: it continues without an answer")
	case q.Kind == supervisor.AskCommand && !tty:
		return "", exitcode.Usage("a command runs as you: whether it may is answered on a terminal, with `%s answer %s`",
			f.program(), q.ID)
	}
	if err := f.Fits(q); err != nil || f.Skip {
		return "", err
	}
	if strings.TrimSpace(typed) == "" {
		return "", exitcode.Usage("no answer was given; type it after the id, as in `%s`",
			cmp.Or(q.AnswerCommand, f.program()+" answer "+q.ID+" VALUE"))
	}
	value, err := terminal.Choose(Shown(q), typed, cwd)
	if err != nil {
		return "", fmt.Errorf("%w; question %s stays open", err, q.ID)
	}
	if check == nil {
		check = func(string) error { return nil }
	}
	if err := check(value); err != nil {
		return "", exitcode.Usage("%w; question %s stays open", err, q.ID)
	}
	if !named && !tty && freeText(q, value) {
		return "", exitcode.Usage("without a terminal, free text needs the id of its question: %s answer %s %q",
			f.program(), q.ID, value)
	}
	return value, nil
}

// Fits refuses flags that a question does not take.
func (f Flags) Fits(q view.QuestionView) error {
	switch {
	case q.Run == "" && (f.Skip || f.SkipRest || f.Resume):
		return exitcode.Usage("question %s belongs to no run: it is neither skipped nor resumed", q.ID)
	case q.Run == "" && f.AllLike:
		return exitcode.Usage("question %s belongs to no run, so there are none like it; leave --all-like out", q.ID)
	case f.AllLike && !supervisor.Sharable(q.Kind):
		return exitcode.Usage("the answer to a question of this kind (%s) is for it alone; leave --all-like out", q.Kind)
	case f.SkipRest && !q.Optional:
		return exitcode.Usage(
			"%s and the questions asked with it are required; --skip-rest skips none of them; nothing was kept", q.ID)
	case f.Skip && !q.Optional:
		return exitcode.Usage("question %s is required and cannot be skipped; `%s stop %s` ends the run instead",
			q.ID, f.program(), q.Run)
	}
	return nil
}

// Reason gives the reason why a question is not answered. sure: it is known which question is meant.
func (f Flags) Reason(q view.QuestionView, typed, why string, sure bool) (string, error) {
	switch {
	case typed != "":
		return "", exitcode.Usage("--decline refuses to answer: give either a VALUE or the reason")
	case f.Skip:
		return "", exitcode.Usage("--skip and --decline cannot be combined")
	case strings.TrimSpace(why) == "":
		return "", exitcode.Usage("say why, so that the agent knows what to do: %s answer %s --decline \"WHY\"",
			f.program(), q.ID)
	case q.Run == "":
		return "", exitcode.Usage("question %s belongs to no run: its script would take the reason for the answer", q.ID)
	case !sure:
		return "", exitcode.Usage("without a terminal, --decline needs the id of its question: %s answer %s --decline %q",
			f.program(), q.ID, why)
	}
	return terminal.Choose(terminal.Question{ID: q.ID}, why, "") // words, whatever they look like
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

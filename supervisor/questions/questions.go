// Package questions is the law of questions: of what kinds there are, what an answer has to be, who may give it and
// what it lets happen. An answer is judged here, in one function, whoever gives it: a person at a prompt, on a page, by
// a command, or who has written it down before or into a file. It is pure: it asks of a path whether there is one by
// what it is handed.
package questions

import (
	"errors"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// Question is the record of one.
type Question = checkpoints.Question

// A Name is that of a kind.
type Name = checkpoints.QuestionKind

// An Option is one offered answer.
type Option = checkpoints.Option

// OnTerminal begins who has answered on a terminal of this machine, which follows.
const OnTerminal = "a person on "

// ByPage begins who has answered on the page, from where follows.
const ByPage = "a person by the page"

// Terms are what of a question an answer is judged by.
type Terms struct {
	Kind        Name
	Options     []Option
	MultiSelect bool
	Validate    string // choice, path, regex:PATTERN, integer, yes_no, schema:JSON; any other sets no rule
	Assumption  string // what is kept where the person accepts what was assumed; "": nothing was

	// check reports whether what an answer decides can be carried out; nil: the error comes when the answer is kept.
	check func(answer string) error
}

// A Place is where a person answers from.
type Place struct {
	Dir  string                  // where paths begin; of a decision, the folder that the agent works in
	Stat func(path string) error // of a path, absolute or from the working directory: why nothing is there
}

// Of returns the terms of a question, for an agent that works in a folder.
func Of(q *Question, folder string) Terms {
	t := Terms{Kind: q.Kind, Options: Offered(q.Options), MultiSelect: q.MultiSelect, Validate: q.Validate}
	if q.Assumed != nil {
		t.Assumption = q.Assumed.Text
	}
	t.check = func(answer string) error { return Check(q, answer, folder) }
	if TakesOptionsOnly(q) {
		t.Validate = "choice"
	}
	return t
}

// NeedsFolder reports whether what is typed is judged by the folder that the agent works in.
func (q Terms) NeedsFolder() bool { return q.Validate == "path" || kinds[q.Kind].Ruled }

// Offered returns the options of a question: what nobody can choose keeps nobody from answering in own words.
func Offered(options []Option) []Option {
	if slices.ContainsFunc(options, func(o Option) bool { return !Blank(o) }) {
		return options
	}
	return nil
}

// Blank reports whether there is nothing of an option to be seen.
func Blank(o Option) bool { return text.CleanLine(o.Label, 0) == "" }

// Judge turns what a person typed into the answer that is kept, or returns a *Refusal.
func Judge(q *Question, typed string, at Place) (string, error) {
	return Of(q, at.Dir).Choose(typed, at)
}

// Check says why an answer to q, as Judge gives it, cannot be taken: only what is exactly a permission is one, and a
// rule has to be one that permits what is asked; a delegation is approved, or denied for a reason; a script takes the
// options that it lists. folder is the one that the agent works in.
func Check(q *Question, answer, folder string) error {
	err := checkScripted(q, answer)
	if check := kinds[q.Kind].check; err == nil && check != nil {
		err = check(q, answer, folder)
	}
	var refused *Refusal
	if err != nil && !errors.As(err, &refused) {
		err = &Refusal{Reason: Undecided, Message: err.Error()}
	}
	return err
}

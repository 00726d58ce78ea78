package service

import (
	"context"
	"slices"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// Meant finds the question that the arguments name, and what is left of them as the answer. Without an id it is the one
// that is open; q is nil where none is. An id is known by its q-, or by being whole: the start of one without it could
// be an answer. A question file's name is one too, unless it is what a person may mean as the answer: whoever writes
// such files chooses their names. A run, its name or an agent stand for the one question of theirs that is open.
func Meant(ctx context.Context, c client.Client, args []string) (q *view.QuestionView, typed string,
	named Named, err error) {
	if len(args) > 0 {
		marked := strings.HasPrefix(args[0], "q-")
		q, err := view.FindQuestion(ctx, c.Store, args[0])
		if view.NoSuchID(err) {
			if v, of := view.SessionQuestion(c.Dirs, args[0]); of {
				q, typed, err := TheOne(program, []view.QuestionView{v}, args[1:])
				return q, typed, NamedByID, err
			}
		}
		switch {
		case err == nil && (marked || q.ID == "q-"+args[0]):
			q, typed, err := TheOne(program, views(q), args[1:])
			return q, typed, NamedByID, err
		case err != nil && (marked || !view.NoSuchID(err)):
			return nil, "", 0, err
		}
	}
	open, err := view.OpenQuestions(ctx, c.Store)
	if err != nil {
		return nil, "", 0, err
	}
	if len(args) > 0 {
		q, err := filedrop.Named(ctx, c.Store, args[0])
		switch {
		case err == nil && len(open) == 1 && open[0].ID != q.ID && offered(open[0], args[0]):
			return nil, "", 0,
				Refused("%q is an answer to question %s and the name of a question file: name the question first, as in `%s`",
					args[0], open[0].ID, view.AnswerCommand(open[0]))
		case err == nil:
			q, typed, err := TheOne(program, views(q), args[1:])
			return q, typed, NamedByID, err
		case !view.NoSuchID(err):
			return nil, "", 0, err
		}
	}
	of, err := NamedRun(ctx, c, args)
	if err != nil {
		return nil, "", 0, err
	}
	if of != "" {
		open = slices.DeleteFunc(open, func(q *supervisor.Question) bool { return q.Run != of && q.Agent != of })
		named, args = NamedByRun, args[1:]
	}
	all := views(open...)
	if of == "" {
		named = NamedByNone
		beside, _, err := c.Reader().OfNoRun(ctx, nil)
		if all = append(all, beside...); err != nil && len(all) == 0 {
			return nil, "", 0, err
		}
	}
	switch {
	case len(all) == 0 && of != "":
		return nil, "", 0, Refused("%s has no open question; nothing was kept", of)
	case len(all) == 0 && len(args) > 0:
		return nil, "", 0, Refused("no question is open, so %q answers none; nothing was kept", strings.Join(args, " "))
	}
	q, typed, err = TheOne(program, all, args)
	return q, typed, named, err
}

func views(qs ...*supervisor.Question) (seen []view.QuestionView) {
	for _, q := range qs {
		seen = append(seen, view.View(q))
	}
	return seen
}

// mostNamed is how many open questions an error names.
const mostNamed = 20

// TheOne returns the one question that is open, and the words of its answer as one text; nil where none is open. Of
// several the error says which they are. program is how the person calls the program.
func TheOne(program string, open []view.QuestionView, words []string) (q *view.QuestionView, typed string, err error) {
	switch len(open) {
	case 0:
		return nil, "", nil
	case 1:
		return &open[0], spelled(open[0], words), nil
	}
	var ids []string
	for _, q := range open {
		ids = append(ids, q.ID)
	}
	return nil, "", Refused("%d questions are open (%s): say which, as in `%s`; `%s questions` shows them", len(open),
		strings.Join(text.FirstOf(ids, mostNamed), ", "), open[0].AnswerCommand, program)
}

// NamedRun returns the run or agent that the first argument of answer names, by its id or its name; "" for none. What
// may be meant as the answer to the one question that is open is no name.
func NamedRun(ctx context.Context, c client.Client, args []string) (id string, err error) {
	if len(args) == 0 {
		return "", nil
	}
	id, byName, err := view.Called(ctx, c.Store, args[0])
	if !byName {
		return id, err
	}
	open, wrong := view.OpenQuestions(ctx, c.Store)
	switch {
	case wrong != nil:
		return "", wrong
	case len(open) != 1 || !offered(open[0], args[0]):
		return id, err
	case len(args) == 1:
		return "", nil
	}
	return "", Refused("%q is an answer to question %s and the name of a run: name the question first, as in `%s`",
		args[0], open[0].ID, view.AnswerCommand(open[0]))
}

// spelled returns the words of an answer as one text. The denial of a delegation may have two arguments behind it: why,
// and what the agent is to do instead. Two single words are a reason that nobody has put in quotes.
func spelled(q view.QuestionView, words []string) string {
	if len(words) == 3 && questions.KindOf(q.Kind).Hands && strings.ContainsAny(words[1]+words[2], " \t\n") &&
		!strings.Contains(words[1]+words[2], questions.Instead) {
		t := q.Terms()
		if at, err := t.Find(words[0]); err == nil && at >= 0 && t.Options[at].Label == questions.Deny {
			return questions.Denial(words[1], words[2])
		}
	}
	return strings.Join(words, " ")
}

// offered reports whether a word begins one of the question's options.
func offered(q *supervisor.Question, word string) bool {
	for _, o := range q.Options {
		if strings.HasPrefix(strings.ToLower(o.Label), strings.ToLower(word)) {
			return true
		}
	}
	return false
}

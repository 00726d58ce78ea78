package main

import (
	"context"
	"slices"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// meant finds the question that the arguments name, and what is left of them as the answer. Without an id it is the one
// that is open; q is nil where none is. An id is known by its q-, or by being whole: the start of one without it could
// be an answer. A question file's name is one too, unless it is what a person may mean as the answer: whoever writes
// such files chooses their names. A run, its name or an agent stand for the one question of theirs that is open.
func meant(ctx context.Context, c client.Client, args []string) (q *supervisor.Question, typed string, named bool,
	err error) {
	if len(args) > 0 {
		marked := strings.HasPrefix(args[0], "q-")
		q, err = c.Find(ctx, args[0])
		switch {
		case err == nil && (marked || q.ID == "q-"+args[0]):
			return q, spelled(q, args[1:]), true, nil
		case err != nil && (marked || !view.NoSuchID(err)):
			return nil, "", false, err
		}
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, "", false, err
	}
	if len(args) > 0 {
		q, err := c.FileQuestion(ctx, args[0])
		switch {
		case err == nil && len(open) == 1 && open[0].ID != q.ID && offered(open[0], args[0]):
			return nil, "", false,
				usage("%q is an answer to question %s and the name of a question file: name the question first, as in `%s`",
					args[0], open[0].ID, view.AnswerCommand(open[0]))
		case err == nil:
			return q, spelled(q, args[1:]), true, nil
		case !view.NoSuchID(err):
			return nil, "", false, err
		}
	}
	of, err := namedRun(ctx, c, args)
	if err != nil {
		return nil, "", false, err
	}
	if of != "" {
		open = slices.DeleteFunc(open, func(q *supervisor.Question) bool { return q.Run != of && q.Agent != of })
		named, args = true, args[1:]
	} else {
		byFile, _, err := c.FileQuestions(ctx)
		if err != nil && len(open) == 0 {
			return nil, "", false, err
		}
		open = append(open, byFile...)
	}
	switch len(open) {
	case 0:
		if of != "" {
			return nil, "", false, usage("%s has no open question; nothing was kept", of)
		}
		if len(args) > 0 {
			return nil, "", false, usage("no question is open, so %q answers none; nothing was kept", strings.Join(args, " "))
		}
		return nil, "", false, nil
	case 1:
		return open[0], spelled(open[0], args), named, nil
	}
	var ids []string
	for _, q := range open {
		ids = append(ids, q.ID)
	}
	return nil, "", false,
		usage("%d questions are open (%s): say which, as in `%s`; `claude-supervise questions` shows them",
			len(open), strings.Join(ids, ", "), view.AnswerCommand(open[0]))
}

// namedRun gives the run or agent that the first argument of answer names, by its id or its name; "" for none. What may
// be meant as the answer to the one question that is open is no name.
func namedRun(ctx context.Context, c client.Client, args []string) (id string, err error) {
	if len(args) == 0 {
		return "", nil
	}
	id, byName, err := view.Called(ctx, c.Store, args[0])
	if !byName {
		return id, err
	}
	open, wrong := c.Questions(ctx)
	switch {
	case wrong != nil:
		return "", wrong
	case len(open) != 1 || !offered(open[0], args[0]):
		return id, err
	case len(args) == 1:
		return "", nil
	}
	return "", usage("%q is an answer to question %s and the name of a run: name the question first, as in `%s`",
		args[0], open[0].ID, view.AnswerCommand(open[0]))
}

// spelled gives the words of an answer as one text. The denial of a delegation may have two arguments behind it: why,
// and what the agent is to do instead. Two single words are a reason that nobody has put in quotes.
func spelled(q *supervisor.Question, words []string) string {
	if len(words) == 3 && q.Kind == supervisor.AskDelegation && strings.ContainsAny(words[1]+words[2], " \t\n") &&
		!strings.Contains(words[1]+words[2], supervisor.Instead) {
		if word, err := terminal.Choose(shown(q), words[0], ""); err == nil && supervisor.Denial("", "") == word {
			return supervisor.Denial(words[1], words[2])
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

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// pageActions is what the page does for a person: what the commands do.
type pageActions struct {
	folders []string // that runs may be started in
}

// pageClient opens the state, which serve has made: where it is gone meanwhile, a new one would hide what it holds.
func pageClient() (client.Client, error) {
	c, err := clientBy(client.OpenExistingClient)
	return c, undone(err)
}

// undone says of a state that is gone that nothing was done.
func undone(err error) error {
	if view.Gone(err) {
		err = fmt.Errorf("nothing was done: %w", err)
	}
	return err
}

func refused(format string, args ...any) error {
	return &web.Refusal{Status: http.StatusUnprocessableEntity, Text: fmt.Sprintf(format, args...)}
}

// asRefusal makes what a command refuses something that the page refuses.
func asRefusal(err error) error {
	var misused usageError
	var refusal *terminal.Refusal
	if errors.As(err, &misused) || errors.As(err, &refusal) {
		return refused("%v", err)
	}
	return err
}

// Answer leaves an answer in the inbox, as `answer` does.
func (pageActions) Answer(ctx context.Context, id string, a web.Answer) (string, error) {
	c, err := pageClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	q, err := c.Find(ctx, id)
	if err != nil {
		return "", err
	}
	if q.Kind == supervisor.AskCommand {
		return "", &web.Refusal{Status: http.StatusForbidden, Command: view.AnswerCommand(q),
			Text: "a command runs as you: whether it may is answered on a terminal"}
	}
	f := answerFlags{change: a.Change, skip: a.Skip, allLike: a.AllLike, decline: a.Decline}
	value, err := pageValue(ctx, c, q, a, f)
	if err != nil {
		return "", asRefusal(err)
	}
	err = keep(ctx, c, q, value, f, a.By)
	switch {
	case err != nil && q.Run == "": // another answer lies there, or the script has gone
		return "", &web.Refusal{Status: http.StatusConflict, Text: err.Error()}
	case err != nil || q.Run == "" || c.Supervised(q.Run):
		return "", err
	}
	return "The answer is kept; nobody supervises the run. To go on, run: claude-supervise resume " + q.Run, nil
}

// pageValue turns what came by the page into the answer that is kept.
func pageValue(ctx context.Context, c client.Client, q *supervisor.Question, a web.Answer, f answerFlags) (string,
	error) {
	if a.Decline != nil {
		return reasonFor(q, "", *a.Decline, true, f)
	}
	if err := fits(q, f); err != nil || f.skip {
		return "", err
	}
	cwd, err := folderOf(ctx, c, q)
	if err != nil {
		return "", err
	}
	ask := shown(q)
	var value string
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
	if err := supervisor.CheckDecision(q, value, cwd); err != nil {
		return "", refused("%v; question %s stays open", err, q.ID)
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
			return "", refused("%q is none of the options; own words are given as the value, not in values", typed)
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
		return "", refused("choose one of the options")
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
	return "", refused("an option is chosen, and there are words of your own: leave one of them out")
}

// visible reports whether there is anything of a text to be seen.
func visible(text string) bool { return terminal.CleanLine(text, 0) != "" }

// stopPatience bounds a stop that takes a run over to end it.
const stopPatience = time.Minute

// Stop stops a run or an agent by the command that does.
func (pageActions) Stop(ctx context.Context, id string) (string, error) {
	if err := known(ctx, id); err != nil {
		return "", err
	}
	self, err := ownPath()
	if err != nil {
		return "", err
	}
	// One that has begun goes on when the browser leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, self, "stop", "--", id)
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		said := strings.TrimPrefix(strings.TrimSpace(problems.String()), "claude-supervise: ")
		return "", &web.Refusal{Status: http.StatusConflict, Text: fmt.Sprintf("%s was not stopped: %s", id, said)}
	}
	return strings.TrimSpace(out.String()), nil
}

// known reports, as an error, that there is no such run or agent.
func known(ctx context.Context, id string) error {
	r, err := view.OpenExistingReader()
	if err != nil {
		return undone(err)
	}
	defer func() { _ = r.Close() }() // only read
	_, _, err = view.RunNamed(ctx, r.Store, id)
	return err
}

// Resume goes on with a run in the background.
func (pageActions) Resume(ctx context.Context, id string) (string, error) {
	c, err := pageClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // nothing was written
	plan, err := c.Resumable(ctx, id, time.Now())
	if view.NoSuchID(err) {
		return "", err
	}
	if err == nil {
		_, err = inTheBackground(c, plan.Run, nil, nil, "resume", plan.Run)
	}
	if err != nil {
		return "", &web.Refusal{Status: http.StatusConflict, Text: err.Error()}
	}
	return plan.Run + " goes on in the background.", nil
}

// Say leaves a message for an agent.
func (pageActions) Say(ctx context.Context, agent, text, by string) (string, error) {
	text, err := message("message", []string{text}, strings.NewReader(text))
	if err != nil {
		return "", asRefusal(err)
	}
	c, err := pageClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	return say(ctx, c, agent, text, by)
}

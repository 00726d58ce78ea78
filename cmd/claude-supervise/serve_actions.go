package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/questions"
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

// asRefusal makes what a command refuses something that the page refuses.
func asRefusal(err error) error {
	var misused exitcode.UsageError
	var refusal *terminal.Refusal
	if errors.As(err, &misused) || errors.As(err, &refusal) {
		return web.Refused("%v", err)
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
	f := questions.Flags{Change: a.Change, Skip: a.Skip, AllLike: a.AllLike, Decline: a.Decline}
	cwd, err := folderOf(ctx, c, q)
	if err != nil {
		return "", err
	}
	value, err := f.PageValue(view.View(q), a, cwd, checked(q, cwd))
	if err != nil {
		return "", asRefusal(err)
	}
	err = keep(ctx, c, q, value, f, a.By)
	switch {
	case err != nil && q.Run == "": // another answer lies there, or the script has gone
		return "", &web.Refusal{Status: http.StatusConflict, Text: err.Error()}
	case err != nil || q.Run == "" || c.Supervised(ctx, q.Run):
		return "", err
	}
	return "The answer is kept; nobody supervises the run. To continue, run: claude-supervise resume " + q.Run, nil
}

// stopPatience bounds a stop that takes a run over to end it.
const stopPatience = time.Minute

// Stop stops a run or an agent by the command that does.
func (pageActions) Stop(ctx context.Context, id string) (string, error) {
	if err := known(ctx, id); err != nil {
		return "", err
	}
	self, err := programs.Own()
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
	return plan.Run + " continues in the background.", nil
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

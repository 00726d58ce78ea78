package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/notices"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// acting is what service there is of this machine without what only a program can do.
var acting = service.Machine{Client: func() (client.Client, error) { return clientBy(client.OpenExistingClient) }}

// here is the service of this machine for the page and the board: what the commands do.
type here struct{ service.Machine }

// onPage is that of the page, which starts runs, too, and has buttons on phones.
type onPage struct {
	here
	folders []string // that runs may be started in
}

// onState does something with the state, which is there: where it is gone, a new one would hide what it holds.
func onState(do func(client.Client) (string, error)) (string, error) { return service.Act(acting, do) }

// Press answers as a button on the phone does, and gives the id of the question.
func (p onPage) Press(ctx context.Context, given string, option int) (question string, err error) {
	return onState(func(c client.Client) (string, error) {
		question, answer, err := notices.Pressed(ctx, c, given, option)
		if err == nil {
			_, err = service.Reply(ctx, c, question, service.Answer{Typed: &answer, By: notices.ByPhone})
		}
		return question, err
	})
}

// stopPatience bounds a stop that takes a run over to end it.
const stopPatience = time.Minute

// Stop stops a run or an agent. One that nobody supervises is supervised here for as long as that takes.
func (here) Stop(ctx context.Context, id, by string) (string, error) {
	return onState(func(c client.Client) (string, error) {
		// One that has begun goes on when the browser leaves.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		stopped, err := service.Stop(ctx, c, id, false, by)
		if err == nil && stopped.Alone {
			stopped, err = stopAlone(ctx, stopped.Run, request.Session{Quiet: true, Aside: true})
		}
		if err != nil && !view.NoSuchID(err) {
			err = &service.Refusal{Reason: service.Conflict, Text: fmt.Sprintf("%s was not stopped: %v", id, err)}
		}
		return stopped.Text, err
	})
}

// Resume goes on with a run in the background.
func (here) Resume(ctx context.Context, id string) (string, error) {
	return onState(func(c client.Client) (string, error) {
		plan, err := c.Resumable(ctx, id, time.Now())
		if view.NoSuchID(err) {
			return "", err
		}
		if err == nil {
			_, err = inTheBackground(c, plan.Run, nil, nil, "resume", plan.Run)
		}
		if err != nil {
			return "", &service.Refusal{Reason: service.Conflict, Text: err.Error()}
		}
		return plan.Run + " continues in the background.", nil
	})
}

// Say leaves a message for an agent.
func (here) Say(ctx context.Context, agent, text, by string) (string, error) {
	return sayWith(ctx, agent, text, by, typed)
}

func sayWith(ctx context.Context, agent, text, by string, next nextWords) (string, error) {
	text, err := message("message", []string{text}, strings.NewReader(text))
	if err != nil {
		return "", service.Refused("%v", err)
	}
	return onState(func(c client.Client) (string, error) {
		return sayFor(ctx, c, agent, text, by, next)
	})
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/service"
)

// runAgain answers a question differently: with a new run, in the background.
func runAgain(ctx context.Context, args []string, f asking.Flags) error {
	if request.InBackground() && len(args) == 1 {
		return superviseFork(ctx, args[0])
	}
	if len(args) < 2 || f.Change || f.Skip || f.SkipRest || f.AllLike || f.Decline != nil || f.Shows() {
		return usage("--again takes the id of a question and the other answer, and no other flag but --json, as in: " +
			"claude-supervise answer --again q-7kq2mx 2")
	}
	typed := strings.Join(args[1:], " ")
	if typed == "-" {
		var err error
		if typed, err = message("answer", args[1:], os.Stdin); err != nil {
			return err
		}
	}
	a := service.Answer{Typed: &typed, By: terminal.Who("answer"), Screen: true}
	would, err := here{acting}.Again(ctx, args[0], a, false)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		p.Notice(would.Caution)
		b, err := here{acting}.Again(ctx, args[0], a, true)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return p.JSON(map[string]string{"id": b.Run, "run": b.Run, "from": b.From, "question": b.Question,
				"output": b.Output})
		}
		p.Notice(fmt.Sprintf("It continues in the background. Commands for it:\n"+
			"  claude-supervise attach %[1]s\n  claude-supervise compare %[2]s %[1]s\n  claude-supervise keep %[1]s",
			b.Run, b.From))
		return p.Result(b.Run)
	})
}

// A forkAnswer is the other answer, as the supervisor of a fork reads it on stdin.
type forkAnswer struct {
	Value string `json:"value"`
	By    string `json:"by"`
}

// Again answers a question differently: with a new run, in the background.
func (here) Again(ctx context.Context, question string, a service.Answer, sure bool) (service.Begun, error) {
	return service.Act(acting, func(c client.Client) (b service.Begun, err error) {
		f, err := service.ForkFrom(ctx, c, question, a)
		if err != nil {
			return b, err
		}
		b = service.Begun{From: f.Fork.Run, Question: f.Fork.Question, Caution: f.Caution()}
		if !sure {
			return b, nil
		}
		given, err := json.Marshal(forkAnswer{f.Fork.Answer, f.Fork.By})
		if err != nil {
			return b, err
		}
		b.Run = host.NewRun()
		b.Output, err = inTheBackground(c, b.Run, strings.NewReader(string(given)), nil, "answer", "--again", "--",
			b.Question)
		return b, err
	})
}

// Keep takes over a run, and stops the others that have answered the same question.
func (h here) Keep(ctx context.Context, run string, sure bool) (string, error) {
	return onState(func(c client.Client) (string, error) {
		return service.Keep(ctx, c, run, sure, func(ctx context.Context, other string) (string, error) {
			return h.Stop(ctx, other, terminal.Who("keep"))
		})
	})
}

// superviseFork supervises the run of a fork until it ends or is left.
func superviseFork(ctx context.Context, question string) error {
	var given forkAnswer
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return fmt.Errorf("the answer cannot be read from stdin: %w", err)
	}
	c, err := openClient()
	if err != nil {
		return err
	}
	fork, err := service.ForkFrom(ctx, c, question, service.Answer{Chosen: &given.Value, By: given.By})
	if err := errors.Join(err, c.Close()); err != nil {
		return err
	}
	t := fork.Task
	var flags request.Session
	flags.NoNotify = t.Config.NoNotify
	s, err := newSession(flags)
	if err != nil {
		return err
	}
	if err := s.asStarted(client.ResumePlan{Where: t.Config.Where}); err != nil {
		return errors.Join(err, s.close())
	}
	t.Run = os.Getenv(request.BackgroundRun)
	out, err := s.supervise(ctx, flags, t.Cwd, snapshotting{run: t.Run},
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Start(ctx, t, s.policy(t.Config.OnQuestion))
		})
	return s.finish(out, err)
}

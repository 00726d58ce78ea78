package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/client"
)

// How many questions are asked for the figures.
const (
	heldQuestions   = 300
	parkedQuestions = 60
)

// answerTimes are what was measured of a run whose questions were answered one by one.
type answerTimes struct{ announced, received, began samples }

// ask runs an agent that asks n questions, answers each, and does floor after it, so that both are measured in the same
// minutes.
func (h home) ask(ctx context.Context, n int, hold string, floor func() error) (a answerTimes, err error) {
	run, err := h.questions(n).start(ctx, h.self, "--hold", hold)
	if err != nil {
		return a, err
	}
	var c client.Client
	var answered int64
	for i := range n {
		e, err := run.until("question")
		if err != nil {
			return a, err
		}
		printed, received, began, err := stamps(e.Question.Context)
		if err != nil {
			return a, err
		}
		a.announced = append(a.announced, since(printed, e.read))
		if i == 0 {
			store, err := checkpoints.Open(h.Dirs)
			if err != nil {
				return a, err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			c = client.Client{Dirs: h.Dirs, Store: store}
		} else {
			a.received = append(a.received, since(answered, received))
			a.began = append(a.began, since(answered, began))
		}
		if hold == "0" {
			if _, err := run.until("parked"); err != nil {
				return a, err
			}
		}
		if err := floor(); err != nil {
			return a, err
		}
		time.Sleep(10 * time.Millisecond) // what is still under way of the turn ends
		answered = clock()
		if err := c.Answer(ctx, e.Question.ID, client.Answer{Text: "an answer", By: "bench"}); err != nil {
			return a, err
		}
	}
	return a, run.finish()
}

// stamps reads the times that the agent wrote into a question.
func stamps(context string) (printed, received, began int64, err error) {
	var at [3]int64
	words := strings.Fields(context)
	if len(words) != len(at) {
		return 0, 0, 0, fmt.Errorf("the question holds %q, not three times", context)
	}
	for i, w := range words {
		if at[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return 0, 0, 0, err
		}
	}
	return at[0], at[1], at[2], nil
}

// held measures what passes between an agent that waits in its process and its person.
func (b *bench) held(ctx context.Context) error {
	h, err := b.home("held")
	if err != nil {
		return err
	}
	disk, err := newDisk(h.cwd)
	if err != nil {
		return err
	}
	var writes, rounds samples
	a, err := h.ask(ctx, heldQuestions, "forever", func() error {
		began := clock()
		if err := disk.write(); err != nil {
			return err
		}
		written := clock()
		if err := disk.ring(); err != nil {
			return err
		}
		if err := disk.write(); err != nil {
			return err
		}
		writes, rounds = append(writes, since(began, written)), append(rounds, since(began, clock()))
		return nil
	})
	if err := errors.Join(err, disk.close()); err != nil {
		return err
	}
	b.table.add(figure{name: "question announced", value: a.announced.median(), floor: writes.median(),
		unit: "ms", target: 1})
	b.table.add(figure{name: "question announced p99", value: a.announced.at(0.99), floor: writes.at(0.99),
		unit: "ms", target: 25})
	b.table.add(figure{name: "answer, held agent", value: a.received.median(), floor: rounds.median(),
		unit: "ms", target: 5})
	b.table.add(figure{name: "answer, held agent p99", value: a.received.at(0.99), floor: rounds.at(0.99), unit: "ms"})
	return nil
}

// parked measures how soon a parked agent's next process executes.
func (b *bench) parked(ctx context.Context) error {
	h, err := b.home("parked")
	if err != nil {
		return err
	}
	var starts samples
	a, err := h.ask(ctx, parkedQuestions, "0", func() error {
		took, err := h.stamp(ctx)
		starts = append(starts, took)
		return err
	})
	if err != nil {
		return err
	}
	b.table.add(figure{name: "answer, relaunched agent", value: a.began.median(), floor: starts.median(),
		unit: "ms", target: 5, bound: overFloor})
	b.table.add(figure{name: "answer, relaunched agent p90", value: a.began.at(0.9), floor: starts.at(0.9), unit: "ms"})
	return nil
}

// stamp takes the time from here to a new process's first instruction.
func (h home) stamp(ctx context.Context) (time.Duration, error) {
	cmd := h.command(ctx, h.self)
	cmd.Env = append(cmd.Env, envAgent+"="+stampOnly)
	cmd.Stderr = os.Stderr
	before := clock()
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return since(before, at), err
}

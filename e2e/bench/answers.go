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

// A conversation is a run whose questions are answered one by one, and what was measured of it.
type conversation struct {
	hold     string
	run      *supervised
	client   client.Client
	waits    string // the id of the question that is open
	answered int64  // when the last answer was given
	name     string

	announced, received, began samples
}

// converse starts a run of an agent that asks n questions.
func (h home) converse(ctx context.Context, n int, hold string) (*conversation, error) {
	run, err := h.questions(n).start(ctx, h.self, "--hold", hold)
	return &conversation{hold: hold, run: run, client: client.Client{Dirs: h.Dirs}, name: h.program.name}, err
}

// next answers the question that is open, if there is one, and waits for the next one.
func (c *conversation) next(ctx context.Context) error {
	first := c.waits == ""
	if !first {
		if err := c.answer(ctx); err != nil {
			return err
		}
	}
	e, err := c.run.asks(c.hold == "0")
	if err != nil {
		return err
	}
	printed, received, began, err := stamps(e.Question.Context)
	if err != nil {
		return err
	}
	c.waits = e.Question.ID
	c.announced.add(since(printed, e.read))
	if !first {
		c.received.add(since(c.answered, received))
		c.began.add(since(c.answered, began))
	}
	return nil
}

func (c *conversation) answer(ctx context.Context) (err error) {
	if c.client.Store == nil { // the run has made the database by now
		if c.client.Store, err = checkpoints.Open(c.client.Dirs); err != nil {
			return err
		}
	}
	c.answered = clock()
	return c.client.Answer(ctx, c.waits, client.Answer{Text: "an answer", By: "bench"})
}

// finish answers the last question, and waits for the end of the run.
func (c *conversation) finish(ctx context.Context) error {
	return errors.Join(c.answer(ctx), c.client.Close(), c.run.finish())
}

// ask lets an agent of each program ask n questions, in turns. floor is done after each round, so that all is measured
// in the same minutes.
func (b *bench) ask(ctx context.Context, name string, n int, hold string, floor func(home) error) ([]*conversation,
	error) {
	homes, err := b.homes(name)
	if err != nil {
		return nil, err
	}
	var all []*conversation
	for _, h := range homes {
		c, err := h.converse(ctx, n, hold)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.program.name, err)
		}
		all = append(all, c)
	}
	for i := range n {
		for _, which := range b.turn(i) {
			if err := all[which].next(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", all[which].name, err)
			}
			time.Sleep(10 * time.Millisecond) // what is still under way of the turn ends
		}
		if err := floor(homes[0]); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		if err := c.finish(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return all, nil
}

// of collects one of the samples of each conversation.
func of(all []*conversation, one func(*conversation) samples) []samples {
	var values []samples
	for _, c := range all {
		values = append(values, one(c))
	}
	return values
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
	disk, err := newDisk(b.dir)
	if err != nil {
		return err
	}
	var writes, rounds samples
	all, err := b.ask(ctx, "held", heldQuestions, "forever", func(home) error {
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
		writes.add(since(began, written))
		rounds.add(since(began, clock()))
		return nil
	})
	if err := errors.Join(err, disk.close()); err != nil {
		return err
	}
	announced := of(all, func(c *conversation) samples { return c.announced })
	received := of(all, func(c *conversation) samples { return c.received })
	b.table.add(figure{name: "question announced", unit: "ms", values: announced, floor: writes,
		target: 2, bound: timesFloor})
	b.table.add(figure{name: "question announced p99", unit: "ms", quantile: 0.99, values: announced, floor: writes,
		target: 25})
	b.table.add(figure{name: "answer, held agent", unit: "ms", values: received, floor: rounds,
		target: 2, bound: timesFloor})
	b.table.add(figure{name: "answer, held agent p99", unit: "ms", quantile: 0.99, values: received, floor: rounds})
	return nil
}

// parked measures how soon a parked agent's next process executes.
func (b *bench) parked(ctx context.Context) error {
	var starts samples
	all, err := b.ask(ctx, "parked", parkedQuestions, "0", func(h home) error {
		took, err := h.stamp(ctx)
		starts.add(took)
		return err
	})
	if err != nil {
		return err
	}
	began := of(all, func(c *conversation) samples { return c.began })
	b.table.add(figure{name: "answer, relaunched agent", unit: "ms", values: began, floor: starts,
		target: 5, bound: overFloor})
	b.table.add(figure{name: "answer, relaunched agent p90", unit: "ms", quantile: 0.9, values: began, floor: starts})
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

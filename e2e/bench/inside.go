package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/claude"
	"claude-supervise/examples"
	"claude-supervise/supervisor/client"
)

// A way is how a question of the real CLI comes to its person, and its answer back.
type way struct {
	name      string
	tool      bool   // asked in a call; else by a text
	hold      string // of run: 0 answers another process
	questions int
	target    float64 // from the answer to the request, over bare, in ms
}

var ways = []way{
	{"in the call", true, "forever", 50, 2},
	{"text, held", false, "forever", 50, 2},
	{"relaunch", true, "0", fewest, 5},
}

// fewest is how many questions each way asks at least. What they cost is reckoned from so many in each: the
// conversation grows by every one.
const fewest = 8

// What is asked and answered, in each of the ways the same.
const (
	theAnswer  = "PostgreSQL, as for the other services"
	theContext = "The ledger is written by two services at once, and read by a third that reports at night."
	bareID     = "a-7Qm2xK9fWb4T" // of the agent that nobody supervises
)

func questionText(i int) string {
	return fmt.Sprintf("Question %d: which database should the service keep its ledger in?", i)
}

// scenario asks its questions one by one. After an answer that came by a prompt it goes on at the question in there.
func (w way) scenario() examples.Scenario {
	var asks []examples.Reply
	for i := range w.questions {
		if w.tool {
			asks = append(asks, call("ask_user", map[string]any{"questions": []any{
				map[string]any{"text": questionText(i), "context": theContext},
			}}))
		} else {
			asks = append(asks,
				examples.Reply{Text: "[CLARIFICATION_NEEDED]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T08:45:00Z\nquestions:\n" +
					"  - question_id: Q1\n    text: \"" + questionText(i) + "\"\n    context: " + theContext +
					"\n[/CLARIFICATION_NEEDED]"})
		}
	}
	asks = append(asks, call("report_completion", map[string]any{"status": "success", "summary": "all is asked"}),
		examples.Reply{Text: "All is asked."})
	s := examples.Scenario{Name: "inside", Prompt: task, Turns: []examples.Turn{{When: "## YOUR TASK", Replies: asks}}}
	for i := range w.questions {
		s.Turns = append(s.Turns, examples.Turn{When: questionText(i), Replies: asks[i+1:]})
	}
	return s
}

func call(tool string, input map[string]any) examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: "mcp__supervise__" + tool, Input: input}}}
}

// An asker is the real CLI with somebody around it who hears its questions.
type asker interface {
	asks(context.Context) (at int64, err error) // waits for the next question
	settle() error                              // ends the process, where the way is to answer another one
	answer(ctx context.Context, i int) error
	finish() error
}

// inside measures, in each of the ways, what passes between the model and its person: supervised, and bare beside it,
// question by question in turns. From this comes what a question costs, too.
func (b *bench) inside(ctx context.Context) error {
	path := os.Getenv(claude.Variable)
	if path == "" {
		return nil
	}
	var costs []cost
	for _, w := range ways {
		own, floor, same, err := b.each(ctx, w, path)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		var announced, received []samples
		for _, m := range own {
			announced, received = append(announced, m.announced), append(received, m.received)
		}
		b.table.add(figure{name: w.name + ": announced", unit: "ms", values: announced, floor: floor.announced,
			target: 1, bound: overFloor})
		b.table.add(figure{name: overSame, unit: "ms", values: announced, floor: same.announced})
		b.table.add(figure{name: w.name + ": answer to request", unit: "ms", values: received, floor: floor.received,
			target: w.target, bound: overFloor})
		b.table.add(figure{name: overSame, unit: "ms", values: received, floor: same.received})
		if w.questions > fewest {
			b.table.add(figure{name: w.name + ": announced p99", unit: "ms", quantile: 0.99, values: announced,
				floor: floor.announced, target: 25, bound: overFloor})
			b.table.add(figure{name: w.name + ": answer to request p99", unit: "ms", quantile: 0.99, values: received,
				floor: floor.received})
		}
		costs = append(costs, own[0].cost(w))
	}
	b.costs(costs)
	return nil
}

// turning is how long what is still under way of a turn is given to end before its question is answered.
const turning = 50 * time.Millisecond

// each lets an agent under each of the programs, and two that nobody supervises, ask all their questions in turns. Of
// floor is asked what its way needs, of same all that the program asks of an agent.
func (b *bench) each(ctx context.Context, w way, path string) (own []*measured, floor, same *measured, err error) {
	homes, err := b.homes(w.name)
	if err != nil {
		return nil, nil, nil, err
	}
	alone := map[string]outfit{"bare": {tools: true}, "bare, asked for the same": whole}
	for _, name := range slices.Sorted(maps.Keys(alone)) {
		h, err := b.home(w.name, program{name: name})
		if err != nil {
			return nil, nil, nil, err
		}
		homes = append(homes, h)
	}
	var all []*measured
	for _, h := range homes {
		l := listen(w.scenario())
		defer l.close()
		h.Reaches(l.url)
		m := &measured{listening: l, name: h.program.name, asker: &watched{home: h, way: w, path: path}}
		if h.program.path == "" {
			m.asker = &bare{home: h, way: w, path: path, outfit: alone[h.program.name]}
		}
		all = append(all, m)
	}
	for question := range w.questions {
		for i := range all {
			if question%2 == 1 { // the other way round, so that none always follows the same one
				i = len(all) - 1 - i
			}
			if err := all[i].one(ctx, question); err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", all[i].name, err)
			}
		}
	}
	for _, m := range all {
		if err := errors.Join(m.answer(ctx, w.questions-1), m.finish()); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	programs := len(all) - len(alone)
	return all[:programs], all[programs], all[programs+1], nil
}

// A measured is what was seen of one agent.
type measured struct {
	*listening
	asker
	name                string
	announced, received samples
	caused              [][]request // by the task, and by each answer
}

// one answers the question before, if there is one, and lets the agent ask the next.
func (m *measured) one(ctx context.Context, i int) error {
	if i > 0 {
		answered := clock()
		if err := m.answer(ctx, i-1); err != nil {
			return err
		}
		select {
		case r := <-m.listening.requests:
			m.received.add(since(answered, r.came))
			m.caused = append(m.caused, []request{r})
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	at, err := m.asks(ctx)
	if err != nil {
		return err
	}
	m.announced.add(since(m.replied.Load(), at))
	if err := m.settle(); err != nil {
		return err
	}
	time.Sleep(turning)
	m.rest()
	return nil
}

// rest takes the requests that came since, which the question before has caused.
func (m *measured) rest() {
	for {
		select {
		case r := <-m.listening.requests:
			if len(m.caused) == 0 {
				m.caused = append(m.caused, nil)
			}
			last := len(m.caused) - 1
			m.caused[last] = append(m.caused[last], r)
		default:
			return
		}
	}
}

// A watched agent is the real CLI under the program.
type watched struct {
	home
	way    way
	path   string
	run    *supervised
	client client.Client
	id     string // of the question that waits
}

func (w *watched) asks(ctx context.Context) (at int64, err error) {
	if w.run == nil {
		if w.run, err = w.start(ctx, w.path, "--hold", w.way.hold); err != nil {
			return 0, err
		}
	}
	e, err := w.run.asks(w.way.hold == "0")
	w.id = e.Question.ID
	return e.read, err
}

func (w *watched) settle() error { return nil } // asks has waited for its end

func (w *watched) answer(ctx context.Context, _ int) error {
	if w.client.Store == nil {
		store, err := checkpoints.Open(w.Dirs)
		if err != nil {
			return err
		}
		w.client = client.Client{Dirs: w.Dirs, Store: store}
	}
	return w.client.Answer(ctx, w.id, client.Answer{Text: theAnswer, By: "bench"})
}

func (w *watched) finish() error { return errors.Join(w.client.Close(), w.run.finish()) }

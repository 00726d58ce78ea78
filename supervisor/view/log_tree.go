package view

import (
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/supervisor"
)

// A RunLog is the logs of all agents of a run as one, in the order of time.
type RunLog struct {
	Run       string
	KeepingUp KeepingUp // with its Follow
	reader    Reader
	from      map[string]int64 // where in each agent's file it begins, in bytes; nil: at the beginning
}

// A LogLine is a line of the log of one of a run's agents, with its newline. It is valid until the function that is
// given it returns.
type LogLine struct {
	Agent string
	Who   string // the agent in a few words; "" while the run has only one
	Line  []byte
}

// RunLog finds the logs of a run, by an id or its start; agent is the agent that it names instead, "" if it names the
// run.
func (r Reader) RunLog(ctx context.Context, id string) (log RunLog, agent string, err error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	return RunLog{Run: run, reader: r}, agent, err
}

// Said says in words what the line holds, and whose it is; nothing for what only programs need.
func (l LogLine) Said() []string { return signed(Said(l.Line), l.Who) }

// Prose gives what says in words what the lines of the log hold, one after the other, as LogLine.Said does but without
// the agents' signals.
func (l RunLog) Prose() func(LogLine) []string {
	byAgent := map[string]func([]byte) []string{}
	return func(line LogLine) []string {
		if byAgent[line.Agent] == nil {
			byAgent[line.Agent] = Log{Agent: line.Agent}.Prose()
		}
		return signed(byAgent[line.Agent](line.Line), line.Who)
	}
}

// signed puts whose a text is behind the time that it begins with.
func signed(said []string, who string) []string {
	if who == "" {
		return said
	}
	for i, text := range said {
		stamp, rest, _ := strings.Cut(text, " ")
		said[i] = stamp + " " + who + ": " + rest
	}
	return said
}

// Each gives the lines of the logs. fs.ErrNotExist is the error where no agent has printed anything.
func (l RunLog) Each(ctx context.Context, each func(LogLine) error) error {
	threads := threads{log: l}
	defer threads.close()
	if err := threads.find(ctx); err != nil {
		return err
	}
	if len(threads.all) == 0 {
		return fs.ErrNotExist
	}
	return threads.drain((*tail).rest, each)
}

// Follow gives the lines of the logs, and those that are added to them, of agents that are started meanwhile, too,
// until the run has ended or nobody supervises it, as is then told by its view; or until ctx ends, whose cause is then
// the error.
func (l RunLog) Follow(ctx context.Context, each func(LogLine) error) (RunView, error) {
	grown, err := newWatch(l.reader.Dirs.RunDir(l.Run), func(name string) bool { return filepath.Ext(name) == logSuffix })
	if err != nil {
		return RunView{}, err
	}
	defer grown.close()
	threads := threads{log: l}
	defer threads.close()
	var end RunView
	over := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer close(over)
		end, err = l.reader.await(ctx, Node{Run: l.Run})
		return err
	})
	group.Go(func() error {
		look := func(part func(*tail, func([]byte) error) error) error {
			if err := threads.find(ctx); err != nil {
				return err
			}
			return threads.drain(part, each)
		}
		err := l.KeepingUp.until(ctx, over, grown.changed, func() error { return look((*tail).each) })
		if err != nil {
			return err
		}
		return look((*tail).rest)
	})
	err = group.Wait()
	return end, err
}

// Recent gives the last things that the agents that are at work say in prose, at most n in all, and the log of what is
// added after them; of a run of which none is, those of its root.
func (l RunLog) Recent(ctx context.Context, n int) (said []string, after RunLog, err error) {
	agents, err := l.reader.Store.Agents(ctx, l.Run)
	if err != nil {
		return nil, l, err
	}
	atWork := slices.DeleteFunc(slices.Clone(agents), func(a supervisor.Agent) bool { return a.Status.Ended() })
	if len(atWork) == 0 {
		atWork = slices.DeleteFunc(slices.Clone(agents), func(a supervisor.Agent) bool { return a.Parent != "" })
	}
	l.from = map[string]int64{}
	for _, a := range agents {
		part := 0
		if slices.ContainsFunc(atWork, func(b supervisor.Agent) bool { return a.ID == b.ID }) {
			part = max(n/len(atWork), 1)
		}
		log := Log{Run: l.Run, Agent: a.ID, Reader: l.reader}
		own, rest, err := log.Recent(part)
		if err != nil {
			return nil, l, err
		}
		l.from[a.ID] = rest.from
		if len(agents) > 1 {
			own = signed(own, supervisor.Who(&a))
		}
		said = append(said, own...)
	}
	return said[max(len(said)-n, 0):], l, nil
}

const logSuffix = ".jsonl"

// threads are the logs of a run's agents while they are read side by side.
type threads struct {
	log   RunLog
	files int // logs in the run's folder, as last seen
	all   []*thread
}

// A thread is the log of one agent.
type thread struct {
	agent, who string
	tail       tail
	last       time.Time // of its last line
}

func (t *threads) close() {
	for _, one := range t.all {
		one.tail.close()
	}
}

// find takes the logs of agents that have begun to print.
func (t *threads) find(ctx context.Context) error {
	r := t.log.reader
	there, err := os.ReadDir(r.Dirs.RunDir(t.log.Run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	logs := map[string]bool{}
	for _, file := range there {
		if name, is := strings.CutSuffix(file.Name(), logSuffix); is {
			logs[name] = true
		}
	}
	if len(logs) == t.files {
		return nil
	}
	agents, err := r.Store.Agents(ctx, t.log.Run)
	if err != nil {
		return err
	}
	slices.SortFunc(agents, asTheyCame)
	t.files = len(logs)
	for _, a := range agents {
		at := slices.IndexFunc(t.all, func(one *thread) bool { return one.agent == a.ID })
		if at < 0 && logs[a.ID] {
			at = len(t.all)
			t.all = append(t.all, &thread{agent: a.ID,
				tail: tail{path: r.Dirs.AgentLog(t.log.Run, a.ID), from: t.log.from[a.ID]}})
		}
		if at >= 0 && len(agents) > 1 {
			t.all[at].who = supervisor.Who(&a)
		}
	}
	return nil
}

// drain gives what there is to read of all, in the order of time.
func (t *threads) drain(read func(*tail, func([]byte) error) error, each func(LogLine) error) error {
	var queue heads
	for i, one := range t.all {
		next, stop := iter.Pull2(one.lines(read))
		defer stop()
		h := &head{thread: one, place: i, next: next}
		if more, err := h.advance(); err != nil {
			return err
		} else if more {
			queue = append(queue, h)
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		h := queue[0]
		if err := each(LogLine{Agent: h.thread.agent, Who: h.thread.who, Line: h.line}); err != nil {
			return err
		}
		more, err := h.advance()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&queue, 0)
		default:
			heap.Pop(&queue)
		}
	}
	return nil
}

// errEnough ends the reading of a log whose lines are wanted no more.
var errEnough = errors.New("enough")

// lines gives the lines that are there now, each until the next is wanted, and at last the error, if there was one.
func (t *thread) lines(read func(*tail, func([]byte) error) error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := read(&t.tail, func(line []byte) error {
			if !yield(line, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// A head is the next line of one log.
type head struct {
	thread *thread
	place  int // among the logs: of two lines of the same time the first's comes first
	next   func() ([]byte, error, bool)
	line   []byte
}

// advance goes to the next line, and reports whether there is one. One that says no time is of that of the line before.
func (h *head) advance() (bool, error) {
	line, err, more := h.next()
	if err != nil || !more {
		return false, err
	}
	var stamp struct{ Time time.Time }
	if json.Unmarshal(line, &stamp) == nil && !stamp.Time.IsZero() {
		h.thread.last = stamp.Time
	}
	h.line = line
	return true, nil
}

// heads are a heap by time.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h heads) Less(i, j int) bool {
	if c := h[i].thread.last.Compare(h[j].thread.last); c != 0 {
		return c < 0
	}
	return h[i].place < h[j].place
}

func (h *heads) Push(x any) { *h = append(*h, x.(*head)) }

func (h *heads) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

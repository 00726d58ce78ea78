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

	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/listen"
)

// A RunLog is the logs of a run's agents as one, in the order of time, with the answers that they were given.
type RunLog struct {
	Run       string
	Agent     string    // the one whose log alone is wanted; "": all
	KeepingUp KeepingUp // with its Follow
	reader    Reader
	from      map[string]int64 // where in each agent's file it begins, in bytes; nil: at the beginning
	answers   time.Time        // answers before it are left out
}

// A LogLine is a line of the log of one of a run's agents, with its newline, or an answer that the agent was given. It
// is valid until the function that is given it returns.
type LogLine struct {
	Run    string
	Agent  string
	Who    string // the agent in a few words; "" while the run has only one, or one alone is wanted
	Time   time.Time
	Line   []byte               // nil: it is an answer
	Answer *supervisor.Question // nil: it is a line
}

// RunLog finds the logs of a run, or of one of its agents, by an id or its start.
func (r Reader) RunLog(ctx context.Context, id string) (RunLog, error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	return RunLog{Run: run, Agent: agent, reader: r}, err
}

// Remarks returns in words what the line holds; nothing for what only programs need.
func (l LogLine) Remarks() []Remark {
	if l.Answer != nil {
		return []Remark{answerRemark(l)}
	}
	return l.signed(remarks(l.Line, listen.Said))
}

// Said says in words what the line holds, when and whose it is; nothing for what only programs need.
func (l LogLine) Said() []string { return inWords(l.Remarks()) }

// Prose returns what says in words what the lines of the log hold, one after the other, as LogLine.Said does but
// without the agents' signals and the answers, which are for the supervisor and the agent.
func (l RunLog) Prose() func(LogLine) []string {
	byAgent := map[string]func([]byte) []Remark{}
	return func(line LogLine) []string {
		if line.Answer != nil {
			return nil
		}
		if byAgent[line.Agent] == nil {
			byAgent[line.Agent] = proseOf(line.Agent)
		}
		return inWords(line.signed(byAgent[line.Agent](line.Line)))
	}
}

// signed says whose remarks are.
func (l LogLine) signed(said []Remark) []Remark {
	for i := range said {
		said[i].Run, said[i].Agent, said[i].Who = l.Run, l.Agent, l.Who
	}
	return said
}

// Each gives the lines of the logs. fs.ErrNotExist is the error where no agent has printed anything.
func (l RunLog) Each(ctx context.Context, each func(LogLine) error) error {
	threads := newThreads(l)
	defer threads.close()
	if err := threads.find(ctx); err != nil {
		return err
	}
	if len(threads.all) == 0 {
		return fs.ErrNotExist
	}
	return threads.drain(ctx, (*tail).rest, each)
}

// Follow returns the lines of the logs, and those that are added to them, of agents that are started meanwhile, too,
// until the run or the one agent has ended or nobody supervises it, as is then told by the run's view; or until ctx
// ends, whose cause is then the error. A line is given once its newline is written, and what is there of the last one
// at the end.
func (l RunLog) Follow(ctx context.Context, each func(LogLine) error) (RunView, error) {
	isLog := func(name string) bool { return filepath.Ext(name) == logSuffix }
	grown, err := files.NewWatch(isLog, l.reader.Dirs.RunDir(l.Run))
	if err != nil {
		return RunView{}, err
	}
	defer grown.Close()
	threads := newThreads(l)
	defer threads.close()
	var end RunView
	over := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(over)
		awaited := Node{Run: l.Run}
		if l.Agent != "" {
			var err error
			if awaited, err = l.reader.node(ctx, l.Agent); err != nil {
				return err
			}
		}
		return l.reader.follow(ctx, func(ctx context.Context, now Reader) (_ []RunView, more bool, err error) {
			if end, err = now.Run(ctx, l.Run); err != nil {
				return nil, false, err
			}
			grown.Notify() // there may be an answer
			return []RunView{end}, Awaited{Node: awaited, View: end}.goesOn(), nil
		})
	})
	group.Go(func() error {
		look := func(part func(*tail, func([]byte) error) error) error {
			if err := threads.find(ctx); err != nil {
				return err
			}
			return threads.drain(ctx, part, each)
		}
		err := l.KeepingUp.until(ctx, over, grown.C, func() error { return look((*tail).each) })
		if err != nil {
			return err
		}
		return look((*tail).rest)
	})
	err = group.Wait()
	return end, err
}

// Recent returns the last things that the agents that are at work say in prose, at most n in all, and the log of what
// is added after them; of a run of which none is, those of its root.
func (l RunLog) Recent(ctx context.Context, n int) (texts []string, after RunLog, err error) {
	var said []Remark
	agents, err := l.reader.Store.Agents(ctx, l.Run)
	if err != nil {
		return nil, l, err
	}
	agents = slices.DeleteFunc(agents, func(a supervisor.Agent) bool { return l.Agent != "" && a.ID != l.Agent })
	atWork := slices.DeleteFunc(slices.Clone(agents), func(a supervisor.Agent) bool { return a.Status.Ended() })
	if l.Agent != "" {
		atWork = agents
	}
	if len(atWork) == 0 {
		atWork = slices.DeleteFunc(slices.Clone(agents), func(a supervisor.Agent) bool { return a.Parent != "" })
	}
	l.from = map[string]int64{}
	labels := label.Of(agents)
	for _, a := range agents {
		part := 0
		if slices.ContainsFunc(atWork, func(b supervisor.Agent) bool { return a.ID == b.ID }) {
			part = max(n/len(atWork), 1)
		}
		log := Log{Run: l.Run, Agent: a.ID, Reader: l.reader}
		own, rest, err := log.recent(part)
		if err != nil {
			return nil, l, err
		}
		l.from[a.ID] = rest.from
		line := LogLine{Run: l.Run, Agent: a.ID}
		if len(agents) > 1 {
			line.Who = labels.Who(&a)
		}
		said = append(said, line.signed(own)...)
	}
	slices.SortStableFunc(said, func(a, b Remark) int { return a.Time.Compare(b.Time) })
	return inWords(said[max(len(said)-n, 0):]), l, nil
}

const logSuffix = ".jsonl"

// threads are the logs of a run's agents while they are read side by side, with the answers.
type threads struct {
	log     RunLog
	files   int // logs in the run's folder, as last seen
	all     []*thread
	answers answers
}

// A thread is the log of one agent.
type thread struct {
	line LogLine // what is the same of all of its lines, and the time of its last
	tail tail
}

func newThreads(l RunLog) *threads {
	return &threads{log: l, answers: answers{log: l, told: map[string]time.Time{}}}
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
	labels := label.Of(agents)
	for _, a := range agents {
		if t.log.Agent != "" && a.ID != t.log.Agent {
			continue
		}
		at := slices.IndexFunc(t.all, func(one *thread) bool { return one.line.Agent == a.ID })
		if at < 0 && logs[a.ID] {
			at = len(t.all)
			t.all = append(t.all, &thread{line: LogLine{Run: t.log.Run, Agent: a.ID},
				tail: tail{path: r.Dirs.AgentLog(t.log.Run, a.ID), from: t.log.from[a.ID]}})
		}
		if at >= 0 && len(agents) > 1 && t.log.Agent == "" {
			t.all[at].line.Who = labels.Who(&a)
		}
	}
	return nil
}

// drain gives what there is to read of all, in the order of time. An answer is looked for after how far the files are
// read was bounded: what an agent does with it comes after it.
func (t *threads) drain(ctx context.Context, read func(*tail, func([]byte) error) error,
	each func(LogLine) error) error {
	var sources []iter.Seq2[LogLine, error]
	for _, one := range t.all {
		if err := one.tail.bound(); err != nil {
			return err
		}
		sources = append(sources, one.lines(read))
	}
	answers, err := t.answers.look(ctx)
	if err != nil {
		return err
	}
	var queue heads
	for i, lines := range append(sources, answers) {
		next, stop := iter.Pull2(lines)
		defer stop()
		h := &head{place: i, next: next}
		if more, err := h.advance(); err != nil {
			return err
		} else if more {
			queue = append(queue, h)
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		h := queue[0]
		if err := each(h.line); err != nil {
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

// lines returns the lines that are there now, each until the next is wanted, and at last the error, if there was one. A
// line that says no time is of that of the line before.
func (t *thread) lines(read func(*tail, func([]byte) error) error) iter.Seq2[LogLine, error] {
	return func(yield func(LogLine, error) bool) {
		err := read(&t.tail, func(line []byte) error {
			if at := timeOf(line); !at.IsZero() {
				t.line.Time = at
			}
			whole := t.line
			whole.Line = line
			if !yield(whole, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(LogLine{}, err)
		}
	}
}

// timeOf returns the time that a line of a log says; zero if it says none.
func timeOf(line []byte) time.Time {
	var stamp struct{ Time time.Time }
	_ = json.Unmarshal(line, &stamp) // one that is no JSON says none
	return stamp.Time
}

// A head is the next line of one of several sources.
type head struct {
	place int // among the sources: of two lines of the same time the first's comes first
	next  func() (LogLine, error, bool)
	line  LogLine
}

// advance goes to the next line, and reports whether there is one.
func (h *head) advance() (more bool, err error) {
	h.line, err, more = h.next()
	return more && err == nil, err
}

// heads are a heap by time.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h heads) Less(i, j int) bool {
	if c := h[i].line.Time.Compare(h[j].line.Time); c != 0 {
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

package engine

import (
	"encoding/json"
	"errors"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
)

// A simDisk is the database of one run, with the rules of package checkpoints.
type simDisk struct {
	w      *simulation
	kept   supervisor.State // the records
	events []checkpoints.Event
	inbox  []supervisor.InboxEntry
	lazily []simKept   // what it held before each change that waited for no disk, since one that did
	read   map[any]any // by record: itself, as it is written and read
}

// A simKept is what the disk held at a moment.
type simKept struct {
	state  supervisor.State
	events int
}

// powerCut leaves what the disk held at some moment since the last change that waited for it.
func (d *simDisk) powerCut() {
	if n := len(d.lazily); n > 0 {
		if i := d.w.rng.IntN(n + 1); i < n {
			d.kept, d.events = d.lazily[i].state, d.events[:d.lazily[i].events]
			d.w.reached.undone += n - i
		}
	}
	d.lazily = nil
}

// waits takes note of whether a change waits for the disk, before it is made.
func (d *simDisk) waits(lazy bool) {
	if !lazy {
		d.lazily = nil
		return
	}
	d.lazily = append(d.lazily, simKept{d.kept, len(d.events)})
}

// commit saves a change, all of it or nothing.
func (d *simDisk) commit(c checkpoints.Change) error {
	if c.CheckInbox && len(d.unread(c.IfInboxAt)) > 0 {
		return checkpoints.ErrInboxMoved
	}
	events := append(slices.Clone(c.Earlier), c.Event)
	for i, e := range events {
		d.w.must("the history has no gaps", e.Seq == int64(len(d.events)+i+1), "event %d after %d", e.Seq, len(d.events)+i)
	}
	d.waits(c.Lazy)
	k := &d.kept
	if c.Run != nil {
		k.Run = c.Run
	}
	for _, a := range c.Agents {
		k.Agents.Put(a.ID, a)
	}
	slices.SortFunc(c.Launches, func(a, b *supervisor.Launch) int { return a.N - b.N })
	for _, l := range c.Launches {
		ls := slices.Clone(k.Launches.Get(l.Agent))
		if l.N > len(ls) {
			ls = append(ls, nil)
		}
		ls[l.N-1] = l
		k.Launches.Put(l.Agent, ls)
	}
	for _, q := range c.Questions {
		k.Questions.Put(q.ID, q)
	}
	for _, v := range c.Deliveries {
		k.Deliveries.Put(v.UUID, v)
	}
	k.Taken = max(k.Taken, c.Taken)
	d.events = append(d.events, events...)
	return nil
}

// load reads the records as a new supervisor finds them.
func (d *simDisk) load() supervisor.State {
	s, err := supervisor.Loaded(d.loaded())
	d.w.must("what was saved can be loaded", err == nil, "%v", err)
	return s
}

// loaded returns the records through their written form.
func (d *simDisk) loaded() checkpoints.Loaded {
	l := checkpoints.Loaded{
		Run: *again(d, d.kept.Run), Agents: map[string]*supervisor.Agent{}, LastEvent: int64(len(d.events)),
		Taken: d.kept.Taken,
	}
	for id, a := range d.kept.Agents.All() {
		l.Agents[id] = again(d, a)
	}
	for launches := range d.kept.Launches.Values() {
		for _, launch := range launches {
			l.Launches = append(l.Launches, again(d, launch))
		}
	}
	for _, q := range d.questions(func(*supervisor.Question) bool { return true }) {
		l.Questions = append(l.Questions, again(d, q))
	}
	for v := range d.kept.Deliveries.Values() {
		l.Deliveries = append(l.Deliveries, again(d, v))
	}
	return l
}

// again returns a record as it is written and read, which is the same each time: no record is ever changed.
func again[T any](d *simDisk, record *T) *T {
	read, ok := d.read[record].(*T)
	if !ok {
		read = new(T)
		if err := json.Unmarshal(text.JSON(record), read); err != nil {
			panic(err)
		}
		d.read[record] = read
	}
	c := *read
	return &c
}

// unread returns the notes that no supervisor has taken, with a Seq over after.
func (d *simDisk) unread(after int64) []supervisor.InboxEntry {
	after = max(after, d.kept.Taken)
	for i, n := range d.inbox {
		if n.Seq > after {
			return slices.Clone(d.inbox[i:])
		}
	}
	return nil
}

// These are why a client is refused, beside a *checkpoints.TakenError.
var refusals = []error{
	checkpoints.ErrNoQuestion, checkpoints.ErrWithdrawn, checkpoints.ErrUnanswered, checkpoints.ErrDelivering, errTaken,
}

var errTaken = errors.New("there is an answer")

// answer leaves an answer, or changes one: Store.Answer and Store.ChangeAnswer.
func (d *simDisk) answer(kind string, n supervisor.InboxEntry) error {
	q := d.kept.Questions.Get(n.Question)
	if q == nil {
		return checkpoints.ErrNoQuestion
	}
	given := q.State == checkpoints.QuestionAnswered || q.State == checkpoints.QuestionDelivered ||
		slices.ContainsFunc(d.inbox, func(n supervisor.InboxEntry) bool { return n.Question == q.ID })
	switch {
	case q.State == checkpoints.QuestionWithdrawn, d.kept.Run.Packed != "":
		return checkpoints.ErrWithdrawn
	case kind == supervisor.EntryAnswer && given:
		return errTaken
	case kind == supervisor.EntryChange && !given:
		return checkpoints.ErrUnanswered
	case kind == supervisor.EntryChange && (q.Delivering || q.State == checkpoints.QuestionDelivered):
		return checkpoints.ErrDelivering
	case kind == supervisor.EntryChange && slices.ContainsFunc(d.unread(0), func(n supervisor.InboxEntry) bool {
		return q.Nested != nil && n.Kind == supervisor.EntryNestedSeen && n.Agent == q.Child
	}):
		return checkpoints.ErrDelivering
	}
	n.Kind, n.Agent = kind, q.Agent
	d.leave(n)
	return nil
}

// leave puts a note into the inbox.
func (d *simDisk) leave(n supervisor.InboxEntry) {
	d.waits(false)
	n.Seq, n.Run, n.At = int64(len(d.inbox)+1), d.kept.Run.ID, d.w.now()
	d.inbox = append(d.inbox, n)
}

// questions returns the questions in a stable order.
func (d *simDisk) questions(f func(*supervisor.Question) bool) []*supervisor.Question {
	var qs []*supervisor.Question
	for q := range d.kept.Questions.Values() {
		if f(q) {
			qs = append(qs, q)
		}
	}
	return qs
}

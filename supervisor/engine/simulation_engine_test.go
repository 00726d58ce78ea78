package engine

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
)

// A simEngine is one supervisor: the engine itself, on this world's machine. Whatever its goroutines begin waits as an
// item until the schedule chooses it; then all of them go on until they wait again. So nothing of it runs at the same
// time as anything else.
type simEngine struct {
	w          *simulation
	pid        int
	real       *engine
	cancel     context.CancelFunc
	interrupts chan string
	rings      chan struct{} // the wake-up socket
	rung       bool          // a datagram is on its way there
	short      func()        // what is told that memory is short
	asked      bool          // it was interrupted
	posted     chan struct{} // one value when an item has come
	look       chan struct{} // closed to have it hear what the lease says; nil: it is not looked at
	killed     chan struct{} // closed when it is killed: nothing that it begins takes effect
	left       chan struct{} // closed when it has gone
	panics     any           // why it has gone so
	items      []*simItem
	taken      []simStep // steps since the last save
}

// A simItem is something for which a goroutine of the engine waits.
type simItem struct {
	key    string
	weight int
	comes  bool // the engine's own goroutine goes on with it, and has to be free
	saves  bool // that goroutine waits for it
	ready  func() bool
	do     func()
	gone   chan struct{} // closed once it is done
}

// A simStep is a step that the engine has taken, and that is perhaps not saved yet.
type simStep struct {
	before, after supervisor.State
	event         supervisor.Happened
}

// supervise starts a supervisor.
func (w *simulation) supervise(do func(context.Context, Supervisor) (supervisor.Outcome, error)) {
	w.ids++
	ctx, cancel := context.WithCancel(context.Background())
	e := &simEngine{
		w: w, pid: w.ids, cancel: cancel, interrupts: make(chan string), rings: make(chan struct{}, 1),
		posted: make(chan struct{}, 1), killed: make(chan struct{}), left: make(chan struct{}),
	}
	w.engine = e
	w.folders.reopened()
	w.tell("a supervisor takes the run over")
	go func() {
		defer close(e.left)
		defer e.cancel()
		defer func() {
			if e.panics = recover(); e.panics != nil {
				defer w.enter()()
				w.tell("%s", debug.Stack())
			}
		}()
		_, err := do(ctx, e.supervisor())
		if err != nil && ctx.Err() == nil {
			e.panics = fmt.Sprintf("it ends with %v", err)
		}
	}()
	w.settle()
}

// supervisor returns what the engine is built from.
func (e *simEngine) supervisor() Supervisor {
	w := e.w
	s := Supervisor{
		Store: e, Processes: e, Files: e, Machine: e, IDs: e, Now: e.now, Interrupts: e.interrupts, Log: zerolog.Nop(),
		Tell: func(notice.Notification) {},
		Open: func(supervisor.State, []*supervisor.Question) {},
		Notify: func(_ context.Context, q *supervisor.Question) {
			e.waits("notify "+q.ID, func() { w.truth.noticed(w, q, w.disk.kept.Run.Epoch) })
		},
		Announce: func(_ context.Context, _ []string, n notice.Notification) error {
			e.waits(fmt.Sprintf("announce %s %s", n.Type, n.Agent), nil)
			return nil
		},
		Executors: e.executors(),
	}
	e.leased(&s)
	s.hooks = hooks{
		began: func(real *engine) {
			e.real = real
			real.watches.grown = true // a run takes moments here
		},
		looked: e.looks,
		comes: func(key string) {
			e.wait(&simItem{key: "the engine takes the result of " + key, weight: 4, comes: true})
		},
		instead: func(f effect.Effect, act func(context.Context) result) func(context.Context) result {
			defer w.enter()()
			w.reached.deeds[f.Do]++
			return func(ctx context.Context) result {
				defer e.panicsInEffect(f)
				e.begins(f)
				if f.Do == effect.Reclaim { // it looks at once
					e.waits(f.Key, nil)
				}
				return act(ctx)
			}
		},
		step:    e.step,
		plan:    e.plan,
		carried: e.carried,
	}
	return s
}

// wait waits until the schedule chooses an item; false if the supervisor is killed before.
func (e *simEngine) wait(it *simItem) bool { return e.waitIn(context.Background(), it) }

func (e *simEngine) waitIn(ctx context.Context, it *simItem) bool {
	it.gone = make(chan struct{})
	leave := e.w.enter()
	e.items = append(e.items, it)
	leave()
	select {
	case e.posted <- struct{}{}:
	default:
	}
	select {
	case <-it.gone:
		return true
	case <-ctx.Done():
	case <-e.killed:
	}
	defer e.w.enter()()
	e.items = slices.DeleteFunc(e.items, func(o *simItem) bool { return o == it })
	return false
}

// waits waits for something that an effect does in the world.
func (e *simEngine) waits(key string, do func()) bool {
	return e.wait(&simItem{key: key, weight: 4, do: do})
}

// until waits for what the world has to do before, or for the end of ctx.
func (e *simEngine) until(ctx context.Context, key string, ready func() bool, do func()) bool {
	return e.waitIn(ctx, &simItem{key: key, weight: 4, ready: ready, do: do})
}

// panicsInEffect makes the panic of an effect's goroutine a broken rule, which names its schedule.
func (e *simEngine) panicsInEffect(f effect.Effect) {
	if r := recover(); r != nil {
		defer e.w.enter()()
		e.w.tell("%s", debug.Stack())
		e.panicsWith(broken{"neither Step nor Plan nor the engine panics", fmt.Sprintf("%s: %v", f.Key, r)})
	}
}

// step is Step, or a broken one. What of it is saved, the save tells.
func (e *simEngine) step(s supervisor.State, event supervisor.Happened) (supervisor.State, error) {
	defer e.w.enter()()
	next, err := e.w.step(s, event)
	if err != nil {
		e.w.reached.unwelcome++
		return next, err
	}
	anew, err := e.w.step(recordsOf(s), event)
	if err != nil || !sameRecords(&next, &anew) {
		e.w.must("a step goes by the records alone", false, "%T, %v; %s", event.Event, err, differs(next, anew))
	}
	e.taken = append(e.taken, simStep{s, next, event})
	return next, nil
}

// looks holds what the lease says back until the engine is free, so that nothing else has come.
func (e *simEngine) looks() {
	held := make(chan struct{})
	leave := e.w.enter()
	e.look = held
	leave()
	select {
	case e.posted <- struct{}{}:
	default:
	}
	select {
	case <-held:
	case <-e.killed:
	}
}

// settle lets the engine go on until it waits for the world.
func (w *simulation) settle() {
	w.yields(synctest.Wait)
	e := w.engine
	if e == nil {
		return
	}
	if e.look != nil && !e.busy() {
		close(e.look)
		e.look = nil
		w.yields(synctest.Wait)
	}
	select {
	case <-e.left:
	default:
		return
	}
	w.tell("     the supervisor leaves")
	w.engine = nil
	if e.panics != nil && e.real != nil {
		for _, u := range e.real.inflight {
			u.cancel(errLeftNow)
		}
	}
	close(e.killed)
	w.yields(synctest.Wait)
	w.alone()
	if e.panics != nil {
		if b, ok := e.panics.(broken); ok {
			panic(b)
		}
		panic(broken{"neither Step nor Plan nor the engine panics", fmt.Sprint(e.panics)})
	}
}

// crash is the end of the supervisor without a word: its terminal and pipes go with it.
func (w *simulation) crash() {
	e := w.engine
	w.tell("     the supervisor is killed")
	w.engine = nil
	e.cancel()
	close(e.killed)
	w.yields(func() {
		<-e.left
		synctest.Wait()
	})
	w.alone()
}

// alone leaves the processes without a supervisor.
func (w *simulation) alone() {
	for _, p := range w.processes {
		p.out, p.alone, p.eof, p.read = nil, true, true, nil
	}
}

// busy reports whether the engine's own goroutine waits for a save.
func (e *simEngine) busy() bool {
	return slices.ContainsFunc(e.items, func(it *simItem) bool { return it.saves })
}

// moves lists what may happen to the engine next. While it saves, its children may be heard; all else waits until it is
// free, so that it never has a choice between two things that have come.
func (e *simEngine) moves(moves []move) []move {
	busy := e.busy()
	items := slices.Clone(e.items)
	slices.SortStableFunc(items, func(a, b *simItem) int { return cmp.Compare(a.key, b.key) })
	for _, it := range items {
		if (it.ready == nil || it.ready()) && !(it.comes && busy) {
			moves = append(moves, move{name: it.key, weight: it.weight, do: func() { e.release(it) }})
		}
	}
	for _, p := range e.w.processes {
		if p.read != nil && !p.reading && len(p.out) > 0 {
			moves = append(moves, move{name: "the engine hears " + p.name(), weight: 6, do: func() { e.hears(p) }})
		}
	}
	if !busy && e.rung {
		moves = append(moves, move{name: "the engine is woken", weight: 4, do: func() {
			e.rung = false
			if !e.w.one(8) { // else it looks by itself within a minute
				select {
				case e.rings <- struct{}{}:
				default: // it has not heard the one before: it may be about to leave
				}
				e.w.settle()
			}
		}})
	}
	return moves
}

func (e *simEngine) release(it *simItem) {
	if it.saves {
		e.w.mayDie()
	}
	if it.do != nil {
		it.do()
	}
	if it.saves {
		e.w.mayDie()
	}
	e.items = slices.DeleteFunc(e.items, func(o *simItem) bool { return o == it })
	close(it.gone)
	e.w.settle()
}

// hears lets the next message of a process reach the engine.
func (e *simEngine) hears(p *simProcess) {
	m := p.out[0]
	p.out = p.out[1:]
	if r, ok := m.(procs.Result); ok && !r.AsksNobody() {
		e.w.truth.results[p.name()]++
	}
	if isSaid(m) {
		e.w.truth.spoke[p.name()] = true
	}
	if e.w.hears != nil {
		m = e.w.hears(e.w, m)
	}
	p.asks(m)
	p.reading = true
	read := p.read
	go func() {
		read(m)
		defer e.w.enter()()
		p.reading = false
	}()
	e.w.settle()
}

// waitsForTime reports whether something happens by itself once time passes.
func (e *simEngine) waitsForTime() bool {
	for _, u := range e.real.inflight {
		if u.effect.Do.Wait() || u.endingSoon || u.effect.Do == effect.Merge { // which waits before it tries again
			return true
		}
	}
	return len(e.w.disk.unread(e.real.state.Taken)) > 0 // it looks once a minute
}

// passes lets time pass until something has come of it.
func (e *simEngine) passes() {
	select {
	case <-e.posted:
	default:
	}
	begun := time.Now()
	limit := time.NewTimer(10_000 * time.Hour)
	defer limit.Stop()
	waited := slices.Clone(e.items)
	for again := true; again; {
		e.w.yields(func() {
			select {
			case <-e.posted:
			case <-e.left:
			case <-limit.C:
			}
		})
		again = e.look != nil // each minute
		e.w.settle()
		again = again && e.w.engine == e && slices.Equal(e.items, waited)
	}
	e.w.tell("%v pass", time.Since(begun))
}

// Commit saves what the engine has done.
func (e *simEngine) Commit(_ context.Context, c checkpoints.Change) (err error) {
	steps := e.taken
	e.w.folders.saving()
	if !e.wait(&simItem{key: "a save", weight: 4, saves: true, do: func() {
		e.taken = nil
		err = e.w.commits(c, steps[len(steps)-len(c.Earlier)-1:])
	}}) {
		return context.Canceled
	}
	return err
}

// commits saves a change, and looks at each step of it.
func (w *simulation) commits(c checkpoints.Change, steps []simStep) error {
	if err := w.disk.commit(w.forgets(c)); err != nil {
		w.tell("     %v", err)
		return err
	}
	if len(steps) > 1 {
		w.reached.batches++
	}
	for _, s := range steps {
		w.stepped(s.before, s.after, s.event)
	}
	return nil
}

// Inbox reads what lies in the inbox.
func (e *simEngine) Inbox(_ context.Context, _ string, after int64) ([]supervisor.InboxEntry, error) {
	defer e.w.enter()()
	return e.w.disk.unread(after), nil
}

// Load reads the records.
func (e *simEngine) Load(context.Context, string) (checkpoints.Loaded, error) {
	defer e.w.enter()()
	return e.w.disk.loaded(), nil
}

// Run, Question and Agent make ids.
func (e *simEngine) Run() string { return RunID }
func (e *simEngine) Question() string {
	defer e.w.enter()()
	return e.w.id("q-")
}

func (e *simEngine) Agent() string {
	defer e.w.enter()()
	if !e.w.rooted {
		e.w.rooted = true
		return Root
	}
	return e.w.childID()
}

// now is the wall clock.
func (e *simEngine) now() time.Time {
	defer e.w.enter()()
	return e.w.now()
}

// Own, Listen, Adopt and PID are the machine's.
func (e *simEngine) Own(context.Context, string) (func(), error) { return func() {}, nil }
func (e *simEngine) Listen(string) (Waker, error)                { return simWaker{e}, nil }
func (e *simEngine) Adopt() error                                { return nil }
func (e *simEngine) PID() int                                    { return e.pid }

// WatchMemory and ShortOfMemory are of the machine's memory.
func (e *simEngine) WatchMemory(_ context.Context, short func()) {
	defer e.w.enter()()
	e.short = short
}
func (e *simEngine) ShortOfMemory() bool { return false }
func (e *simEngine) Rest()               {}

type simWaker struct{ e *simEngine }

func (w simWaker) C() <-chan struct{} { return w.e.rings }
func (w simWaker) Path() string       { return "/tmp/waker" }
func (w simWaker) Close() error       { return nil }

// interrupt asks the supervisor to leave.
func (w *simulation) interrupt() {
	e := w.engine
	if e == nil || e.busy() {
		return
	}
	e.asked = true
	w.yields(func() {
		select {
		case e.interrupts <- "a test":
		case <-e.real.done:
		}
	})
	w.settle()
}

// isPressed lets the machine be short of memory.
func (w *simulation) isPressed() {
	if e := w.engine; e != nil && !e.busy() && e.short != nil {
		e.short()
		w.settle()
	}
}

var errDying = fmt.Errorf("broken pipe")

// forgets is what a broken supervisor leaves out of a save.
func (w *simulation) forgets(c checkpoints.Change) checkpoints.Change {
	if w.subject.saves != nil {
		c = w.subject.saves(c)
	}
	return c
}

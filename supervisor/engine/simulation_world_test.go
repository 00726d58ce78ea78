package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
)

// A simulation is one schedule of a small world: a supervisor and its disk, an agent's processes and conversations,
// people, and two clocks. Nothing in it runs at the same time. At each step it lists what could happen next, and its
// seed chooses: what the real world needs years for happens within milliseconds, and happens again.
//
//	simulation_test.go          the runner: seeds, replay, fewer disturbances, what was reached
//	simulation_world_test.go    the scheduler
//	simulation_disk_test.go     what lasts: records, history, inbox
//	simulation_engine_test.go   the engine, and the moments at which its goroutines wait for the world
//	simulation_effects_test.go  processes and executors, cut into the steps between which other things happen
//	simulation_filedrop_test.go question and answer files, and what happens to an answer before it is said
//	simulation_process_test.go  the agent's CLI; simulation_talk_test.go what of it lasts
//	simulation_resumed_test.go  conversations that are continued at the calls in which they ended
//	simulation_fork_test.go     runs that begin with the question of another
//	simulation_agent_test.go    what a model does in a turn
//	simulation_people_test.go   disturbances, and the person who brings a run to its end
//	simulation_rules_test.go    what must hold after each step; simulation_rest_test.go when nothing moves
//	simulation_faults_test.go   broken supervisors, which the simulation has to find
//	simulation_replay_test.go   a schedule played again, and a finding made smaller
//
// A schedule is played in a bubble of testing/synctest, and what runs there is the engine itself. A new event or effect
// is modelled in what it comes from; until it is, the runner names it.
type simulation struct {
	plot
	subject
	rng *rand.Rand
	mu  sync.Mutex // held by whoever is in the world: the driver while it goes on, else a goroutine of the engine

	begun   time.Time     // by the bubble's clock, which does not jump
	drift   time.Duration // of the wall clock, which may, also backwards
	ids     int
	rooted  bool // the root has its id
	steps   int
	quiet   int // steps since somebody last interfered
	disturb int // how often somebody still may
	nth     int // disturbances drawn so far
	rests   int // how often the world has come to rest

	disk      *simDisk
	engine    *simEngine // nil: nobody supervises the run
	processes []*simProcess
	talks     map[string]*talk // by session
	folders   *simFolders
	lease     *simLease
	outside   *broken // a rule that was broken outside of the driver's goroutine
	nature    nature
	truth     truth
	reached   *reached
	trace     func(format string, args ...any) // nil: nobody reads it
}

// subject is what is tried out: the engine over Step and Plan, or broken ones.
type subject struct {
	step  func(supervisor.State, supervisor.Happened) (supervisor.State, error)
	plan  func(s supervisor.State, undone []string) effect.Parts
	hears func(*simulation, procs.Message) procs.Message // nil: as it is
	saves func(checkpoints.Change) checkpoints.Change    // nil: as it is
	blind bool                                           // for answers that lie in the folders

	heedless bool          // of whose the run is
	spares   bool          // what is left of a launch of an earlier supervisor
	world    func(*nature) // what it is tried in; nil: in any
}

// sound is the supervisor as it is.
var sound = subject{step: supervisor.Step, plan: supervisor.State.Plan}

// A plot is what makes a schedule: its seed, and which of the disturbances do not happen.
type plot struct {
	seed    uint64
	dropped map[int]bool
}

// A move is one thing that can happen next.
type move struct {
	name   string
	weight int
	do     func()
	idle   bool // it is no work: time may pass instead
}

// A broken rule ends a simulation.
type broken struct {
	rule, how string
}

// These bound a schedule. Within maxQuiet steps of the last disturbance the world has to come to rest.
const (
	maxQuiet        = 1500
	maxRests        = 60
	maxDisturbances = 13
)

// newSimulation begins a schedule. It is called in a bubble of its own.
func newSimulation(p plot, s subject) *simulation {
	w := &simulation{
		plot: p, subject: s, rng: rand.New(rand.NewPCG(p.seed, 1)), talks: map[string]*talk{}, reached: newReached(),
		begun: time.Now(), truth: newTruth(),
	}
	w.disk, w.folders = &simDisk{w: w, read: map[any]any{}}, newSimFolders(w)
	w.lease = &simLease{changed: make(chan struct{}, 1)}
	w.disturb = w.rng.IntN(maxDisturbances + 1)
	w.nature = newNature(w)
	if w.snapshots() {
		w.nature.config.Snapshots = &conf.SnapshotTo{Dir: "/snapshots", Keep: 3}
	}
	if s.world != nil {
		s.world(&w.nature)
	}
	return w
}

// run plays the schedule to its end, and gives the rule that was broken.
func (w *simulation) run() (found *broken) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case broken:
			found = &r
		default:
			found = &broken{rule: "neither Step nor Plan panics", how: fmt.Sprint(r)}
			w.tell("%s", debug.Stack())
		}
		if found != nil {
			w.tell("BROKEN: %s: %s", found.rule, found.how)
		}
	}()
	defer func() {
		if w.engine != nil {
			w.crash()
		}
	}()
	w.begin()
	for {
		w.steps++
		w.quiet++
		if w.outside != nil {
			panic(*w.outside)
		}
		w.must("the world comes to rest", w.quiet < maxQuiet, "it still moves after %d steps without a disturbance", w.quiet)
		if w.disturb > 0 && w.one(12) {
			w.disturbance()
		}
		moves := w.moves()
		idle := !slices.ContainsFunc(moves, func(m move) bool { return !m.idle })
		if idle && (len(moves) == 0 || w.one(2)) && w.pass() {
			w.afterStep()
			continue
		}
		if len(moves) == 0 {
			if w.leaseAtRest() {
				continue
			}
			w.rests++
			w.atRest()
			w.must("a person brings every run to its end", w.rests < maxRests, "it came to rest %d times", w.rests)
			if !w.person() {
				w.atEnd()
				return nil
			}
			w.quiet = 0
			continue
		}
		if len(moves) > 0 {
			w.choose(moves)
		}
		w.drift += time.Millisecond
		w.afterStep()
	}
}

// moves lists what can happen next without anybody's interference.
func (w *simulation) moves() []move {
	var moves []move
	if w.engine != nil {
		moves = w.folders.moves(w.engine, w.engine.moves(moves))
	}
	for _, p := range w.processes {
		moves = p.moves(moves)
	}
	return w.leaseMoves(moves)
}

func (w *simulation) choose(moves []move) {
	total := 0
	for _, m := range moves {
		total += m.weight
	}
	n := w.rng.IntN(total)
	for _, m := range moves {
		if n -= m.weight; n < 0 {
			w.do(m)
			return
		}
	}
}

// supervisorDied unwinds a move in whose middle the supervisor was killed.
type supervisorDied struct{}

func (w *simulation) do(m move) {
	defer func() {
		if r := recover(); r != nil {
			if _, died := r.(supervisorDied); !died {
				panic(r)
			}
		}
	}()
	if w.trace != nil {
		w.tell("%s", m.name)
	}
	m.do()
}

// pass lets time pass until something has come of it; false if nothing waits for it.
func (w *simulation) pass() bool {
	if w.engine == nil || w.engine.busy() || !w.engine.waitsForTime() {
		return false
	}
	w.engine.passes()
	return true
}

// mono is the clock that does not jump; now is the wall clock.
func (w *simulation) mono() time.Duration { return time.Since(w.begun) }
func (w *simulation) now() time.Time      { return start.Add(w.mono() + w.drift) }

var start = time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)

// lasts lets a while pass, if the engine does not save meanwhile.
func (w *simulation) lasts(d time.Duration) {
	if w.engine == nil || !w.engine.busy() {
		w.yields(func() { time.Sleep(d) })
		w.settle()
	}
}

// yields leaves the world to the engine while the driver waits for something.
func (w *simulation) yields(wait func()) {
	w.mu.Unlock()
	defer w.mu.Lock()
	wait()
}

// enter enters the world; what it returns leaves it.
func (w *simulation) enter() (leave func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// one tells, one time in n, true.
func (w *simulation) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *simulation) tell(format string, args ...any) {
	if w.trace != nil {
		w.trace("%4d %s  "+format, append([]any{w.steps, w.now().Format("02 15:04:05.000")}, args...)...)
	}
}

// must breaks a rule unless ok.
func (w *simulation) must(rule string, ok bool, how string, args ...any) {
	if !ok {
		panic(broken{rule: rule, how: fmt.Sprintf(how, args...)})
	}
}

// id makes a new id or word.
func (w *simulation) id(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s%d.", prefix, w.ids)
}

func pick[T any](w *simulation, of ...T) T { return of[w.rng.IntN(len(of))] }

package engine

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
)

// How many schedules are played, and which one alone.
const (
	schedulesVar = "CLAUDE_SUPERVISE_TEST_SCHEDULES" // how many
	fromVar      = "CLAUDE_SUPERVISE_TEST_FROM"      // the first seed
	scheduleVar  = "CLAUDE_SUPERVISE_TEST_SCHEDULE"
	schedules    = 10_000
	few          = 1000 // in which every kind of event and effect occurs
	enough       = 40
)

// Step and Plan keep their promises whatever happens, in whichever order. A schedule that breaks one is printed with
// its seed, and is the same when it is played again.
func TestSimulation(t *testing.T) {
	if text := os.Getenv(scheduleVar); text != "" {
		replay(t, text)
		return
	}
	usual := uint64(schedules)
	if testing.Short() {
		usual = few
	}
	n := numberIn(t, schedulesVar, usual) / fewer
	all, found := simulate(t, sound, numberIn(t, fromVar, 1), n, func(found []finding) bool { return len(found) == enough })
	for _, f := range found {
		t.Error(f.smaller(t, sound).report(t))
	}
	all.log(t, n)
	if len(found) == 0 && n >= few {
		all.wantsAll(t)
	}
}

func numberIn(t *testing.T, variable string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q is no number", variable, text)
	}
	return n
}

// A finding is a schedule that broke a rule.
type finding struct {
	plot
	broken
}

// simulate plays n schedules side by side, from the first seed on, until it has found enough broken rules, each of them
// once.
func simulate(t *testing.T, s subject, from, n uint64, enough func([]finding) bool) (*reached, []finding) {
	var (
		mu    sync.Mutex
		next  = from
		all   = newReached()
		found []finding
		group sync.WaitGroup
	)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a schedule leaves much behind, and keeps little
	known := func(rule string) bool {
		return slices.ContainsFunc(found, func(f finding) bool { return f.rule == rule })
	}
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= from+n && !enough(found)
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			mine := newReached()
			for seed, ok := take(); ok; seed, ok = take() {
				if b := play(t, plot{seed: seed}, s, mine, nil); b != nil {
					mu.Lock()
					if !known(b.rule) {
						found = append(found, finding{plot{seed: seed}, *b})
					}
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.add(mine)
		})
	}
	group.Wait()
	return all, found
}

// overdue is how long a schedule may take on the busiest machine; most take milliseconds.
const overdue = 5 * time.Minute

// play plays a schedule in a bubble of its own, and gives the rule that was broken. One that hangs is named: of the
// goroutines that go test prints when the time is up, none says which it is.
func play(t *testing.T, p plot, s subject, r *reached, trace func(format string, args ...any)) (b *broken) {
	hangs := time.AfterFunc(overdue, func() { fmt.Fprintf(os.Stderr, "%s=%s has taken %v\n", scheduleVar, p, overdue) })
	defer hangs.Stop()
	over := false
	defer func() {
		if !over { // synctest panics where all wait for each other, and names no schedule
			fmt.Fprintf(os.Stderr, "%s=%s panics\n", scheduleVar, p)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		w := newSimulation(p, s)
		w.reached, w.trace = r, trace
		if trace != nil {
			c := w.nature.config
			w.tell("seed %d: --hold %v --max-held %d --on-question %s --relaunch %s --retries %d, answers %v",
				p.seed, c.Hold, c.MaxHeld,
				w.nature.policy, c.Relaunch, c.Retries, c.Answers)
		}
		b = w.run()
	})
	over = true
	return b
}

// smaller leaves out every disturbance without which the same rule is broken.
func (f finding) smaller(t *testing.T, s subject) finding {
	try := func(dropped map[int]bool) *broken {
		if b := play(t, plot{f.seed, dropped}, s, newReached(), nil); b != nil && b.rule == f.rule {
			return b
		}
		return nil
	}
	for nth := 1; nth <= maxDisturbances; nth++ {
		dropped := maps.Clone(f.dropped)
		if dropped == nil {
			dropped = map[int]bool{}
		}
		dropped[nth] = true
		if b := try(dropped); b != nil {
			f.dropped, f.broken = dropped, *b
		}
	}
	return f
}

// String returns the plot as the environment takes it: SEED, or SEED-NTH-NTH without some disturbances.
func (p plot) String() string {
	text := strconv.FormatUint(p.seed, 10)
	for _, nth := range slices.Sorted(maps.Keys(p.dropped)) {
		text += fmt.Sprintf("-%d", nth)
	}
	return text
}

func parsePlot(text string) (plot, error) {
	parts := strings.Split(text, "-")
	seed, err := strconv.ParseUint(parts[0], 10, 64)
	p := plot{seed: seed, dropped: map[int]bool{}}
	for _, part := range parts[1:] {
		nth, bad := strconv.Atoi(part)
		if bad != nil {
			err = bad
		}
		p.dropped[nth] = true
	}
	return p, err
}

func (f finding) report(t *testing.T) string {
	return fmt.Sprintf("%s: %s\nplay it again: %s=%s go test ./supervisor/engine -run 'TestSimulation$'\n%s",
		f.rule, f.how, scheduleVar, f.plot, strings.Join(retell(t, f.plot, sound), "\n"))
}

// retell tells a schedule step by step.
func retell(t *testing.T, p plot, s subject) (lines []string) {
	play(t, p, s, newReached(), func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	return lines
}

func replay(t *testing.T, text string) {
	p, err := parsePlot(text)
	if err != nil {
		t.Fatalf("%s=%q is no schedule: %v", scheduleVar, text, err)
	}
	if b := play(t, p, sound, newReached(), nil); b != nil {
		t.Error(finding{p, *b}.smaller(t, sound).report(t))
		return
	}
	t.Log("\n" + strings.Join(retell(t, p, sound), "\n"))
}

// reached counts what the schedules have come to.
type reached struct {
	bodies       map[string]int
	deeds        map[effect.Kind]int
	edges        map[[2]supervisor.Status]int
	disturbances map[string]int
	unwelcome    int
	batches      int
	undone       int // changes, by power cuts
}

func newReached() *reached {
	return &reached{
		bodies: map[string]int{}, deeds: map[effect.Kind]int{}, edges: map[[2]supervisor.Status]int{},
		disturbances: map[string]int{},
	}
}

func (r *reached) step(before, after supervisor.State, e supervisor.Happened) {
	r.bodies[e.Name()]++
	for id, a := range after.Agents.All() {
		if old := before.Agents.Get(id); old != nil && old.Status != a.Status {
			r.edges[[2]supervisor.Status{old.Status, a.Status}]++
		}
	}
}

func (r *reached) add(o *reached) {
	addCounts(r.bodies, o.bodies)
	addCounts(r.deeds, o.deeds)
	addCounts(r.edges, o.edges)
	addCounts(r.disturbances, o.disturbances)
	r.unwelcome += o.unwelcome
	r.batches += o.batches
	r.undone += o.undone
}

func addCounts[K comparable](to, from map[K]int) {
	for k, n := range from {
		to[k] += n
	}
}

func (r *reached) log(t *testing.T, n uint64) {
	steps := 0
	for _, c := range r.bodies {
		steps += c
	}
	t.Logf("%d schedules, %d steps, %d unwelcome events, %d batches, %d changes undone by power cuts",
		n, steps, r.unwelcome, r.batches, r.undone)
	t.Logf("events: %v", r.bodies)
	t.Logf("deeds: %v", r.deeds)
	t.Logf("disturbances: %v", r.disturbances)
	for _, from := range statuses {
		line := ""
		for _, to := range statuses {
			if c := r.edges[[2]supervisor.Status{from, to}]; c > 0 {
				line += fmt.Sprintf(" %s %d", to, c)
			}
		}
		t.Logf("%s →%s", from, line)
	}
}

var statuses = []supervisor.Status{
	checkpoints.Queued, checkpoints.Starting, checkpoints.Running, checkpoints.Waiting, checkpoints.Parked,
	checkpoints.Blocked,
	checkpoints.Limited, checkpoints.OverBudget, checkpoints.Stopping, checkpoints.Interrupted, checkpoints.Succeeded,
	checkpoints.Partial, checkpoints.Failed, checkpoints.Unreported, checkpoints.Stopped,
}

// wantsAll fails where a kind of event or effect never occurred: the simulation says nothing of it.
func (r *reached) wantsAll(t *testing.T) {
	for _, point := range supervisor.Points() {
		if name, ok := strings.CutPrefix(point, supervisor.BeforeSave); ok && r.bodies[name] == 0 {
			t.Errorf("no schedule has come to an event %q: model what it comes from", name)
		}
	}
	if r.undone == 0 {
		t.Error("no power cut has undone anything")
	}
	if r.batches == 0 {
		t.Error("no schedule has saved several events together")
	}
	for _, kind := range effect.Kinds {
		if r.deeds[kind] == 0 {
			t.Errorf("no schedule has come to the effect %q", kind)
		}
	}
}

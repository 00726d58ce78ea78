package supervisor

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"claude-supervise/checkpoints"
)

// How many schedules are played, and which one alone.
const (
	schedulesVar = "CLAUDE_SUPERVISE_TEST_SCHEDULES"
	seedVar      = "CLAUDE_SUPERVISE_TEST_SEED"
	schedules    = 10_000
)

// Step and Plan keep their promises whatever happens, in whichever order. A schedule that breaks one is printed with its
// seed, and is the same when it is played again.
func TestSimulation(t *testing.T) {
	if text := os.Getenv(seedVar); text != "" {
		replay(t, text)
		return
	}
	n := uint64(schedules / fewer)
	if text := os.Getenv(schedulesVar); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s=%q is no number", schedulesVar, text)
		}
	} else if testing.Short() {
		n = schedules / 10
	}
	all, found := simulate(subject{Step, Plan}, 1, n, func(found []finding) bool { return len(found) == 3 })
	for _, f := range found {
		t.Error(f.smaller(subject{Step, Plan}).report())
	}
	all.log(t, n)
	if len(found) == 0 {
		all.wantsAll(t)
	}
}

// A finding is a schedule that broke a rule.
type finding struct {
	plot
	broken
}

// simulate plays n schedules side by side, from the first seed on, until it has found enough broken rules, each of them once.
func simulate(s subject, from, n uint64, enough func([]finding) bool) (*reached, []finding) {
	var (
		mu    sync.Mutex
		next  = from
		all   = newReached()
		found []finding
		group sync.WaitGroup
	)
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
				w := newSimulation(plot{seed: seed}, s)
				w.reached = mine
				if b := w.run(); b != nil {
					mu.Lock()
					if !known(b.rule) {
						found = append(found, finding{w.plot, *b})
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

// smaller leaves out every disturbance without which the same rule is broken.
func (f finding) smaller(s subject) finding {
	try := func(dropped map[int]bool) *broken {
		if b := newSimulation(plot{f.seed, dropped}, s).run(); b != nil && b.rule == f.rule {
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

// String gives the plot as the environment takes it: SEED, or SEED-NTH-NTH without some disturbances.
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

func (f finding) report() string {
	return fmt.Sprintf("%s: %s\nplay it again: %s=%s go test ./supervisor -run 'TestSimulation$'\n%s",
		f.rule, f.how, seedVar, f.plot, strings.Join(retell(f.plot, subject{Step, Plan}), "\n"))
}

// retell tells a schedule step by step.
func retell(p plot, s subject) []string {
	var lines []string
	w := newSimulation(p, s)
	w.trace = func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	c := w.nature.config
	w.tell("seed %d: --hold %v --max-held %d --on-question %s --relaunch %s --retries %d, answers %v", p.seed, c.Hold, c.MaxHeld,
		w.nature.policy, c.Relaunch, c.Retries, c.Answers)
	w.run()
	return lines
}

func replay(t *testing.T, text string) {
	p, err := parsePlot(text)
	if err != nil {
		t.Fatalf("%s=%q is no schedule: %v", seedVar, text, err)
	}
	lines := retell(p, subject{Step, Plan})
	t.Log("\n" + strings.Join(lines, "\n"))
	if b := newSimulation(p, subject{Step, Plan}).run(); b != nil {
		t.Errorf("%s: %s", b.rule, b.how)
	}
}

// reached counts what the schedules have come to.
type reached struct {
	bodies       map[string]int
	deeds        map[Deed]int
	edges        map[[2]Status]int
	disturbances map[string]int
	unwelcome    int
}

func newReached() *reached {
	return &reached{
		bodies: map[string]int{}, deeds: map[Deed]int{}, edges: map[[2]Status]int{}, disturbances: map[string]int{},
	}
}

func (r *reached) step(before, after State, e Event) {
	r.bodies[bodyNames[reflect.TypeOf(e.Body)]]++
	for id, a := range after.Agents {
		if old := before.Agents[id]; old != nil && old.Status != a.Status {
			r.edges[[2]Status{old.Status, a.Status}]++
		}
	}
}

func (r *reached) add(o *reached) {
	addCounts(r.bodies, o.bodies)
	addCounts(r.deeds, o.deeds)
	addCounts(r.edges, o.edges)
	addCounts(r.disturbances, o.disturbances)
	r.unwelcome += o.unwelcome
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
	t.Logf("%d schedules, %d steps, %d unwelcome events", n, steps, r.unwelcome)
	t.Logf("events: %v", r.bodies)
	t.Logf("deeds: %v", r.deeds)
	t.Logf("disturbances: %v", r.disturbances)
	for _, from := range statuses {
		line := ""
		for _, to := range statuses {
			if c := r.edges[[2]Status{from, to}]; c > 0 {
				line += fmt.Sprintf(" %s %d", to, c)
			}
		}
		t.Logf("%s →%s", from, line)
	}
}

var statuses = []Status{
	checkpoints.Queued, checkpoints.Starting, checkpoints.Running, checkpoints.Waiting, checkpoints.Parked, checkpoints.Blocked,
	checkpoints.Limited, checkpoints.OverBudget, checkpoints.Stopping, checkpoints.Interrupted, checkpoints.Succeeded,
	checkpoints.Partial, checkpoints.Failed, checkpoints.Unreported, checkpoints.Stopped,
}

// wantsAll fails where a kind of event or deed never occurred: the simulation says nothing of it.
func (r *reached) wantsAll(t *testing.T) {
	for name := range bodies {
		if r.bodies[name] == 0 {
			t.Errorf("no schedule has come to an event %q: model what it comes from in simulation_engine_test.go", name)
		}
	}
	for deed := range acts {
		if r.deeds[deed] == 0 {
			t.Errorf("no schedule has come to the deed %q", deed)
		}
		if simDeeds[deed] == nil {
			t.Errorf("the deed %q has no model: add it to simDeeds in simulation_effects_test.go", deed)
		}
	}
}

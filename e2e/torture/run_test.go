package torture

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/machine"
)

// A run is one run of the day, with the people around it: who keeps it going when its supervisor dies, who answers, who
// stops it, and who kills.
type run struct {
	*day
	plan     runPlan
	terminal string
	ledger   *ledger
	signs    chan struct{} // something was heard of it: a moment to kill at
	wake     chan struct{} // somebody has answered or stopped it
	people   sync.WaitGroup

	stopping sync.Mutex // held while somebody stops it, or decides to resume it

	mu          sync.Mutex
	id          string
	supervisors []*supervisor // that live
	open        int           // questions of which nobody knows that they are answered
	agentKills  int           // since its last new question
	over        bool
	failed      bool
	won, silent int // supervisors that were heard of, and those that were killed before, or at their first word
	missed      int // rounds of resumes in a row that nobody won
}

func newRun(d *day, p runPlan) *run {
	return &run{
		day: d, plan: p, terminal: filepath.Join(d.dir, p.name), ledger: newLedger(),
		signs: make(chan struct{}, 64), wake: make(chan struct{}, 1),
	}
}

func (r *run) cwd() string { return filepath.Join(r.terminal, "work") }

// wrong tells of what must not be. All that is known of the run is told at the end of the day.
func (r *run) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.t.Errorf("%s (%s): %s", r.plan.name, r.id, fmt.Sprintf(format, args...))
}

// is notes the id of the run.
func (r *run) is(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.id = id
}

func (r *run) known() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id
}

// live starts the run and takes it up again until it has ended.
func (r *run) live(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	r.people.Go(func() { r.killAtMoments(ctx) })
	defer func() {
		end()
		r.people.Wait()
	}()
	r.total.add(runs)
	rng := r.rng("killer " + r.plan.name)
	for found := r.begin(ctx); found != nil && found.EndedAt == nil && ctx.Err() == nil; found = r.record() {
		if found.Left == "parked" && rng.IntN(4) > 0 {
			r.waitForPeople(ctx)
		} else {
			pause(ctx, upTo(rng, 30*time.Millisecond))
		}
		r.resume(ctx, 1+2*(rng.IntN(5)/4))
	}
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	if ctx.Err() != nil {
		r.wrong("the day is over, and it has not ended")
	}
}

// begin starts the run. A supervisor that was killed may have made it without saying so; then it is not made again.
func (r *run) begin(ctx context.Context) *checkpoints.Run {
	args := []string{"run", "--json", "--name", r.plan.name, "--claude", agentWrapper, "--hold", r.plan.hold,
		"--on-question", r.plan.policy, "--retries", "1000"}
	s := r.plan.scenario()
	args = append(append(args, s.Prompt, "--"), s.ClaudeFlags...)
	for ctx.Err() == nil {
		r.accompany(ctx, r.supervise(ctx, args...))
		found, err := r.called(r.plan.name)
		if err != nil {
			r.wrong("%v", err)
		}
		if found != nil {
			r.is(found.ID)
			return found
		}
	}
	return nil
}

// record reads what the program knows of the run.
func (r *run) record() *checkpoints.Run {
	var found checkpoints.Run
	err := r.read(func(ctx context.Context, s *checkpoints.Store) (err error) {
		found, err = s.Run(ctx, r.known())
		return err
	})
	if err != nil {
		r.wrong("%v", err)
		return nil
	}
	return &found
}

// waitForPeople waits until all that was asked is answered, or the run was stopped.
func (r *run) waitForPeople(ctx context.Context) {
	for {
		r.mu.Lock()
		open := r.open
		r.mu.Unlock()
		if open == 0 || r.ledger.isStopped() {
			return
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
	}
}

// resume takes the run up again, sometimes by several at once: one wins, the others are told so. Nobody resumes a run
// that they know to be ended: that would go on with one that was stopped.
func (r *run) resume(ctx context.Context, n int) {
	r.stopping.Lock()
	if found := r.record(); found == nil || found.EndedAt != nil {
		r.stopping.Unlock()
		return
	}
	var all sync.WaitGroup
	resuming := make([]*supervisor, n)
	for i := range resuming {
		r.total.add(resumes)
		s := r.supervise(ctx, "resume", r.known(), "--json")
		resuming[i] = s
		all.Go(func() { r.accompany(ctx, s) })
	}
	r.stopping.Unlock()
	all.Wait()
	won := 0
	for _, s := range resuming {
		switch code := s.Cmd.ProcessState.ExitCode(); {
		case s.killed(), s.messages > 0, slices.Contains([]int{0, 5, 75}, code):
			won++
		case code == 1 && (strings.Contains(s.Stderr.String(), "supervises") ||
			strings.Contains(s.Stderr.String(), "has ended")):
			r.total.add(refused)
		default:
			r.wrong("resume exits %d: %s", code, s.Stderr.String())
		}
	}
	if won > 0 {
		r.missed = 0
		return
	}
	if r.missed++; r.missed == patient {
		r.wrong("%d times in a row nobody could resume it: %s", patient, resuming[0].Stderr.String())
	}
}

// patient is how often in a row a run may seem to be owned that nobody supervises. A stop owns it for a while; and a
// process that was killed between the fork and the exec of its agent leaves a child that holds all it had open, its
// lock included, until the exec.
const patient = 20

// A supervisor is a `run` or `resume` under way.
type supervisor struct {
	*machine.Run
	messages int // events
}

func (s *supervisor) killed() bool { return s.Cmd.ProcessState.ExitCode() == -1 }

// supervise starts a supervisor.
func (r *run) supervise(ctx context.Context, args ...string) *supervisor {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = r.cwd(), r.Env
	started, err := machine.Start(cmd)
	if err != nil {
		panic(err) // of this machine, not of what is tested
	}
	s := &supervisor{Run: started}
	r.mu.Lock()
	r.supervisors = append(r.supervisors, s)
	r.mu.Unlock()
	r.sign()
	return s
}

// accompany hears a supervisor to its end.
func (r *run) accompany(ctx context.Context, s *supervisor) {
	r.readMessage(ctx, s)
	_ = s.Cmd.Wait() // how it ended is read by those who care
	r.mu.Lock()
	defer r.mu.Unlock()
	r.supervisors = slices.DeleteFunc(r.supervisors, func(other *supervisor) bool { return other == s })
	switch {
	case s.killed() && s.messages < 2:
		r.silent++
	case s.messages > 0:
		r.won++
	}
}

// sign tells the killer of a moment.
func (r *run) sign() {
	select {
	case r.signs <- struct{}{}:
	default:
	}
}

// killAtMoments kills the run's processes at moments of which some follow closely on something that happened.
func (r *run) killAtMoments(ctx context.Context) {
	rng := r.rng("kills " + r.plan.name)
	for r.total.left() > 0 {
		timeout := time.After(upTo(rng, 1500*time.Millisecond))
		for wait := rng.IntN(12); wait > 0; wait-- {
			select {
			case <-r.signs:
			case <-timeout:
				wait = 0
			case <-ctx.Done():
				return
			}
		}
		if !pause(ctx, upTo(rng, 60*time.Millisecond)) {
			return
		}
		roll := rng.IntN(10)
		if roll > 4 {
			r.killAgent()
		}
		if roll < 5 || roll == 9 {
			r.killSupervisor(roll)
		}
	}
}

func (r *run) killSupervisor(which int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.supervisors) == 0 {
		return
	}
	if r.supervisors[which%len(r.supervisors)].Cmd.Process.Kill() == nil {
		r.total.add(killedSupervisor)
	}
}

// killAgent kills the newest process of the agent; no more than twice before it asks something new, since the rests
// after its failures grow.
func (r *run) killAgent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.agentKills == 2 {
		return
	}
	if p := r.agent(); p != nil && p.Kill() == nil {
		r.agentKills++
		r.total.add(killedAgent)
	}
}

// agent finds the newest process of the agent by what the wrapper wrote; nil if it has gone. The process is held by its
// handle before it is looked at, so that a number that was given again is not mistaken for it.
func (r *run) agent() *os.Process {
	text, err := os.ReadFile(filepath.Join(r.terminal, "pid"))
	if err != nil {
		return nil
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil || pid <= 1 {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || cwd != r.cwd() {
		return nil
	}
	return p
}

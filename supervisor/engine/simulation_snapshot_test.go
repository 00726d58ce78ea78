package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
)

// A simLease is who goes on with the run. It is there in some worlds only, so that the seeds of the others stay as they
// are.
type simLease struct {
	over    *checkpoints.TakenOver // somebody else does
	unknown bool                   // the disk that says it does not answer
	changed chan struct{}
	epoch   int
	holding bool      // a snapshot is being captured
	held    time.Time // since when
	waited  int       // how often time has passed at rest

	asked map[string]bool // the questions that are in the newest snapshot
}

// snapshots reports whether this is a world in which snapshots are taken.
func (w *simulation) snapshots() bool { return w.seed%8 == 6 }

// leased gives the supervisor of such a world what takes snapshots, and what tells whose the run is.
func (e *simEngine) leased(s *Supervisor) {
	s.Snapshot = e.snapshot
	if e.w.snapshots() {
		s.Lease = e
	}
}

// Claim takes the next epoch.
func (e *simEngine) Claim(_ context.Context, _ string, epoch int) (int, error) {
	defer e.w.enter()()
	if over := e.w.lease.over; over != nil && !e.w.subject.heedless {
		return 0, &checkpoints.TakenOverError{Run: RunID, Over: *over}
	}
	e.w.lease.epoch = max(e.w.lease.epoch, epoch) + 1
	return e.w.lease.epoch, nil
}

// Check reports whether the run is still this supervisor's.
func (e *simEngine) Check(context.Context) error {
	defer e.w.enter()()
	switch l := e.w.lease; {
	case e.w.subject.heedless:
		return nil
	case l.unknown:
		return errors.New("input/output error")
	case l.over != nil:
		return &checkpoints.TakenOverError{Run: RunID, Over: *l.over}
	}
	return nil
}

// Changed tells that Check may say something else.
func (e *simEngine) Changed() <-chan struct{} { return e.w.lease.changed }

func (e *simEngine) snapshot(_ context.Context, s supervisor.State, _ int64, captured func()) supervisor.Snapshotted {
	b := supervisor.Snapshotted{At: e.now(), Lost: s.InTurns()}
	leave := e.w.enter()
	e.w.lease.holding, e.w.lease.held = true, time.Now()
	leave()
	e.wait(&simItem{key: "capture", weight: 4, comes: true, do: func() { // the engine goes on with what was held back
		if e.w.one(6) {
			b.Problem = "no space left on device"
		}
	}})
	leave = e.w.enter()
	e.w.lease.holding = false
	leave()
	captured()
	e.waits("write the snapshot", func() {
		switch over := e.w.lease.over; {
		case e.w.subject.heedless:
		case over != nil:
			b.Over, b.Problem = over, "it continues elsewhere"
		case e.w.lease.unknown:
			b.Unleased = "input/output error"
		}
		if b.Problem == "" && b.Unleased == "" {
			e.w.lease.asked = map[string]bool{}
			for id := range s.Questions.All() {
				e.w.lease.asked[id] = true
			}
		}
	})
	return b
}

// begins holds an effect that is begun against whose the run is.
func (e *simEngine) begins(f effect.Effect) {
	defer e.w.enter()()
	w := e.w
	if w.engine != e || !f.Do.NeedsLease() || f.Do == effect.Snapshot {
		return
	}
	if how := w.lease.forbids(f); how != "" {
		e.panicsWith(broken{"nothing is said and begun in a run that was taken over", how})
	}
}

func (l *simLease) forbids(f effect.Effect) string {
	switch {
	case l.over != nil:
		return f.Key + ", though somebody else resumes the run"
	case l.unknown:
		return f.Key + ", though it is not known whose the run is"
	case l.holding && time.Since(l.held) < maxHeldBack:
		return f.Key + ", while a snapshot is captured"
	}
	return ""
}

// panicsWith breaks a rule outside of the driver's goroutine.
func (e *simEngine) panicsWith(b broken) {
	if e.w.outside == nil {
		e.w.outside = &b
	}
}

// leaseTell lets the kernel tell of a change.
func (w *simulation) leaseTell() {
	select {
	case w.lease.changed <- struct{}{}:
	default:
	}
}

// leaseDisturbances are what others do to a run of which there are snapshots.
var leaseDisturbances = []struct {
	name string
	do   func(*simulation)
}{
	{"somebody takes the run over", func(w *simulation) {
		if w.engine != nil && w.disk.kept.Run != nil && w.lease.over == nil {
			w.lease.epoch++
			w.lease.over = &checkpoints.TakenOver{Epoch: w.lease.epoch, By: "another machine", At: w.now(), In: "/snapshots"}
			w.lease.waited = 0
			if w.one(2) { // else it finds out by itself
				w.leaseTell()
			}
		}
	}},
	{"the folder of the snapshots does not answer", func(w *simulation) { w.lease.unknown = true }},
	{"a person asks for a snapshot", func(w *simulation) {
		if r := w.disk.kept.Run; r != nil && r.EndedAt == nil && r.Packed == "" {
			w.disk.leave(supervisor.InboxEntry{Kind: supervisor.EntrySnapshot, Value: pick(w, "", supervisor.SnapshotNow),
				By: "a test"})
			w.ring()
		}
	}},
}

// leaseMoves are what happens without anybody's interference.
func (w *simulation) leaseMoves(moves []move) []move {
	if w.lease.unknown {
		moves = append(moves, move{name: "the folder of the snapshots answers again", weight: 1, do: func() {
			w.lease.unknown = false
			w.leaseTell()
		}})
	}
	return moves
}

// leaseAtRest is what holds where nothing moves. It lets time pass where somebody looks again after a while, and reports
// that.
func (w *simulation) leaseAtRest() bool {
	if w.engine == nil || w.disk.kept.Run == nil || !w.snapshots() {
		return false
	}
	snapshots := w.disk.kept.Run.Snapshots
	later := w.disk.kept.Run.Unleased != "" || w.lease.over != nil && w.disk.kept.Run.TakenOver == nil ||
		snapshots != nil && snapshots.TriedAt != nil
	if later && w.lease.waited < 3 {
		w.lease.waited++
		w.yields(func() { time.Sleep(supervisor.PollInterval) })
		w.settle()
		return true
	}
	w.lease.waited = 0
	w.must("a supervisor that has lost its run leaves", w.lease.over == nil, "%s", w.disk.kept.Run.Status)
	s := w.disk.load()
	again := s.SnapshotAgain()
	w.must("a snapshot that has failed is tried again in time",
		again.IsZero() || again.After(w.now().Add(-2*supervisor.PollInterval)), "%s", fmt.Sprint(s.Run.Snapshots))
	w.must("a snapshot that is due or asked for is taken", !s.SnapshotDue() && len(s.SnapshotsAsked()) == 0, "%s",
		fmt.Sprint(s.Run.Snapshots))
	if r := s.Run.Snapshots; r != nil && s.Config.Snapshots != nil && r.Problem == "" {
		turns := s.InTurns() // what is asked in the middle of a turn is asked again with it
		for id, q := range s.Questions.All() {
			w.must("what an agent at rest asks is in the newest snapshot",
				w.lease.asked[id] || !q.IsOpen() || slices.Contains(turns, q.Agent), "%s", id)
		}
	}
	return false
}

package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// A snapshot is the run as it is at one moment, from which it can be gone on with elsewhere. One is due at each moment
// in which an agent comes to rest: its turn has ended, it waits for a person, or its process was parked; and when one
// that is at rest asks, as for more than its budget. So is one when a script asks that polls for the answer in its
// agent's turn: that turn does not end before, and nobody elsewhere would know of the question. What is under way in
// that moment is lost for whoever goes on from it, as after a crash.
//
// Whoever goes on takes the run over: it has the next epoch. A supervisor that hears of this, or cannot know, begins
// nothing (EffectKind.NeedsLease); one that has heard of it ends its agents and leaves.

// EntrySnapshot is the kind of note that asks for a snapshot. Its Value is SnapshotNow, or "" for the end of the
// present turn.
const EntrySnapshot = "snapshot"

// SnapshotNow asks for a snapshot at once.
const SnapshotNow = "now"

// snapshots returns the record of the run's snapshots, to change it.
func (d *transition) snapshots() *checkpoints.Snapshots {
	r := d.run()
	var next checkpoints.Snapshots
	if r.Snapshots != nil {
		next = *r.Snapshots
	}
	r.Snapshots = &next
	return r.Snapshots
}

func (d *transition) wantSnapshot(n InboxEntry) {
	w := checkpoints.WantedSnapshot{Seq: n.Seq}
	if n.Value != SnapshotNow {
		w.Agents = d.InTurns()
	}
	r := d.snapshots()
	r.Wanted = append(slices.Clip(r.Wanted), w)
}

// openSnapshots takes what is said of snapshots where the run is taken over. One is due then: of what was answered and
// found since the last there is none.
func (d *transition) openSnapshots(to *conf.SnapshotTo) {
	if to != nil {
		if d.Config.Snapshots = to; to.Dir == "" {
			d.Config.Snapshots = nil
		}
	}
	if d.Config.Snapshots != nil && d.Run.Epoch > 1 {
		d.snapshots().Quiet++
	}
}

// noticeQuiet notes that a snapshot is due: since before an agent has come to rest, was parked, or asks at rest, a
// script of one polls, or the run has ended.
func (d *transition) noticeQuiet() {
	before, r := d.before, d.Run
	if before.Run == nil || d.Config.Snapshots == nil && (r.Snapshots == nil || len(r.Snapshots.Wanted) == 0) {
		return
	}
	due := before.Run.EndedAt == nil && r.EndedAt != nil
	for id := range d.touched {
		if before.Agents.Get(id) == nil {
			continue
		}
		l, was := d.Launch(id), before.Launch(id)
		if l != nil && was != nil && l.N == was.N && l.End == endPark && l.Phase == checkpoints.LaunchSurveyed &&
			was.Phase != checkpoints.LaunchSurveyed {
			due = true
		}
		switch {
		case !d.AtRest(id):
			due = due || len(d.FindQuestionsOf(id, func(q *Question) bool {
				return q.WaitsForFile() && before.Questions.Get(q.ID) == nil
			})) > 0
		case !before.AtRest(id):
			due = true
			d.restsFor(id)
		default:
			due = due || len(d.FindQuestionsOf(id, func(q *Question) bool { return before.Questions.Get(q.ID) == nil })) > 0
		}
	}
	if due && d.Config.Snapshots != nil {
		d.snapshots().Quiet++
	}
}

// restsFor takes an agent out of those whose turns are waited for.
func (d *transition) restsFor(agent string) {
	if d.Run.Snapshots == nil || !slices.ContainsFunc(d.Run.Snapshots.Wanted,
		func(w checkpoints.WantedSnapshot) bool { return slices.Contains(w.Agents, agent) }) {
		return
	}
	r := d.snapshots()
	r.Wanted = slices.Clone(r.Wanted)
	for i, w := range r.Wanted {
		r.Wanted[i].Agents = slices.DeleteFunc(slices.Clone(w.Agents), func(id string) bool { return id == agent })
	}
}

// SnapshotDue reports whether one is to be taken by itself.
func (s State) SnapshotDue() bool {
	r := s.Run.Snapshots
	return r != nil && s.Config.Snapshots != nil && r.Quiet > r.Covered
}

// The wait after which a snapshot is tried again that was due and has failed: it doubles with each failure. In the
// meantime whoever would go on with the run elsewhere lacks what has happened since the last one. It is never longer
// than SnapshotAgainMost.
const (
	snapshotAgainFirst = time.Minute
	SnapshotAgainMost  = 32 * time.Minute
)

// SnapshotAgain returns when a snapshot is tried again that has failed, though nothing has happened since; the zero
// time: none is. A supervisor that leaves has tried it.
func (s State) SnapshotAgain() time.Time {
	r := s.Run.Snapshots
	if r == nil || r.TriedAt == nil || s.Config.Snapshots == nil || s.Run.Leaving != "" || s.Run.EndedAt != nil {
		return time.Time{}
	}
	wait := snapshotAgainFirst << min(max(r.Failures-1, 0), 5)
	return r.TriedAt.Add(min(wait, SnapshotAgainMost))
}

// SnapshotTaken reports whether the snapshot that is planned is one that is taken by itself, and not only asked for.
func (s State) SnapshotTaken() bool { return s.SnapshotDue() || !s.SnapshotAgain().IsZero() }

func (s State) planSnapshot() []effect.Effect {
	e := effect.Effect{Do: effect.Snapshot}
	if !s.SnapshotDue() && len(s.SnapshotsAsked()) == 0 {
		if e.Until = s.SnapshotAgain(); e.Until.IsZero() {
			return nil
		}
	}
	e.Key = fmt.Sprintf("snapshot %d", s.Run.Snapshots.Number+1)
	return []effect.Effect{e}
}

// Snapshotted says what came of a snapshot.
type Snapshotted struct {
	Quiet   int                    // which of the moments in which one was due it covers
	Asked   []int64                `json:",omitempty"` // the notes that it answers
	At      time.Time              // of which moment it is
	Problem string                 `json:",omitempty"` // why there is none
	Large   bool                   `json:",omitempty"` // because the work is larger than a snapshot may be
	Files   map[int64]string       `json:",omitempty"` // where it lies for each of these notes: a name in the run's folder
	Failed  map[int64]string       `json:",omitempty"` // or why it does not
	Told    []string               `json:",omitempty"` // what a person should know was left out
	Lost    []string               `json:",omitempty"` // agents whose turns it loses
	Bytes   int64                  `json:",omitempty"` // of the file
	Held    time.Duration          `json:",omitempty"` // how long no turn was begun for it
	Over    *checkpoints.TakenOver `json:",omitempty"` // it found that the run was taken over

	Unleased string `json:",omitempty"` // why it was not known whose the run is: what was due is due still
}

// SnapshottedName is the kind of Snapshotted, as history keeps it.
const SnapshottedName = "snapshotted"

var _ = kind[Snapshotted](SnapshottedName)

func (e Snapshotted) apply(d *transition) error {
	r := d.snapshots()
	if e.Quiet > r.Covered || e.Quiet == r.Covered && r.TriedAt != nil {
		r.Covered, r.Problem, r.TooLarge = e.Quiet, e.Problem, e.Large
		if at := d.at; e.Problem != "" {
			r.Failures, r.TriedAt = r.Failures+1, &at
		} else {
			at = e.At
			r.At, r.Failures, r.TriedAt = &at, 0, nil
		}
	}
	r.Number++
	r.Wanted = slices.DeleteFunc(slices.Clone(r.Wanted), func(w checkpoints.WantedSnapshot) bool {
		return slices.Contains(e.Asked, w.Seq)
	})
	switch {
	case e.Over != nil:
		d.takenOver(e.Over)
	case e.Unleased != "" && d.Run.TakenOver == nil:
		d.run().Unleased = e.Unleased
	}
	return nil
}

func (e Snapshotted) checksInbox() bool { return e.Over != nil }

// LeaseRead says whether the run is still this supervisor's. The zero value: it is.
type LeaseRead struct {
	Over    *checkpoints.TakenOver `json:",omitempty"` // somebody goes on with it from a snapshot
	Problem string                 `json:",omitempty"` // why that is not known
}

var _ = kind[LeaseRead]("lease_read")

func (e LeaseRead) apply(d *transition) error {
	switch {
	case d.Run.TakenOver != nil, e.Over == nil && e.Problem == d.Run.Unleased:
		return unwelcome("that is known")
	case e.Over != nil:
		d.takenOver(e.Over)
	default:
		d.run().Unleased = e.Problem
	}
	return nil
}

// What was acknowledged, and does not count where the run continues, is told.
func (e LeaseRead) checksInbox() bool { return e.Over != nil }

// takenOver has this supervisor end its agents and leave. What is left for the run from now on is refused.
func (d *transition) takenOver(over *checkpoints.TakenOver) {
	r := d.run()
	r.TakenOver, r.Unleased, r.Packed, r.Leaving = over, "", over.In, records.LeavingInterrupted
	d.touchAll()
}

// leased reports whether the run is this supervisor's, as far as it knows.
func (s State) leased() bool { return s.Run.TakenOver == nil && s.Run.Unleased == "" }

// withheld reports whether an effect is not begun, for want of a lease. A launch that is not begun any more is, where
// the supervisor leaves: it is only concluded that it never ran.
func (s State) withheld(do effect.Kind) bool {
	return !s.leased() && do.NeedsLease() && !(do == effect.Launch && s.Run.Leaving == records.LeavingInterrupted)
}

// snapshotNotices tells a person what came of snapshots, and that the run was taken over.
func snapshotNotices(before, after State, e Event, tell notice.Teller) {
	trouble := func(format string, args ...any) {
		tell(notice.Progress, "", notice.Notification{Trouble: true, Text: fmt.Sprintf(format, args...)})
	}
	if over := after.Run.TakenOver; over != nil && before.Run.TakenOver == nil {
		trouble("the run continues elsewhere: %s took it over at %s (epoch %d). Its agents here end, and nothing is "+
			"delivered to them any more", over.By, over.At.UTC().Format(time.RFC3339), over.Epoch)
		what := "and does not count there: give it again where the run continues"
		if over.Leased {
			what = "and is handed in by this machine's worker: it counts where the run continues if it is the first"
		}
		for _, q := range after.NotInSnapshot() {
			trouble("the answer to %s (%s) came after the last snapshot %s", q.ID, text.Line(q.Answer, text.MaxLine), what)
		}
	}
	switch b := e.(type) {
	case LeaseRead:
		switch {
		case b.Problem != "":
			trouble("it is not known whether this run continues elsewhere: %s. Until it is known, its agents are told "+
				"nothing and begin no turn. It is checked again automatically", b.Problem)
		case b.Over == nil:
			tell(notice.Progress, "", notice.Notification{Text: "the run still belongs to this supervisor; it continues"})
		}
	case Snapshotted:
		old := ""
		if r := before.Run.Snapshots; r != nil {
			old = r.Problem
		}
		switch {
		case b.Problem != "" && b.Problem != old:
			trouble("no snapshot could be taken: %s. The run continues, and one is tried again after the next turn, and "+
				"every few minutes", b.Problem)
		case b.Problem == "" && old != "" && b.Quiet > 0:
			tell(notice.Progress, "", notice.Notification{Text: "snapshots are taken again"})
		}
		if len(b.Asked) > 0 && len(b.Lost) > 0 {
			tell(notice.Progress, "", notice.Notification{Text: "a snapshot was packed in the middle of a turn of " +
				strings.Join(b.Lost, ", ")})
		}
	}
}

package worker

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/pack"
)

// outcome says how a supervisor has left the run.
func (h *held) outcome(p *process, seen flow.Seen, back bool) (flow.Outcome, error) {
	out := flow.Outcome{Seen: seen, Code: p.code}
	h.mu.Lock()
	lacks := lacking(seen, h.safe)
	h.mu.Unlock()
	var snapshot flow.SnapshotInfo // the last; the zero value: none was taken
	if seen.Run != nil && seen.Run.Snapshot != nil {
		snapshot = *seen.Run.Snapshot
	}
	switch {
	case seen.Run != nil && seen.Run.EndedAt != nil && seen.Run.ExitCode != nil:
		out.Code = *seen.Run.ExitCode
		if lacks == "" {
			break
		}
		if snapshot.Problem == "" {
			return out, fmt.Errorf("the run has ended on %s, and %s", h.Name, lacks)
		}
		out.Seen.Notes = append(out.Seen.Notes, "what its agents wrote last is in no snapshot: "+snapshot.Problem+
			h.keepsWork())
	case p.code == exit.Parked, p.code == exit.Budget:
		switch {
		case lacks != "" && !back && snapshot.TooLarge:
			return out, never("it was parked on %s, and cannot be taken elsewhere: %s%s. Then go on from its last snapshot: "+
				"claude-supervise fleet resume --failed %s", h.Name, snapshot.Problem, h.keepsWork(), h.Task.Run)
		case lacks != "" && !back && snapshot.Problem != "":
			return out, &unsavedError{problem: snapshot.Problem}
		case lacks != "" && !back && snapshot.Due: // what it asks can be answered here
			return out, &unsavedError{problem: lacks}
		case lacks != "" && !back:
			return out, fmt.Errorf("the run was parked on %s, and %s", h.Name, lacks)
		case lacks != "":
			out.Back = true
			return out, nil
		}
		out.Code, out.Seen.Left = exit.Parked, p.code
	case back:
		out.Back = true
		return out, nil
	case p.code == exit.Usage && ofThisMachine(p.said()):
		return out, fmt.Errorf("worker %s cannot take it: %s", h.Name, p.said())
	case p.code == exit.Usage:
		return out, never("the worker's claude-supervise refuses the task: %s", p.said())
	default:
		return out, fmt.Errorf("claude-supervise on %s ended with %d: %s", h.Name, p.code, p.said())
	}
	return out, nil
}

// ofThisMachine reports whether claude-supervise has refused what the worker has added to the task: its folders.
// Another worker has others.
func ofThisMachine(said string) bool {
	return strings.HasPrefix(said, "--snapshots") || strings.HasPrefix(said, "--cwd")
}

// lacking says what the blob store lacks of a run that its supervisor has left, where the newest snapshot there is of
// a moment; "": nothing. Who hands such a run in loses that.
func lacking(seen flow.Seen, safe pack.Moment) string {
	if seen.Run == nil {
		return "nothing is known of it"
	}
	switch s := seen.Run.Snapshot; {
	case s == nil || s.At == nil && s.Problem == "":
		return "no snapshot of it was taken"
	case s.Problem != "":
		return "no snapshot of this could be taken: " + s.Problem
	case s.Due:
		return "its lease had run out before there was a snapshot of this"
	case safe.At.Before(*s.At):
		return "the snapshot of this is not in the blob store"
	}
	for _, a := range seen.Run.Agents {
		for _, q := range a.OpenQuestions {
			if !slices.Contains(safe.Questions, q) {
				return "its question " + q + " is in no snapshot"
			}
		}
	}
	return ""
}

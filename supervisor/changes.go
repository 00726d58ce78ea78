package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// Loaded makes a State of what the database held.
func Loaded(l checkpoints.Loaded) (State, error) {
	s := State{Records: records.Records{Run: &l.Run, Agents: table.Of(l.Agents), Taken: l.Taken}}
	for _, l := range slices.SortedFunc(slices.Values(l.Launches), func(a, b *Launch) int { return a.N - b.N }) {
		s.Launches.Put(l.Agent, append(s.Launches.Get(l.Agent), l))
	}
	for _, q := range l.Questions {
		s.Questions.Put(q.ID, q)
	}
	for _, d := range l.Deliveries {
		s.Deliveries.Put(d.UUID, d)
	}
	for a := range s.Agents.Values() {
		a.OwnReport()
	}
	s.Records = s.Indexed()
	if err := json.Unmarshal(l.Run.Config, &s.Config); err != nil {
		return s, fmt.Errorf("the configuration of run %s cannot be read: %w", l.Run.ID, err)
	}
	return s, nil
}

// MustCheckInbox reports whether an event shuts out what may lie in the inbox unseen: a question is closed to changes
// (its answer begins its way to an agent, starts one, or has any other effect at once), a script has taken an answer by
// itself, an agent or the run ends (a stop or a message that was accepted before is heard), or the supervisor leaves.
func MustCheckInbox(before, after State, event Happened) bool {
	if e, ok := event.Event.(interface{ checksInbox() bool }); ok && e.checksInbox() {
		return true
	}
	if before.Run != nil && before.Run.EndedAt == nil && after.Run.EndedAt != nil {
		return true
	}
	agents, questions, _ := after.Changed(before.Records)
	for _, a := range agents {
		old := before.Agents.Get(a.ID)
		if old == nil || old == a {
			continue
		}
		ends := old.EndedAt == nil && a.EndedAt != nil
		// A client may have told it.
		tells := a.Delegated != nil && a.Delegated.Nested != nil && a.Delegated.Told && !old.Delegated.Told
		if ends || tells {
			return true
		}
	}
	for _, q := range questions {
		if old := before.Questions.Get(q.ID); q.Closed() && (old == nil || !old.Closed()) {
			return true
		}
	}
	return false
}

// MayBeLost reports whether a power cut may undo an event, and what came of it: it tells of a process of this machine,
// which the same cut ends, or that a question was told of, which the next supervisor does again in any case; and of
// nothing else that anybody was told, or that has effect elsewhere. A supervisor that comes afterwards finds what a
// crash could have left just before the event, and asks the transcript as it does then. So it need not wait for the
// disk; what waits takes it along. Not so where a person's words go to an agent with it: claude's transcript may have
// them after the cut, and it must be known that it is to be looked for them there, or they are said twice.
func MayBeLost(before, after State, event Happened, told []notice.Notification) bool {
	e, may := event.Event.(interface{ mayBeLost() bool })
	return may && e.mayBeLost() && !records.SaysWords(before.Records, after.Records) && !slices.ContainsFunc(told,
		func(n notice.Notification) bool {
			return n.Type != notice.AgentStarted && n.Type != notice.ResumedNow
		})
}

package records

import "claude-supervise/checkpoints"

// AtRest reports whether nothing of an agent would be lost if its process ended in this moment.
func (s Records) AtRest(agent string) bool {
	l := s.Live(agent)
	return l == nil || s.Agents.Get(agent).Status == checkpoints.Waiting || !l.Phase.InTurn()
}

// InTurns returns the agents whose present turn a snapshot would lose, in their order.
func (s Records) InTurns() []string {
	var busy []string
	for _, a := range s.AllAgents() {
		if !s.AtRest(a.ID) {
			busy = append(busy, a.ID)
		}
	}
	return busy
}

// SnapshotsAsked returns the notes that ask for a snapshot in this moment.
func (s Records) SnapshotsAsked() []int64 {
	var seqs []int64
	if s.Run.Snapshots != nil {
		for _, w := range s.Run.Snapshots.Wanted {
			if len(w.Agents) == 0 {
				seqs = append(seqs, w.Seq)
			}
		}
	}
	return seqs
}

// NotInSnapshot returns the questions that were answered here after the last snapshot: a supervisor that
// goes on from it does not know these answers.
func (s Records) NotInSnapshot() []*checkpoints.Question {
	r := s.Run.Snapshots
	return s.FindQuestions(func(q *checkpoints.Question) bool {
		return q.AnsweredAt != nil && (r == nil || r.At == nil || q.AnsweredAt.After(*r.At))
	})
}

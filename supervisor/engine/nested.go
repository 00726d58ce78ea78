package engine

import (
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// notesNamed gives the questions of runs inside agents their ids, and the answers that were given in advance. Those
// that need no question do not use them.
func (e *engine) notesNamed(notes []supervisor.InboxEntry) supervisor.NotesNamed {
	var all supervisor.NotesNamed
	for _, n := range notes {
		nest, ok := supervisor.NestingIn(n)
		if !ok {
			continue
		}
		if all == nil {
			all = supervisor.NotesNamed{}
		}
		named := e.naming(n.Agent, questions.AskDelegation,
			[]signals.Question{supervisor.DelegationQuestion(nest.Work)}, "")
		named.Child = nest.Agent
		all[n.Seq] = named
	}
	return all
}

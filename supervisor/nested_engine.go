package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// notesNamed gives the questions of runs inside agents their ids, and the answers that were given in advance. Those that need no
// question do not use them.
func (e *engine) notesNamed(notes []Note) NotesNamed {
	var all NotesNamed
	for _, n := range notes {
		nest, ok := nestingIn(n)
		if !ok {
			continue
		}
		if all == nil {
			all = NotesNamed{}
		}
		named := e.naming(checkpoints.AskDelegation, []signals.Question{delegationQuestion(nest.Work)}, "")
		named.Child = nest.Agent
		all[n.Seq] = named
	}
	return all
}

package supervisor

import "time"

// PollInterval is how often the inbox is read though nothing has rung: the wake-up socket is only a hint.
const PollInterval = time.Minute

// This file reads what a signal only names: the file that holds its question, and the agent's checkpoint. It is read at
// the moment of the signal, for it may be gone tomorrow.

// AskedByFile returns the first question of an agent's own file; nil if no such file is known.
func AskedByFile(s State, id string) *Question {
	qs := s.FindQuestions(func(q *Question) bool { return q.File != nil && q.File.ID == id })
	if len(qs) == 0 {
		return nil
	}
	return qs[0]
}

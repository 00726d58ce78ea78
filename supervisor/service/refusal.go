package service

import (
	"fmt"

	"claude-supervise/supervisor/exit"
)

// A Reason is why something was not done.
type Reason int

// The reasons of a Refusal.
const (
	Unfit     Reason = iota // it cannot be meant so
	NotThere                // there is nothing of that id
	Conflict                // as things stand it cannot be done
	Closed                  // nobody waits for it any more
	Elsewhere               // it is done in another place, or in another alone
	Away                    // whoever does it does not answer
)

// A Refusal says that nothing was done, for the person who asked for it. Web pages and exit codes are made of it.
type Refusal struct {
	Reason  Reason
	Text    string // what happened, and what is possible
	Command string // what does it on a terminal; "" where nothing has to be done there
	Field   string // of a Start, by its name in JSON, that is to be filled in otherwise; "": of none alone
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// ExitsWith is the exit code of a command that is refused.
func (r *Refusal) ExitsWith() int {
	switch r.Reason {
	case Conflict, Closed, Away:
		return exit.Failed
	}
	return exit.Usage
}

// Refused is a Refusal of what cannot be meant so.
func Refused(format string, args ...any) error {
	return &Refusal{Reason: Unfit, Text: fmt.Sprintf(format, args...)}
}

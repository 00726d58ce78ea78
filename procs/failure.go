package procs

import "strings"

// A FailureKind is what sort of failure ended a turn or a process. The zero value is no failure.
type FailureKind string

// The kinds of failure.
const (
	NotStarted   FailureKind = "start"         // the program cannot be run
	NotClaude    FailureKind = "not_claude"    // it runs, and is something else
	RefusedFlag  FailureKind = "refused_flag"  // Flag; passing if it is optional: launch again with it in Spec.Without
	SessionGone  FailureKind = "session_gone"  // there is no such conversation to resume
	PlaceGone    FailureKind = "place_gone"    // the conversation cannot be continued at Spec.At
	SessionTaken FailureKind = "session_taken" // the id of a new conversation is in use
	Login        FailureKind = "login"         // not logged in, or the key is not accepted
	Limit        FailureKind = "limit"         // the account's limit or credit is used up; Reset says until when
	OverBudget   FailureKind = "budget"        // --max-budget-usd or --max-turns
	API          FailureKind = "api"           // a request failed
	HookRefused  FailureKind = "hook_refused"  // a hook of the person's own let no turn begin: what was said is unsaid
	CutShort     FailureKind = "cut_short"     // the turn was interrupted, or the process ended before its end
	Crashed      FailureKind = "crash"         // the process ended in a way that the CLI never does by itself
	Exited       FailureKind = "exited"        // a Spec.Command ended otherwise than with exit code 0
)

// A Failure is why a turn or a process ended otherwise than well. It survives JSON unchanged.
type Failure struct {
	Kind    FailureKind
	Passing bool   // the same may work when tried again
	Reason  string // for people, bounded
	Reset   string // Limit: when it ends, as the CLI says it or in RFC 3339; "" if it does not say
	Flag    string // RefusedFlag
}

// IsLimit reports whether a failure is a usage limit, which ends by itself. Credit that is used up does not: a person
// has to buy some.
func (f Failure) IsLimit() bool {
	return f.Kind == Limit && !strings.Contains(strings.ToLower(f.Reason), "credit")
}

// EndsByItself tells a failure after which the process exits by itself, and which its end is judged by.
func (f Failure) EndsByItself() bool {
	switch f.Kind {
	case SessionGone, PlaceGone, SessionTaken, RefusedFlag:
		return true
	}
	return false
}

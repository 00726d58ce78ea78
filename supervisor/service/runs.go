package service

import (
	"context"
	"time"

	"claude-supervise/supervisor/view"
)

// Runs are what commands do with the runs of a service, beside [Service]. An id may be the start of one, or the name of
// a run.
type Runs interface {
	Service
	// List gives the runs that have not ended, or all, the oldest first.
	List(ctx context.Context, all bool) ([]Run, error)
	// Questions gives the open questions, and what else people should know of them.
	Questions(ctx context.Context) (open []view.QuestionView, notes []string, err error)
	// Awaitable gives what ids name to be waited for, each once.
	Awaitable(ctx context.Context, ids []string) ([]view.Node, error)
	// Await gives each node once it goes on no more, or with question as soon as a question of it is open. asks is given
	// one that goes on while a question of it is open. It looks at all nodes at least once, and blocks until each was
	// given, each gives an error, or ctx ends, whose cause is then the error.
	Await(ctx context.Context, nodes []view.Node, question bool, each func(Left) error, asks func(view.Awaited)) error
	// ReadLog reads the log of a run or an agent, and returns what that was at the end. It blocks while the log is
	// followed. fs.ErrNotExist: nothing was printed yet.
	ReadLog(ctx context.Context, id string, r LogReading) (Left, error)
	// End stops a run, or an agent and, unless only is set, what it has started.
	End(ctx context.Context, id string, only bool) (Stopped, error)
}

// A Local is a service whose runs are on this machine: their agents have logs and ends of their own, and their folders
// are here. What is there at once is completed in a shell, too.
type Local interface {
	// WatchRuns gives the list at once, and again after each change, until each gives an error, or ctx ends (nil).
	WatchRuns(ctx context.Context, all bool, each func([]Run) error) error
	// Above gives what cannot end before an agent has.
	Above(ctx context.Context, agent string) ([]view.Node, error)
}

// A Run is a run as lists have it.
type Run struct {
	view.RunView
	JSON any // as programs read it
}

// A Left is a run or an agent as it was left.
type Left struct {
	view.Awaited
	Code     int  // what whoever waits for it exits with
	JSON     any  // as programs read it
	ByItself bool // it continues by itself once it is answered
}

// A LogReading says what is read of a log.
type LogReading struct {
	Follow bool                                        // until the run or agent has ended or is left
	Tail   int                                         // the last that there are now; -1: all
	Since  time.Time                                   // none from before; zero: whenever it was
	Raw    bool                                        // lines as the agent printed them
	Each   func(line []byte, said []view.Remark) error // line is nil unless raw
	Note   func(string)                                // is told what happens to the run, for people
}

// Package service is what every front end does with runs and questions: the page, the board, the prompt of answer. It
// is there for the runs of one machine ([Machine]), and for those of a fleet, in the module of that.
package service

import (
	"context"
	"time"

	"claude-supervise/supervisor/precedents"
	"claude-supervise/supervisor/view"
)

// A Service is runs and questions, and what is done with them. An id may be the start of one, where it names one thing.
type Service interface {
	// Watch gives what is before a person: at once, for each value of look, and after each change. It blocks until ctx
	// ends (nil), each gives an error, or what is watched cannot be read.
	Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error
	// Past returns runs that have ended, the latest first: at most most of them, after the first skip.
	Past(ctx context.Context, skip, most int) ([]view.RunView, error)
	// Run returns the run that an id names, or the run of the agent that it names.
	Run(ctx context.Context, id string) (view.RunView, error)
	// Show returns all that is known of a run or an agent.
	Show(ctx context.Context, id string) (view.Details, error)
	// Question returns a question, also one that is open no more.
	Question(ctx context.Context, id string) (view.QuestionView, error)
	// Answer gives a question the answer that a person gives, as Reply does.
	Answer(ctx context.Context, id string, a Answer) (Kept, error)
	// Log returns the log of an agent.
	Log(ctx context.Context, id string) (Log, error)
	// Follow gives the last things that a run or an agent has said, at most n, and then what it says, until it has ended
	// or ctx ends.
	Follow(ctx context.Context, id string, n int, each func(said []string) error) error
	// Stop stops a run, or an agent and what it has started. by says who does, for people. What it returns says what
	// becomes of it, for people; that of the methods below does, too.
	Stop(ctx context.Context, id, by string) (becomes string, err error)
}

// What not every service can: a front end has no key, button or address for what is missing (Can).
type (
	// A Resumer continues runs.
	Resumer interface {
		Resume(ctx context.Context, run string) (becomes string, err error)
	}
	// A Retrier tries again what has failed in runs.
	Retrier interface {
		Retry(ctx context.Context, run string) (becomes string, err error)
	}
	// A Messenger leaves messages for agents.
	Messenger interface {
		Say(ctx context.Context, id, text, by string) (becomes string, err error)
	}
	// A Pruner deletes what is kept of runs that have ended.
	Pruner interface {
		Prune(ctx context.Context, run string) (becomes string, err error)
	}
	// A Starter starts runs. made is false where one was started with this key before.
	Starter interface {
		Start(ctx context.Context, s Start) (run string, made bool, err error)
	}
	// A Presser answers as the button of a capability does, the one at a place from 0, and gives the id of the question.
	// Of what is no button it says NotThere.
	Presser interface {
		Press(ctx context.Context, capability string, option int) (question string, err error)
	}
	// A Merger takes over what an agent has left in its worktree, or removes that: what the commands of a
	// view.WorktreeView do.
	Merger interface {
		Merge(ctx context.Context, run, agent string) (becomes string, err error)
		Drop(ctx context.Context, run, agent string) (becomes string, err error)
	}
	// An Opener shows folders in the person's file manager.
	Opener interface {
		Open(ctx context.Context, folder string) error
	}
	// A Differ returns what a run or an agent has changed, agent by agent, as a diff for people: the whole of it, or what
	// a front end shows of a long one, with the command that shows the rest.
	Differ interface {
		Diff(ctx context.Context, id string, whole bool) (string, error)
	}
	// An Archive gives the questions of runs that are open no more, those asked last first: at most most of them.
	Archive interface {
		Asked(ctx context.Context, most int) ([]view.QuestionView, error)
	}
	// A Reminder finds what the person has answered before to what is like a question, the likest first.
	Reminder interface {
		Precedents(ctx context.Context, question string) ([]precedents.Precedent, error)
	}
	// A Forker answers questions differently that were answered before, each in a new run, and compares and keeps what
	// came of that. Unless sure, Again and Keep change nothing: they say what they would do, for people.
	Forker interface {
		Again(ctx context.Context, question string, a Answer, sure bool) (Begun, error)
		Compare(ctx context.Context, run, other string) ([2]Compared, error)
		Keep(ctx context.Context, run string, sure bool) (becomes string, err error)
	}
	// An Imager takes images with answers, of these media types, and has those of questions and answers by their hashes.
	Imager interface {
		ImageTypes() []string
		Image(ctx context.Context, question, hash string) (data []byte, mediaType string, err error)
	}
	// An Outsider knows what is asked by none of its runs: by ordinary sessions, and by file.
	Outsider interface {
		Outside(ctx context.Context) []view.QuestionView
	}
	// A Reporter says what has happened in runs: in one, or in all since the person was last told. Told takes note that
	// they were, of what there was until then.
	Reporter interface {
		Report(ctx context.Context, id string) (view.RunReport, error)
		Meanwhile(ctx context.Context) (view.Meanwhile, error)
		Told(ctx context.Context, until time.Time) error
	}
)

// A Begun is a run that goes on from a question with another answer, or is to.
type Begun struct {
	Run, Output string // and the file that its supervisor writes to; "" if it was not started
	From        string // the run that asked
	Question    string
	Caution     string // what it has and what not, for people
}

// A Start is what a run is to be started with: either a prompt or a task file.
type Start struct {
	Prompt string `json:"prompt"`
	Task   string `json:"task"` // the path of the file, in Cwd if it does not begin at the root
	Cwd    string `json:"cwd"`
	Name   string `json:"name"`
	Key    string `json:"-"` // the same for a call that is made again; "": none is
}

// Can reports whether a service is one of these.
func Can[T any](s Service) bool {
	_, is := s.(T)
	return is
}

// A Log is what one agent has printed. Places in it grow with it, and what they count is its own matter: a page that is
// loaded again asks for what is behind its place.
type Log interface {
	Of() (run, agent string)
	// Recent returns the last things that the agent said, at most n, and the place behind them.
	Recent(ctx context.Context, n int) (said []string, place int64, err error)
	// Part returns the whole lines from a place on, about most bytes of them, and the place behind them. There are none at
	// the end of what was printed by now.
	Part(ctx context.Context, place int64, most int) (lines []LogLine, next int64, more bool, err error)
	// Follow gives what is said from a place on, line by line with the place behind each, and what is said then, until
	// each gives an error or ctx ends. A line that says nothing may be given.
	Follow(ctx context.Context, place int64, each func(said []string, place int64) error) error
}

// A LogLine is a line of a log: as it was printed, which may be no JSON where a crash has cut it, and what it says.
type LogLine struct {
	Line []byte
	Said []string
}

// Runs are what commands do with the runs of a service, beside [Service]. An id may be the start of one, or the name of
// a run.
type Runs interface {
	Service
	// List returns the runs that have not ended, or all, the oldest first.
	List(ctx context.Context, all bool) ([]Run, error)
	// Questions returns the open questions, and what else people should know of them.
	Questions(ctx context.Context) (open []view.QuestionView, notes []string, err error)
	// Awaitable returns what ids name to be waited for, each once.
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

// A Selection says which runs of a list are wanted.
type Selection struct {
	All      bool      // those that have ended, too
	Most     int       // the newest so many; 0: all
	Statuses []string  // one of them; none: whichever
	Since    time.Time // begun then or later; zero: whenever
	Labels   []string  // each of them
}

// A Selector lists the runs that are wanted without looking at the rest, where there may be very many.
type Selector interface {
	Select(ctx context.Context, of Selection) ([]Run, error)
	// Tally says how many runs there are of those that are wanted, whatever Most is, for people.
	Tally(ctx context.Context, of Selection) (string, error)
	// Asked returns the open questions that were asked first, at most most (0: all), and what else people should know of
	// them; of a run alone, if run names one.
	Asked(ctx context.Context, run string, most int) (open []view.QuestionView, notes []string, err error)
	// WatchSelected gives the list at once, and again when it has changed, until each gives an error, or ctx ends (nil).
	WatchSelected(ctx context.Context, of Selection, each func([]Run) error) error
}

// A Local is a service whose runs are on this machine: their agents have logs and ends of their own, and their folders
// are here. What is there at once is completed in a shell, too.
type Local interface {
	// WatchRuns gives the list at once, and again after each change, until each gives an error, or ctx ends (nil).
	WatchRuns(ctx context.Context, all bool, each func([]Run) error) error
	// Above returns what cannot end before an agent has.
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

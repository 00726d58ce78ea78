// Package service is what every front end does with runs and questions: the page, the board, the prompt of answer. It
// is there for the runs of one machine ([Machine]), and for those of a fleet, in the module of that.
package service

import (
	"context"

	"claude-supervise/supervisor/view"
)

// A Service is runs and questions, and what is done with them. An id may be the start of one, where it names one thing.
type Service interface {
	// Watch gives what is before a person: at once, for each value of look, and after each change. It blocks until ctx
	// ends (nil), each gives an error, or what is watched cannot be read.
	Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error
	// Past gives runs that have ended, the latest first: at most most of them, after the first skip.
	Past(ctx context.Context, skip, most int) ([]view.RunView, error)
	// Run gives the run that an id names, or the run of the agent that it names.
	Run(ctx context.Context, id string) (view.RunView, error)
	// Show gives all that is known of a run or an agent.
	Show(ctx context.Context, id string) (view.Details, error)
	// Question gives a question, also one that is open no more.
	Question(ctx context.Context, id string) (view.QuestionView, error)
	// Answer gives a question the answer that a person gives, as Reply does.
	Answer(ctx context.Context, id string, a Answer) (Kept, error)
	// Log gives the log of an agent.
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
	// A Reporter says what has happened in runs.
	Reporter interface {
		Report(ctx context.Context, id string) (view.RunReport, error)
	}
)

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
	// Recent gives the last things that the agent said, at most n, and the place behind them.
	Recent(ctx context.Context, n int) (said []string, place int64, err error)
	// Part gives the whole lines from a place on, about most bytes of them, and the place behind them. There are none at
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

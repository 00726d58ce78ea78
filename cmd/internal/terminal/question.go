package terminal

import (
	"time"

	"claude-supervise/supervisor/questions"
)

// A Question is what a person sees of one open question. Its texts may be hostile: they are cleaned when they are
// shown.
type Question struct {
	questions.Terms
	ID         string
	Group      string // questions of one signal share it; empty: on its own
	Index, Of  int    // place in the group, from 0, and the size of the group
	Header     string
	Text       string
	Context    string
	Agent, Run string
	Place      string // of the run: its name and folder; "": not shown
	Asker      string // whom the agent asks for, where that is a subagent: what it is, its task, its depth
	Optional   bool   // it can be skipped
	Declinable bool   // the person may say that there will be no answer, and why
	Urgent     bool
	Task       string // of a delegation: what is to be done, for the person to change
	Instead    string // of a delegation: what begins, in its denial, what is to be done in its place
	AskedAt    time.Time
	Folder     string // where paths in its answer begin; "": where those of all do, as Prompter.In says
	Command    string // the exact command that answers it elsewhere
	Advance    string // of a permission: what permits it in advance
	Secret     bool   // it looks like one for a secret: what is typed is not kept on disk
}

// An Option is one offered answer.
type Option = questions.Option

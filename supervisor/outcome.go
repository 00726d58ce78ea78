package supervisor

import (
	"errors"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// Open returns the questions that wait for an answer, oldest first.
func (o Outcome) Open() []*Question { return o.State.FindQuestions((*checkpoints.Question).IsOpen) }

// Unsuccessful returns the agents that have ended without success, but for the one whose end is that of the run, and
// those that another one has gone on from.
func (o Outcome) Unsuccessful() []*Agent {
	var as []*Agent
	told := o.State.Decisive()
	for _, a := range o.State.AllAgents() {
		if a != told && a.Delegated != nil && a.ContinuedBy == "" && a.Status.Ended() && a.Status != checkpoints.Succeeded {
			as = append(as, a)
		}
	}
	return as
}

// Worktrees returns the agents that have left work in a worktree of theirs.
func (o Outcome) Worktrees() []*Agent {
	var as []*Agent
	for _, a := range o.State.AllAgents() {
		if a.Worktree != nil && a.Worktree.State == checkpoints.WorktreeKept {
			as = append(as, a)
		}
	}
	return as
}

// Merge returns the commands that take over what an agent has left in its worktree, in order.
func (o Outcome) Merge(a *Agent) []string {
	merge, _ := o.State.Commands(a, *a.Worktree)
	return merge
}

// Named returns a question that a preset names, one at which it could only have refused before others; else nil.
func (o Outcome) Named(p conf.Preset) (named *Question) {
	for q := range o.State.Questions.Values() {
		if p.Names(signals.Question{ID: q.Own, Header: q.Header, Text: q.Text}) > 0 &&
			(named == nil || !questions.Writable(q.Kind)) {
			named = q
		}
	}
	return named
}

// UnusedAnswers returns the presets that no question has taken.
func (o Outcome) UnusedAnswers() []conf.Preset {
	used := map[string]bool{}
	for q := range o.State.Questions.Values() {
		used[q.AnsweredBy] = true
	}
	var unused []conf.Preset
	for _, p := range o.State.Config.Answers {
		if !used[p.Origin()] {
			unused = append(unused, p)
		}
	}
	return unused
}

// An Outcome is how a supervisor left its run.
type Outcome struct {
	Run   *Run
	Root  *Agent
	State State
	Code  int
}

// Table returns what has become of the tasks of a run that has no agent to report on them; nil where one does.
func (o Outcome) Table() *notice.Table {
	if !o.Root.Group {
		return nil
	}
	return o.State.Table()
}

// ErrOwned means that another process supervises the run.
var ErrOwned = checkpoints.ErrOwned

// ErrEnded means that the end of a run is saved: there is nothing left to stop.
var ErrEnded = checkpoints.ErrEnded

// ErrBug marks errors that no circumstance explains, such as a run with two writers.
var ErrBug = errors.New("internal error")

// ErrNotRegular says that a file is none that can be read whole, such as a pipe.
var ErrNotRegular = errors.New("it is not a regular file")

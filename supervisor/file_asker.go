package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
)

// An Asker is an agent one of whose processes may have put a question file where it lies: it runs a script that names
// the folder of question files. Without an agent it is a process of nobody's run.
type Asker struct {
	Run, Agent string
	Asks       bool // the script holds the very question
	Waits      bool // a question of an earlier file of the agent's is not answered yet: its script waits for that
}

// AskerOf returns the agent of this run that has put a question file there, of all that may have; "" where that cannot
// be told. A script waits for one answer at a time, so who waits already has not asked again. One that holds the very
// question goes before others.
func (s State) AskerOf(found []Asker) string {
	found = slices.DeleteFunc(slices.Clone(found), func(a Asker) bool {
		return a.Waits || a.Agent == "" && !a.Asks || a.Run == s.Run.ID && (s.Live(a.Agent) == nil || s.polls(a.Agent))
	})
	if slices.ContainsFunc(found, func(a Asker) bool { return a.Asks && a.Agent != "" }) {
		found = slices.DeleteFunc(found, func(a Asker) bool { return !a.Asks || a.Agent == "" })
	}
	if len(found) == 0 || found[0].Run != s.Run.ID || slices.ContainsFunc(found, func(a Asker) bool {
		return a.Run != found[0].Run || a.Agent != found[0].Agent
	}) {
		return ""
	}
	return found[0].Agent
}

// polls reports whether a script of an agent waits for its answer file.
func (s State) polls(agent string) bool {
	return len(s.FindQuestionsOf(agent, WaitsForFile)) > 0
}

// WaitsForFile reports whether a script waits for the answer to a question in its answer file.
func WaitsForFile(q *Question) bool {
	return q.File != nil && q.File.Polls &&
		(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
}

package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
)

// This file is the stop/resume protocol (002, Protocol 3 and "Error Handling"): how a stop is put to a person, what the
// answers to it mean, and what the agent reads.

func init() {
	handlers[questions.AskBlocker] = handler{
		signal: signals.Stop,
		asked:  func(sig signals.Signal) []signals.Question { return []signals.Question{ask.Stop(sig)} },
		prompt: func(s State, group []*Question) string {
			sig := ask.SignalOf(group[0])
			return prompts.StopAnswered(group[0], sig, s.further(group[0]), ask.SnapshotPaths(sig))
		},
		work: blockedPart,
	}
}

// blockedPart is the work that a stop leaves to another agent: what is blocked, or all that is left where it does not
// say what that is; then what was proposed and said beside it.
func blockedPart(s State, q *Question) (w task.Work, start bool) {
	r := questions.Resolve(q)
	sig := ask.SignalOf(q)
	left := strings.TrimSpace(sig.Field("blocked_work"))
	if a := s.Agents.Get(q.Agent); left == "" && a != nil {
		left = strings.TrimSpace(sig.Field("details")) + "\n\nDo what is not done yet of the task that this stopped:\n\n" +
			a.Task
	}
	for _, more := range []string{r.Own, r.Words} {
		if more != "" {
			left += "\n\n" + more
		}
	}
	var b strings.Builder // titles as in the records of earlier releases, which have to come to the same task again
	for _, f := range []struct{ title, name string }{
		{"What blocked it", "details"}, {"Done so far by the agent that was blocked", "completed_work"},
		{"State", "state_snapshot"},
		{"Needed to go on", "resume_requirements"}, {"Possible fixes", "error_recovery"},
	} {
		if v := strings.TrimSpace(sig.Field(f.name)); v != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", f.title, v)
		}
	}
	return task.Work{Task: left, Said: checkpoints.Delegated{
		Context: strings.TrimSpace(b.String()), Coordination: "The agent that was blocked continues with the rest.",
	}}, r.How == questions.DelegateIt && q.Revoked == ""
}

package records

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/questions"
)

// Undelegated returns the delegations of an agent that nobody has decided, or of which it has not been told, oldest
// first.
func (s Records) Undelegated(agent string) []*checkpoints.Question {
	return s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool {
		return questions.KindOf(q.Kind).Hands &&
			(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
	})
}

// SameWork returns the child of an agent that was asked for in the same words and whose end the agent has not been
// told: it is not started twice because a crash has lost the word of it.
func (s Records) SameWork(parent, fingerprint string) *checkpoints.Agent {
	for _, c := range s.Children(parent) {
		if c.Delegated.Fingerprint == fingerprint && (!c.Status.Ended() || s.EndUntold(c)) {
			return c
		}
	}
	return nil
}

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
func (s Records) AskerOf(found []Asker) string {
	found = slices.DeleteFunc(slices.Clone(found), func(a Asker) bool {
		return a.Waits || a.Agent == "" && !a.Asks || a.Run == s.Run.ID && (s.Live(a.Agent) == nil || s.Polls(a.Agent))
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

// Polls reports whether a script of an agent waits for its answer file.
func (s Records) Polls(agent string) bool {
	return len(s.FindQuestionsOf(agent, (*checkpoints.Question).WaitsForFile)) > 0
}

// NestedQuestion returns the question whether the agent may be started that a run asks for, if it is not settled yet.
func (s Records) NestedQuestion(agent, fingerprint string) *checkpoints.Question {
	for _, q := range s.Undelegated(agent) {
		if q.Nested != nil && q.Fingerprint == fingerprint {
			return q
		}
	}
	return nil
}

// ImageBytes is how many bytes the images have that the questions of a run show.
func (s Records) ImageBytes() (sum int) {
	seen := map[string]bool{}
	for q := range s.Questions.Values() {
		if q.Image != nil && !seen[q.Image.File(q.Agent)] {
			seen[q.Image.File(q.Agent)] = true
			sum += q.Image.Bytes
		}
	}
	return sum
}

// AskedIn returns the first questions of the calls in which subagents have asked in a launch, and of what they have
// asked in their own words and have no answer to.
func (s Records) AskedIn(l *checkpoints.Launch) []*checkpoints.Question {
	return s.FindQuestionsOf(l.Agent, func(q *checkpoints.Question) bool {
		switch {
		case q.Index != 0 || q.State == checkpoints.QuestionWithdrawn || q.AskedBy() == nil:
			return false
		case q.Tool == nil:
			return q.State != checkpoints.QuestionDelivered
		}
		return q.Tool.Launch == l.N
	})
}

// Interrupted reports whether a question came from a subagent of whose interruption, or of that of one which waits for
// it, nobody has been told.
func Interrupted(q *checkpoints.Question) bool {
	return q.Tool != nil && slices.ContainsFunc(q.Tool.From.Line(), func(sub *checkpoints.Subagent) bool {
		return sub.Interrupted
	})
}

// DecidedElsewhere reports whether the result of a call says that it was not decided here, though it was asked.
func (s Records) DecidedElsewhere(agent string, r procs.ToolResult) bool {
	group := s.AskedInCall(agent, r.ToolUse)
	return len(group) > 0 && (r.Hook != nil || !r.BrokenOff && slices.ContainsFunc(group, questions.TakenBack))
}

// AskedInCall returns the questions of a call of a tool of the CLI's.
func (s Records) AskedInCall(agent, toolUse string) []*checkpoints.Question {
	return s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool {
		return questions.Hookable(q) && q.Tool.ToolUse == toolUse
	})
}

// Undecided returns the calls of a launch whose questions have no answer that the agent is known to have: a hook may
// have answered them in a moment that nobody has seen.
func (s Records) Undecided(l *checkpoints.Launch) []string {
	var calls []string
	for _, q := range s.FindQuestionsOf(l.Agent, func(q *checkpoints.Question) bool {
		return q.Index == 0 && questions.Hookable(q) && q.State != checkpoints.QuestionDelivered && l.StartedAt != nil &&
			!q.AskedAt.Before(*l.StartedAt)
	}) {
		calls = append(calls, q.Tool.ToolUse)
	}
	return calls
}

// WorksBeside reports whether something lives in the background that a person's answer should not cost its work:
// another subagent than those that ask and those that wait for them, and between turns anything. In the middle of a
// call a command does not count: it may be a server, which never ends.
func (s Records) WorksBeside(l *checkpoints.Launch, open []*checkpoints.Question) bool {
	waits := func(t checkpoints.Task) bool {
		return slices.ContainsFunc(open, func(q *checkpoints.Question) bool {
			call := s.HeldCall(q)
			return call != nil && slices.ContainsFunc(call.From.Line(), func(sub *checkpoints.Subagent) bool {
				return sub.ID == t.ID || sub.ID == ""
			})
		})
	}
	return !l.Phase.InTurn() && len(l.WakeUps) > 0 || slices.ContainsFunc(l.Background, func(t checkpoints.Task) bool {
		return (t.Subagent || !l.Phase.InTurn()) && !waits(t)
	})
}

// LeftPlanMode reports whether a plan of the agent was approved, and the call that asked about it let through.
func (s Records) LeftPlanMode(agent string) bool {
	return len(s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool {
		return questions.KindOf(q.Kind).Plans && questions.Allowed(q) &&
			(q.GrantSpent || q.State == checkpoints.QuestionDelivered && !s.ToldGrant(q))
	})) > 0
}

// Expected returns the keys of the calls of an agent that a person has allowed after claude had refused them, and that
// were not made since (procs.CallKey).
func (s Records) Expected(agent string) (calls []string) {
	for _, q := range s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool {
		return questions.KindOf(q.Kind).Refused && questions.Allowed(q) && !q.GrantSpent && s.ToldGrant(q)
	}) {
		calls = append(calls, q.Fingerprint)
	}
	return calls
}

// Package records is what is kept of one run, as a value: its records, and what they say by themselves of how its
// agents, questions and deliveries hang together. What follows from them for the run, the core decides.
package records

import (
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/table"
)

// Assuming returns the open questions of an agent that it does not wait for at its work, oldest first.
func (s Records) Assuming(agent string) []*checkpoints.Question {
	return s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool { return q.IsOpen() && questions.WorksOn(q) })
}

// Records are those of one run. They are a value: who changes one keeps a copy in the tables and not the record itself,
// so that an old value stays what it was.
type Records struct {
	Run        *checkpoints.Run
	Agents     table.Table[*checkpoints.Agent]
	Launches   table.Table[[]*checkpoints.Launch] // by agent; number N stands at N-1
	Questions  table.Table[*checkpoints.Question]
	Deliveries table.Table[*checkpoints.Delivery] // by uuid
	Taken      int64                              // inbox notes up to this one are taken

	index *index // nil: made when it is wanted
}

// Launch returns the agent's last launch, nil before the first.
func (s Records) Launch(agent string) *checkpoints.Launch {
	ls := s.Launches.Get(agent)
	if len(ls) == 0 {
		return nil
	}
	return ls[len(ls)-1]
}

// Live returns the agent's launch that may still have a process, nil if there is none.
func (s Records) Live(agent string) *checkpoints.Launch {
	if l := s.Launch(agent); l != nil && !l.Phase.Ended() {
		return l
	}
	return nil
}

// Lived reports whether a process of an agent that is gone may have lived at a time. When it began may not have been
// saved.
func (s Records) Lived(agent string, at time.Time) bool {
	return !at.Before(s.Run.StartedAt) && slices.ContainsFunc(s.Launches.Get(agent), func(l *checkpoints.Launch) bool {
		return l.EndedAt != nil && !at.After(*l.EndedAt)
	})
}

// HeldCall returns the call in which a live process waits for the answer of a question, nil if that came by text or the
// process is gone. What such an answer has led to, as a command that it wants, is waited for in the same call.
func (s Records) HeldCall(q *checkpoints.Question) *checkpoints.ToolCall {
	if q.Asker != "" {
		q = s.Questions.Get(q.Asker)
	}
	if l := s.Live(q.Agent); q.Tool != nil && l != nil && l.N == q.Tool.Launch && l.End == "" {
		return q.Tool
	}
	return nil
}

// Held returns the live launch whose process waits for the answer of a question in its call, nil if none does.
func (s Records) Held(q *checkpoints.Question) *checkpoints.Launch {
	if s.HeldCall(q) == nil {
		return nil
	}
	return s.Live(q.Agent)
}

// FindQuestions returns the questions of the run that f accepts, oldest first.
func (s Records) FindQuestions(f func(*checkpoints.Question) bool) []*checkpoints.Question {
	var qs []*checkpoints.Question
	for q := range s.Questions.Values() {
		if f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

// FindQuestionsOf returns those of an agent's questions that f accepts, oldest first.
func (s Records) FindQuestionsOf(agent string, f func(*checkpoints.Question) bool) []*checkpoints.Question {
	var qs []*checkpoints.Question
	for _, id := range s.indexed().questions.Under(agent + within) {
		if q := s.Questions.Get(id); f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

func byAge(a, b *checkpoints.Question) int {
	if c := a.AskedAt.Compare(b.AskedAt); c != 0 {
		return c
	}
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return a.Index - b.Index
}

// Open returns the questions of an agent that wait for an answer and for which it waits, oldest first: those about its
// budget and how long it takes aside, and those that do not stop its work (Assuming).
func (s Records) Open(agent string) []*checkpoints.Question {
	return s.FindQuestionsOf(agent, func(q *checkpoints.Question) bool {
		return q.IsOpen() && !questions.KindOf(q.Kind).Aside && !questions.WorksOn(q)
	})
}

// Group returns the questions of a group, which is named by the id of its first.
func (s Records) Group(group string) []*checkpoints.Question {
	first := s.Questions.Get(group)
	if first == nil {
		return nil
	}
	return s.FindQuestionsOf(first.Agent, func(q *checkpoints.Question) bool { return q.Group == group })
}

// Groups returns the questions of several groups, in their order.
func (s Records) Groups(groups []string) (qs []*checkpoints.Question) {
	for _, g := range groups {
		qs = append(qs, s.Group(g)...)
	}
	return qs
}

// FindDeliveries returns the agent's deliveries that f accepts, in the order they were made.
func (s Records) FindDeliveries(agent string, f func(*checkpoints.Delivery) bool) []*checkpoints.Delivery {
	var ds []*checkpoints.Delivery
	for _, id := range s.indexed().deliveries.Under(agent + within) {
		if d := s.Deliveries.Get(id); f(d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// UnsentTo returns the deliveries that are still to be made to a launch, in their order.
func (s Records) UnsentTo(agent string, launch int) []*checkpoints.Delivery {
	return s.FindDeliveries(agent, func(v *checkpoints.Delivery) bool { return v.Unsent() && v.Launch == launch })
}

// AllAgents returns the agents in the order in which they came: the root first, each after its parent.
func (s Records) AllAgents() []*checkpoints.Agent { return s.agentsOf(s.indexed().order, "") }

// agentsOf returns the agents that a part of the index names, in its order.
func (s Records) agentsOf(ids table.Table[string], under string) []*checkpoints.Agent {
	var as []*checkpoints.Agent
	for _, id := range ids.Under(under) {
		as = append(as, s.Agents.Get(id))
	}
	return as
}

// Begun reports whether an agent has had a conversation.
func (s Records) Begun(agent string) bool {
	for _, l := range s.Launches.Get(agent) {
		if l.Begun {
			return true
		}
	}
	return false
}

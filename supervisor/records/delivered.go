package records

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// PromptOf is what a launch is started with.
func (s Records) PromptOf(agent string, launch int) string {
	var texts []string
	for _, v := range s.UnsentTo(agent, launch) {
		texts = append(texts, v.Text)
	}
	return strings.Join(texts, "\n\n")
}

// ToldGrant reports whether an agent was told by a prompt of the answer to a question. One whose call was refused may
// make it again before it is known that the prompt was written.
func (s Records) ToldGrant(q *checkpoints.Question) bool {
	if questions.KindOf(q.Kind).Refused {
		return q.Delivering || q.State == checkpoints.QuestionDelivered
	}
	return len(s.FindDeliveries(q.Agent, func(v *checkpoints.Delivery) bool {
		return (v.State == checkpoints.DeliveryDelivered || v.WaitsForReceipt()) && v.Prompt() &&
			slices.Contains(v.Groups, q.Group)
	})) > 0
}

// SaidInTurn reports whether the turn that is under way was begun with the answer to a question, or goes on with one
// that was, and was cut off.
func (s Records) SaidInTurn(q *checkpoints.Question) bool {
	l := s.Live(q.Agent)
	return l != nil && len(s.FindDeliveries(q.Agent, func(v *checkpoints.Delivery) bool {
		return v.File == "" && v.State != checkpoints.DeliveryDropped && slices.Contains(v.Groups, q.Group) &&
			(v.Launch == l.N && v.Turn == l.Turns || l.Turns == 0 && s.WasCut(v))
	})) > 0
}

// WasCut reports whether the turn in which something was said was cut off, and none has come to its end since.
func (s Records) WasCut(v *checkpoints.Delivery) bool {
	launches := s.Launches.Get(v.Agent)
	for i, l := range launches {
		began, between := l.N == v.Launch, l.N > v.Launch && i < len(launches)-1
		if began && (!l.Phase.Ended() || l.Turns != v.Turn) || between && l.Turns > 0 {
			return false
		}
	}
	return true
}

// ResultsFor returns the delivery of results with which a launch is to begin; nil if it begins in another way.
func (s Records) ResultsFor(agent string, launch int) *checkpoints.Delivery {
	if first := s.UnsentTo(agent, launch); len(first) == 1 && len(first[0].Results) > 0 {
		return first[0]
	}
	return nil
}

// BegunAnswer reports whether the conversation has the answer to a question, though the turn that it began goes on.
func (s Records) BegunAnswer(q *checkpoints.Question) bool {
	l := s.Live(q.Agent)
	return l != nil && len(s.FindDeliveries(q.Agent, func(v *checkpoints.Delivery) bool {
		return v.State == checkpoints.DeliveryStarted && v.Launch == l.N && slices.Contains(v.Groups, q.Group)
	})) > 0
}

// Uncertain reports whether what was sent to an agent may or may not have reached its conversation.
func (s Records) Uncertain(agent string) bool {
	return len(s.FindDeliveries(agent, (*checkpoints.Delivery).WaitsForReceipt)) > 0
}

// LetThrough returns the question whose allowance a call was made by; nil if it was made by none.
func (s Records) LetThrough(agent, toolUse string) *checkpoints.Question {
	for _, v := range s.FindDeliveries(agent, func(v *checkpoints.Delivery) bool {
		return v.Grant != "" && v.Tool != nil && v.Tool.ToolUse == toolUse
	}) {
		if q := s.Questions.Get(v.Grant); questions.KindOf(q.Kind).Refused {
			return q
		}
	}
	return nil
}

// KeyOf is the key of what people have said last at a time: the same words, sent again, are taken once. See
// Unpacked.Keyed.
func (s Records) KeyOf(key string, at time.Time) string {
	if since := s.Run.KeyedSince; since == nil || at.Before(*since) {
		return key
	}
	return fmt.Sprintf("%s %d", key, at.UnixMilli())
}

// AnswerKey is the key of the answers of a group.
func (s Records) AnswerKey(group []*checkpoints.Question) string {
	var last time.Time
	for _, q := range group {
		if at := q.AnsweredAt; at != nil && at.After(last) {
			last = *at
		}
	}
	return s.KeyOf(group[0].Group, last)
}

// SaysTo reports whether something is on its way to the live process of an agent that begins a turn there: the process
// may have read it before it is known here that it was written.
func (s Records) SaysTo(agent string) bool {
	l := s.Live(agent)
	return l != nil && len(s.FindDeliveries(agent, func(v *checkpoints.Delivery) bool {
		return v.Launch == l.N && v.Tool == nil && v.File == "" &&
			(v.State == checkpoints.DeliveryPending || v.State == checkpoints.DeliverySent)
	})) > 0
}

package supervisor

import (
	"bytes"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// This file is one answer for many questions: agents that do the same work on many things ask the same about each.
// Questions are alike if they differ in nothing but the thing that their agent works on; what one of them is answered,
// a person may mean for all, those that are asked later, too. The question that was answered so keeps it, and loses it
// when its answer is changed.

// Sharable reports whether the answer to a question of this kind can be that of others, too. Whether a command may run
// is decided for each by itself, and a budget and a script's file are asked for once.
func Sharable(kind checkpoints.QuestionKind) bool { return questions.KindOf(kind).Sharable }

// shareAnswer gives all open questions that are like one the answer that it has.
func (d *transition) shareAnswer(q *Question) {
	for _, other := range d.FindQuestions(func(o *Question) bool {
		return o.State == checkpoints.QuestionOpen &&
			d.sameQuestion(q, o)
	}) {
		d.answerLike(other, q)
	}
}

// answeredLike returns the question whose answer one that is asked now has, for they are alike; nil if there is none.
// The last such answer counts.
func (s State) answeredLike(q *Question) *Question {
	shared := s.FindQuestions(func(o *Question) bool {
		return o.ForAllLike && o.AnsweredAt != nil && s.sameQuestion(o, q)
	})
	if len(shared) == 0 {
		return nil
	}
	return slices.MaxFunc(shared, func(a, b *Question) int { return a.AnsweredAt.Compare(*b.AnsweredAt) })
}

// answerLike answers a question as another one was.
func (d *transition) answerLike(q, as *Question) {
	d.answer(InboxEntry{
		Question: q.ID, Value: d.sameAnswer(as, q), Skip: as.Skipped, Decline: as.Declined,
		By: as.AnsweredBy + ", who answered all like " + as.ID, At: *as.AnsweredAt,
	})
	d.question(q.ID).Like = as.ID
}

// sameQuestion reports whether two questions of a run differ in nothing but what their agents work on.
func (s State) sameQuestion(a, b *Question) bool {
	if a.ID == b.ID || a.Kind != b.Kind || !Sharable(a.Kind) || a.MultiSelect != b.MultiSelect ||
		len(a.Options) != len(b.Options) ||
		a.Optional != b.Optional {
		return false
	}
	kind := questions.KindOf(a.Kind)
	if kind.InCall { // what is permitted is exactly what was seen
		return a.Tool != nil && b.Tool != nil && a.Tool.Name == b.Tool.Name && a.Tool.Cwd == b.Tool.Cwd &&
			bytes.Equal(a.Tool.Input, b.Tool.Input)
	}
	if !sameImage(a, b) {
		return false
	}
	same := func(ofA, ofB string) bool { return ofA == ofB || s.withoutItem(a, ofA) == s.withoutItem(b, ofB) }
	if !same(a.Header, b.Header) || !same(a.Text, b.Text) || !same(a.Validate, b.Validate) {
		return false
	}
	if kind.Hands && !same(a.Context, b.Context) { // which has the task
		return false
	}
	for i := range a.Options {
		if !same(a.Options[i].Label, b.Options[i].Label) {
			return false
		}
	}
	return true
}

// withoutItem returns a text of a question without what its agent works on.
func (s State) withoutItem(q *Question, text string) string {
	if item := itemOf(s.Agents.Get(q.Agent)); item != "" {
		text = strings.ReplaceAll(text, item, "\x00")
	}
	return text
}

// itemOf is what an agent works on that does the same as others; "" if there is nothing of the kind.
func itemOf(a *Agent) string {
	if a == nil || a.Delegated == nil || a.Delegated.Nested != nil { // a run inside an agent calls itself what it likes
		return ""
	}
	return a.Delegated.Name
}

// sameAnswer returns the answer of one question as another one's that is alike: the options of the same places, or the
// same words.
func (s State) sameAnswer(from, to *Question) string {
	labels := questions.Chosen(from)
	if len(labels) == 0 {
		return from.Answer
	}
	for i, label := range labels {
		at := slices.IndexFunc(from.Options, func(o checkpoints.Option) bool { return o.Label == label })
		labels[i] = to.Options[at].Label
	}
	return strings.Join(labels, ", ")
}

// ownAnswer reports whether an answer to a question that has one counts: it was accepted before anybody knew that the
// answer to another is to be that of this one, too.
func ownAnswer(q *Question) bool {
	return q.Like != "" && q.State == checkpoints.QuestionAnswered && !q.Delivering
}

package records

import (
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/questions"
)

// Sharable reports whether the answer to a question of this kind can be that of others, too. Whether a command may run
// is decided for each by itself, and a budget and a script's file are asked for once.
func Sharable(kind checkpoints.QuestionKind) bool { return questions.KindOf(kind).Sharable }

// AnsweredLike returns the question whose answer one that is asked now has, for they are alike; nil if there is none.
// The last such answer counts.
func (s Records) AnsweredLike(q *checkpoints.Question) *checkpoints.Question {
	shared := s.FindQuestions(func(o *checkpoints.Question) bool {
		return o.ForAllLike && o.AnsweredAt != nil && s.SameQuestion(o, q)
	})
	if len(shared) == 0 {
		return nil
	}
	return slices.MaxFunc(shared, func(a, b *checkpoints.Question) int { return a.AnsweredAt.Compare(*b.AnsweredAt) })
}

// SameQuestion reports whether two questions of a run differ in nothing but what their agents work on.
func (s Records) SameQuestion(a, b *checkpoints.Question) bool {
	if a.ID == b.ID || a.Kind != b.Kind || !Sharable(a.Kind) || a.MultiSelect != b.MultiSelect ||
		len(a.Options) != len(b.Options) ||
		a.Optional != b.Optional {
		return false
	}
	kind := questions.KindOf(a.Kind)
	if kind.InCall { // what is permitted is exactly what was seen
		return a.Tool != nil && b.Tool != nil && a.Tool.Cwd == b.Tool.Cwd &&
			procs.CallKey(a.Tool.Name, a.Tool.Input) == procs.CallKey(b.Tool.Name, b.Tool.Input)
	}
	if !a.SameImage(b) {
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
func (s Records) withoutItem(q *checkpoints.Question, text string) string {
	if item := itemOf(s.Agents.Get(q.Agent)); item != "" {
		text = strings.ReplaceAll(text, item, "\x00")
	}
	return text
}

// itemOf is what an agent works on that does the same as others; "" if there is nothing of the kind.
func itemOf(a *checkpoints.Agent) string {
	if a == nil || a.Delegated == nil || a.Delegated.Nested != nil { // a run inside an agent calls itself what it likes
		return ""
	}
	return a.Delegated.Name
}

// SameAnswer returns the answer of one question as another one's that is alike: the options of the same places, or the
// same words.
func (s Records) SameAnswer(from, to *checkpoints.Question) string {
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

// AnsweredBefore begins what the context of a question says of an earlier answer.
const AnsweredBefore = "\nAnswered before: "

// AnsweredToLost returns the questions that an earlier script of the agent has asked in the same words, where it is
// gone and all of them are answered: the agent has not been told, or is in the turn that was begun with it.
func (s Records) AnsweredToLost(group []*checkpoints.Question) []*checkpoints.Question {
	for _, first := range s.FindQuestionsOf(group[0].Agent, func(q *checkpoints.Question) bool {
		return q.Index == 0 && q.File != nil && q.File.Lost && q.File.Drop == ""
	}) {
		before := s.Group(first.Group)
		if slices.EqualFunc(before, group, SameWords) && !slices.ContainsFunc(before, func(q *checkpoints.Question) bool {
			return q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionWithdrawn || q.Revoked != "" ||
				(q.State == checkpoints.QuestionDelivered || q.Delivering) && !s.SaidInTurn(q)
		}) {
			return before
		}
	}
	return nil
}

// SameWords reports whether a person sees no difference between two questions of scripts.
func SameWords(a, b *checkpoints.Question) bool {
	ofA, _, _ := strings.Cut(a.Context, AnsweredBefore)
	ofB, _, _ := strings.Cut(b.Context, AnsweredBefore)
	return a.Text == b.Text && a.Header == b.Header && ofA == ofB && a.Validate == b.Validate &&
		a.SameImage(b) && a.MultiSelect == b.MultiSelect && slices.Equal(a.Options, b.Options)
}

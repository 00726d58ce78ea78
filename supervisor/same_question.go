package supervisor

import "claude-supervise/checkpoints"

// This file is one answer for many questions: agents that do the same work on many things ask the same about each.
// Questions are alike if they differ in nothing but the thing that their agent works on; what one of them is answered,
// a person may mean for all, those that are asked later, too. The question that was answered so keeps it, and loses it
// when its answer is changed.

// shareAnswer gives all open questions that are like one the answer that it has.
func (d *transition) shareAnswer(q *Question) {
	for _, other := range d.FindQuestions(func(o *Question) bool {
		return o.State == checkpoints.QuestionOpen &&
			d.SameQuestion(q, o)
	}) {
		d.answerLike(other, q)
	}
}

// answerLike answers a question as another one was.
func (d *transition) answerLike(q, as *Question) {
	d.answer(InboxEntry{
		Question: q.ID, Value: d.SameAnswer(as, q), Skip: as.Skipped, Decline: as.Declined,
		By: as.AnsweredBy + ", who answered all like " + as.ID, At: *as.AnsweredAt,
	})
	d.question(q.ID).Like = as.ID
}

// ownAnswer reports whether an answer to a question that has one counts: it was accepted before anybody knew that the
// answer to another is to be that of this one, too.
func ownAnswer(q *Question) bool {
	return q.Like != "" && q.State == checkpoints.QuestionAnswered && !q.Delivering
}

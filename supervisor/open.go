package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// OpenQuestions makes the questions of one signal or call, and answers those that were answered in advance.
func (d *transition) openQuestions(agent string, kind checkpoints.QuestionKind, qs []signals.Question, n Naming,
	more func(*Question)) {
	if len(qs) == 0 || len(n.IDs) < len(qs) {
		panic(fmt.Sprintf("supervisor: %d ids for %d questions", len(n.IDs), len(qs)))
	}
	group, presets := n.IDs[0], make([]conf.Preset, len(qs))
	copy(presets, n.Presets)
	var later checkpoints.Origin
	for i, asked := range qs {
		q := ask.Question(kind, asked)
		q.ID, q.Run, q.Agent, q.Group, q.Index, q.AskedAt = n.IDs[i], d.Run.ID, agent, group, i, d.at
		q.Who = d.Who(agent)
		n.show(q)
		more(q)
		d.mayAssume(q)
		if i > 0 {
			q.Fingerprint, q.Signal, q.Tool = later.Fingerprint, later.Signal, later.Tool
		} else if len(qs) > 1 {
			later = ask.Small(q.Origin)
		}
		d.addQuestion(q)
	}
	d.startOver(d.Group(group))
	for _, q := range d.Group(group) {
		if q.State != checkpoints.QuestionOpen {
			continue
		}
		p := presets[q.Index]
		if p.Value != "" && d.repeats(q, p) {
			if questions.KindOf(q.Kind).Hands {
				d.fail(q.Agent, "repeats", "asks for the same delegation again and again, though "+p.Origin()+" denies it")
				return
			}
			p = conf.Preset{} // a person has to look at it
		}
		if p.Value != "" {
			d.answer(InboxEntry{Question: q.ID, Value: p.Value, By: p.Origin(), At: d.at})
		} else if as := d.AnsweredLike(q); as != nil {
			d.answerLike(q, as)
		} else if d.Config.Policy == conf.Fail {
			d.refuse(q)
			return
		}
	}
}

// refuse fails an agent because it asks, under --on-question fail.
func (d *transition) refuse(q *Question) {
	if refuse := handlers[q.Kind].refuse; refuse != nil {
		refuse(d, q)
		return
	}
	d.fail(q.Agent, "question", "asked a question, and questions are refused: "+text.FirstLine(q.Text))
}

// answer takes an answer. What is done with it, its concern decides.
func (d *transition) answer(n InboxEntry) {
	q := d.question(n.Question)
	at := n.At
	d.unprepare(q.Group)
	if q.Assumed != nil {
		d.agent(q.Agent).Dequeue(q.Group) // what follows from the answer is looked for anew
	}
	q.State, q.Answer, q.Skipped, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionAnswered, n.Value, n.Skip, &at, n.By
	q.Images = n.Images
	q.Like, q.Declined, q.ForAllLike = "", n.Decline, n.AllLike && records.Sharable(q.Kind)
	if no := questions.Refusing(q.Kind, n.Value); n.Decline && no != "" {
		q.Answer, q.Declined = no, false
	}
	d.decided(n)
	if q.ForAllLike {
		d.shareAnswer(q)
	}
}

// unpackedBy stands in Question.Revoked where unpacking has taken back what an answer lets happen.
const unpackedBy = "unpack"

// reopens reports whether a question whose answer grants something can be asked anew: the agent has not heard the
// answer, or what was approved has not begun.
func (d *transition) reopens(q *Question) bool {
	switch {
	case d.Agents.Get(q.Agent).Status.Ended():
		return false
	case q.Child != "" && handlers[q.Kind].work != nil:
		return q.State != checkpoints.QuestionWithdrawn
	}
	return q.State == checkpoints.QuestionAnswered && !q.Delivering
}

// askAnew opens a question again. What is on its way of the answer before is not told of the next one.
func (d *transition) askAnew(q *Question) {
	carries := func(group string) bool { return group == q.Group }
	for _, v := range d.FindDeliveries(q.Agent, (*checkpoints.Delivery).Undelivered) {
		if !slices.ContainsFunc(v.Groups, carries) {
			continue
		}
		v = d.delivery(v.UUID)
		if v.Groups = slices.DeleteFunc(slices.Clone(v.Groups), carries); len(v.Groups) == 0 && len(v.Messages) == 0 {
			v.State = checkpoints.DeliveryDropped
		}
	}
	q.State, q.Response, q.Grant = checkpoints.QuestionOpen, checkpoints.Response{}, checkpoints.Grant{Rule: q.Rule}
	q.Delivering, q.Ran, q.Prepared = false, nil, false
	if q.Nested != nil { // its client is gone
		q.Nested = &checkpoints.Nested{Work: q.Nested.Work}
	}
	d.agent(q.Agent).Dequeue(q.Group)
}

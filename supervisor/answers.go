package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// sayAnswers begins the delivery of complete answers where a process waits in the call that asked, and puts all
// others among what is to be said.
func (d *transition) sayAnswers(id string) {
	for _, q := range d.FindQuestionsOf(id, func(q *Question) bool {
		return q.State == checkpoints.QuestionAnswered && !q.Delivering
	}) {
		group := d.Group(q.Group)
		if d.Questions.Get(q.ID).Delivering ||
			slices.ContainsFunc(group, func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		if questions.Resolve(q).How == questions.GiveUp {
			d.question(q.ID).State = checkpoints.QuestionDelivered // it needs no words
			d.fail(id, "gave_up", "given up by "+q.AnsweredBy+": "+text.FirstLine(q.Text))
			continue
		}
		if q.Nested.HasClients() {
			continue
		}
		if q.File != nil && q.File.Polls {
			if l := d.Live(id); l != nil && l.End == "" { // else nobody would be there to take it
				d.beginDrop(group)
			}
			continue
		}
		if d.unready(group[0]) != "" {
			continue
		}
		a := d.agent(id)
		if d.judged(a, q) {
			continue
		}
		if l := d.Held(q); l != nil {
			d.showImages(a, l, group)
			d.begin(a, l, delivering{key: "answer " + q.Group, tool: q.Tool, reply: d.replyTo(group), groups: []string{q.Group}})
			continue
		}
		a.Enqueue(checkpoints.OutboxItem{Key: d.AnswerKey(group), Group: q.Group, At: d.at})
	}
}

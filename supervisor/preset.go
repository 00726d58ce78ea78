package supervisor

import (
	"strings"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// maxRepeats is how often an agent gets the same answer to the same question without a person.
const maxRepeats = 10

// repeats reports whether an agent has asked the same in its text so often that it does not heed the answer that it was
// given in advance, or by the policy: it would go round for ever, each time in another turn that costs. In a call of a
// tool the turn goes on, and claude's own bounds hold; what is approved is bounded by the number of agents.
func (d *transition) repeats(q *Question, p conf.Preset) bool {
	if q.Tool != nil || q.Fingerprint == "" || questions.KindOf(q.Kind).Hands && strings.HasPrefix(p.Value, Approve) {
		return false
	}
	same := d.FindQuestionsOf(q.Agent, func(o *Question) bool {
		return o.ID != q.ID && o.Fingerprint == q.Fingerprint && o.Index == q.Index && o.Kind == q.Kind &&
			o.AnsweredBy == p.Origin()
	})
	return len(same) >= maxRepeats
}

package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/records"
)

// A script that dies while it waits for its answer file starts over in the next process of its agent, and asks the
// same under another id (the hybrid document's script names its file by the time). So does one that had given up and
// escalated, if it knows nothing of the checkpoint. What was answered before is accepted and kept, and a command in
// claude's place knows nothing of it: it is told by a prompt. So the answer goes to the question that is asked again,
// once, and nobody is asked twice.
//
// An answer that a script has taken is used: what it did with it before it died nobody knows, and a script that asks
// the same for one thing after another may be at the next. So that is asked again, and the person is shown the answer.

// startOver answers what a script asks as its agent's earlier one was answered, if that is gone and had not taken the
// answer.
func (d *transition) startOver(group []*Question) {
	if group[0].File == nil || !group[0].File.Polls {
		return
	}
	before := d.AnsweredToLost(group)
	for i, old := range before {
		old = d.question(old.ID)
		file := *old.File
		file.Lost = false
		if old.File = &file; !old.Delivering {
			old.State = checkpoints.QuestionDelivered // with this one
		}
		id := group[i].ID
		d.answer(InboxEntry{Question: id, Value: old.Answer, Skip: old.Skipped, Decline: old.Declined,
			By: old.AnsweredBy + ", to " + old.ID, At: d.at})
		d.question(id).Like = old.ID
	}
	if len(before) > 0 {
		d.agent(before[0].Agent).Dequeue(before[0].Group)
	} else if before = d.takenByLost(group); len(before) > 0 {
		for i, old := range before {
			q := d.question(group[i].ID)
			q.Context = strings.TrimSpace(q.Context + fmt.Sprintf("%s%s (%s). Its script took that and was ended; "+
				"what it did before is not known.", records.AnsweredBefore, prompts.Answer(old), old.ID))
		}
	}
}

// takenByLost returns the questions in the same words whose answers the script of an earlier process has taken before
// that died in its turn; of several the last.
func (d *transition) takenByLost(group []*Question) (taken []*Question) {
	for _, v := range d.FindDeliveries(group[0].Agent, func(v *Delivery) bool {
		lost := v.State == checkpoints.DeliveryDropped || !d.Abilities().KeepsTranscript
		return v.File != "" && lost && d.WasCut(v)
	}) {
		if before := d.Group(v.Groups[0]); slices.EqualFunc(before, group, records.SameWords) {
			taken = before
		}
	}
	return taken
}

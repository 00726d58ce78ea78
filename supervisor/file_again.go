package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
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
	before := d.answeredToLost(group)
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
		dequeue(d.agent(before[0].Agent), before[0].Group)
	} else if before = d.takenByLost(group); len(before) > 0 {
		for i, old := range before {
			q := d.question(group[i].ID)
			q.Context = strings.TrimSpace(q.Context + fmt.Sprintf("%s%s (%s). Its script took that and was ended; "+
				"what it did before is not known.", answeredBefore, prompts.Answer(old), old.ID))
		}
	}
}

// answeredBefore begins what the context of a question says of an earlier answer.
const answeredBefore = "\nAnswered before: "

// answeredToLost returns the questions that an earlier script of the agent has asked in the same words, where it is
// gone and all of them are answered: the agent has not been told, or is in the turn that was begun with it.
func (d *transition) answeredToLost(group []*Question) []*Question {
	for _, first := range d.FindQuestionsOf(group[0].Agent, func(q *Question) bool {
		return q.Index == 0 && q.File != nil && q.File.Lost && q.File.Drop == ""
	}) {
		before := d.Group(first.Group)
		if slices.EqualFunc(before, group, inTheSameWords) && !slices.ContainsFunc(before, func(q *Question) bool {
			return q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionWithdrawn || q.Revoked != "" ||
				(q.State == checkpoints.QuestionDelivered || q.Delivering) && !d.saidInTurn(q)
		}) {
			return before
		}
	}
	return nil
}

// takenByLost returns the questions in the same words whose answers the script of an earlier process has taken before
// that died in its turn; of several the last.
func (d *transition) takenByLost(group []*Question) (taken []*Question) {
	for _, v := range d.FindDeliveries(group[0].Agent, func(v *Delivery) bool {
		lost := v.State == checkpoints.DeliveryDropped || !d.Abilities().KeepsTranscript
		return v.File != "" && lost && d.wasCut(v)
	}) {
		if before := d.Group(v.Groups[0]); slices.EqualFunc(before, group, inTheSameWords) {
			taken = before
		}
	}
	return taken
}

// inTheSameWords reports whether a person sees no difference between two questions of scripts.
func inTheSameWords(a, b *Question) bool {
	ofA, _, _ := strings.Cut(a.Context, answeredBefore)
	ofB, _, _ := strings.Cut(b.Context, answeredBefore)
	return a.Text == b.Text && a.Header == b.Header && ofA == ofB && a.Validate == b.Validate &&
		sameImage(a, b) && a.MultiSelect == b.MultiSelect && slices.Equal(a.Options, b.Options)
}

// saidInTurn reports whether the turn that is under way was begun with the answer to a question, or goes on with one
// that was, and was cut off.
func (d *transition) saidInTurn(q *Question) bool {
	l := d.Live(q.Agent)
	return l != nil && len(d.FindDeliveries(q.Agent, func(v *Delivery) bool {
		return v.File == "" && v.State != checkpoints.DeliveryDropped && slices.Contains(v.Groups, q.Group) &&
			(v.Launch == l.N && v.Turn == l.Turns || l.Turns == 0 && d.wasCut(v))
	})) > 0
}

// wasCut reports whether the turn in which something was said was cut off, and none has come to its end since.
func (d *transition) wasCut(v *Delivery) bool {
	launches := d.Launches.Get(v.Agent)
	for i, l := range launches {
		began, between := l.N == v.Launch, l.N > v.Launch && i < len(launches)-1
		if began && (!l.Phase.Ended() || l.Turns != v.Turn) || between && l.Turns > 0 {
			return false
		}
	}
	return true
}

package supervisor

import (
	"time"

	"claude-supervise/checkpoints"
)

// PollInterval is how often the inbox is read though nothing has rung: the wake-up socket is only a hint.
const PollInterval = time.Minute

// InboxRead is what other processes, and this one's terminal, have left in the inbox since it was last looked at:
// answers, changed answers, stops. They are taken together, so that a changed answer is in time or is refused.
type InboxRead struct {
	Notes []InboxEntry
	Named NotesNamed `json:",omitempty"`
}

var _ = kind[InboxRead]("noted")

func (e InboxRead) apply(d *transition) error {
	d.ReadInbox(e.Notes)
	d.nestings(e.Notes, e.Named)
	return nil
}

// The kinds of note that a run takes.
const (
	EntryAnswer = checkpoints.EntryAnswer
	EntryChange = checkpoints.EntryChange
	EntryStop   = "stop"
)

// ReadInbox takes what lies in the inbox. A note that comes too late changes nothing: who left it was told so, or the
// record shows it.
func (d *transition) ReadInbox(notes []InboxEntry) {
	for _, n := range notes {
		d.Taken = max(d.Taken, n.Seq)
		q := d.Questions.Get(n.Question)
		switch {
		case n.Kind == EntryStop:
			d.stop(n)
		case n.Kind == EntryRevoke:
			d.revoke(n)
		case n.Kind == EntryMessage:
			d.message(n)
		case n.Kind == EntrySnapshot:
			d.wantSnapshot(n)
		case q == nil:
		case n.Kind == EntryAnswer && (q.State == checkpoints.QuestionOpen || ownAnswer(q)),
			n.Kind == EntryChange && !q.Closed():
			d.answer(n)
		case q.AnsweredBy == ByHook && (n.Kind == EntryAnswer || n.Kind == EntryChange):
			d.afterHook(n)
		case n.Kind == EntryAnswer && q.State == checkpoints.QuestionWithdrawn && q.AnsweredAt == nil:
			d.answer(n) // accepted before anybody knew that the question is withdrawn: it is kept, though nobody hears it
			d.question(n.Question).State = checkpoints.QuestionWithdrawn
		}
	}
}

package supervisor

import (
	"maps"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is the quick path of the hybrid document (000): an agent's own script has put a question file where people
// look for it, and polls for its answer file. While it does, that file is the only way in which it is answered; once it
// has given up and escalated, or is gone, the answer goes by a prompt as any other. Never both.

// ByFile names who has answered by an answer file.
const ByFile = "answer file"

// escalate takes the script's word that it does not wait any more: it has not seen an answer, and will not.
func (d *transition) escalate(group []*Question, n Named) error {
	for _, q := range group {
		q = d.question(q.ID)
		q.SetFile(false, "")
		q.Signal = text.JSON(n.Signal)
		d.asksByPrompt(q)
		if q.Index == 0 {
			d.leftState(q, n.Kept)
		}
	}
	return nil
}

// questionFiles are looked for by no script once the turn of an agent is over and nothing of it lives on.
var questionFiles = concern{name: "question files", decided: (*transition).unpolled}

// unpolled takes note that no script of the agent can be waiting any more: its turn is over, and nothing of it lives
// on.
func (d *transition) unpolled(agent string) {
	if l := d.Live(agent); l != nil && (l.Phase.InTurn() || len(l.Alive()) > 0 || l.Phase == checkpoints.LaunchIntended) {
		return
	}
	for _, q := range d.FindQuestionsOf(agent, (*checkpoints.Question).WaitsForFile) {
		q = d.question(q.ID)
		q.SetFile(false, q.File.Drop)
		d.asksByPrompt(q)
	}
}

// asksByPrompt has a question that no script polls for any more asked like any other: what was answered for all alike
// is its answer, too.
func (d *transition) asksByPrompt(q *Question) {
	q.Kind, q.File.Lost = questions.AskClarification, true
	if as := d.AnsweredLike(q); as != nil && q.State == checkpoints.QuestionOpen {
		d.answerLike(q, as)
	}
}

// Polled returns the questions whose answer a script waits for in the file of an id.
func (s State) Polled(id string) []*Question {
	return s.FindQuestions(func(q *Question) bool { return q.WaitsForFile() && q.File.ID == id })
}

// beginDrop is the moment from which the answers of a script that waits cannot be changed any more. It is saved before
// they are written where the script looks.
func (d *transition) beginDrop(group []*Question) {
	for _, q := range group {
		q = d.question(q.ID)
		q.SetFile(true, checkpoints.DropBegun)
	}
}

// FileFound says that an agent's script asks by a question file, and waits for its answer file.
type FileFound struct {
	Agent  string
	Launch int
	Named
	Ran bool `json:",omitempty"` // a process of the agent's runs the script; else its stream has named the file

	// The script is gone, with an earlier process of the agent, and another now asks the same. Answer lies in its file; ""
	// if none does that it could have taken.
	Lost   bool   `json:",omitempty"`
	Answer string `json:",omitempty"`
}

var _ = kind[FileFound]("file_found")

// apply opens the questions of a script that waits.
func (e FileFound) apply(d *transition) error {
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	fp := ask.Fingerprint(e.Signal)
	for _, q := range d.FindQuestionsOf(e.Agent, func(q *Question) bool { return q.Fingerprint == fp }) {
		if q.State != checkpoints.QuestionWithdrawn {
			return unwelcome("the same file as question %s", q.ID)
		}
	}
	doc, id := text.JSON(e.Signal), e.Signal.Field("question_id")
	kind := questions.AskFile
	if e.Lost {
		kind = questions.AskClarification
	}
	_, qs := ParseQuestions(e.Signal)
	d.openQuestions(e.Agent, kind, qs, e.Naming, func(q *Question) {
		q.Fingerprint, q.Signal = fp, doc
		q.File = &checkpoints.FileAsked{ID: id, Polls: !e.Lost, Ran: e.Ran, Lost: e.Lost}
		switch at := d.at; {
		case e.Answer != "":
			q.State, q.Answer, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionAnswered, e.Answer, &at, ByFile
		case e.Lost:
			q.State = checkpoints.QuestionWithdrawn // it is asked by the other
		}
	})
	return nil
}

// FileGone says that a script has taken its answer, or has taken its question back.
type FileGone struct {
	ID     string
	Answer string // what was seen of the answer, "" if nothing
	Launch int    `json:",omitempty"` // whose script it was; 0, of an earlier release: it is not looked up again
}

var _ = kind[FileGone]("file_gone")

// apply takes note that a script has taken its answer: the one that was dropped for it, or one that somebody else had
// put there, of which nobody was told that it counts.
func (e FileGone) apply(d *transition) error {
	at := d.at
	found := false
	taken := map[string]bool{} // by group
	for _, q := range d.Polled(e.ID) {
		found = true
		q = d.question(q.ID)
		switch {
		case q.State == checkpoints.QuestionOpen && e.Answer == "":
			q.State = checkpoints.QuestionWithdrawn
		case q.State == checkpoints.QuestionOpen:
			q.State, q.Answer, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionDelivered, e.Answer, &at, ByFile
			taken[q.Group] = true
		case q.File.Drop == "", e.Answer != "" &&
			e.Answer != prompts.InLine(prompts.AnswersInOne(d.Group(q.Group))): // it took another: this one goes by a prompt
			q.SetFile(false, "")
		case q.File.Drop == checkpoints.DropDone, e.Answer != "": // it took this one
			q.State = checkpoints.QuestionDelivered
			taken[q.Group] = true
		default: // what it took may have been another: this one is looked for once it was put there
			q.SetFile(false, checkpoints.DropBegun)
		}
	}
	if !found {
		return unwelcome("no question waits for the file %s", e.ID)
	}
	for _, group := range slices.Sorted(maps.Keys(taken)) {
		if e.Launch > 0 {
			d.takenByScript(group)
		}
	}
	return nil
}

func (FileGone) checksInbox() bool { return true }

// takenByScript takes note that a script has the answers of a group. They have reached its agent once the call that
// runs the script has come to its end, so they may have to be looked up when the process ends. A command in claude's
// place is the script itself.
func (d *transition) takenByScript(group string) {
	first := d.Questions.Get(group)
	a, l := d.agent(first.Agent), d.Launch(first.Agent)
	state, known := checkpoints.DeliveryDelivered, checkpoints.QuestionDelivered
	if l.Phase.Ended() && d.Abilities().KeepsTranscript { // it is looked up
		state, known = checkpoints.DeliverySent, checkpoints.QuestionAnswered
	}
	for _, q := range d.Group(group) {
		q = d.question(q.ID)
		q.SetFile(false, "")
		q.State, q.Delivering, q.File.Lost = known, true, false
	}
	key := "file " + first.File.ID
	d.addDelivery(&Delivery{UUID: deliveryID(a, key), Agent: a.ID, Key: key, State: state, Launch: l.N, Turn: l.Turns,
		Groups: []string{group}, File: first.File.ID, CreatedAt: d.at,
		ArrivedAt: d.at})
}

// saidByPrompt has the answers that a script had taken said by a prompt: nothing in the conversation shows them.
func (d *transition) saidByPrompt(v *Delivery) {
	for _, q := range d.Groups(v.Groups) {
		d.question(q.ID).Kind = questions.AskClarification
	}
	d.drop(v.UUID)
}

// Dropped says that an answer lies in its answer file, or why it could not be put there.
type Dropped struct{ Question, Problem string }

var _ = kind[Dropped]("dropped")

func (e Dropped) apply(d *transition) error {
	q := d.Questions.Get(e.Question)
	if q.State != checkpoints.QuestionAnswered || !q.File.Polls || q.File.Drop != checkpoints.DropBegun {
		return unwelcome("%s is not answered by file any more", q.ID)
	}
	for _, q := range d.Group(q.Group) {
		q = d.question(q.ID)
		q.SetFile(true, checkpoints.DropDone)
		if e.Problem != "" {
			q.SetFile(false, "")
		}
	}
	return nil
}

// Reclaimed says whether an answer file that no script looks for any more still lay there.
type Reclaimed struct {
	Question string
	There    bool
	Launch   int `json:",omitempty"` // as in FileGone
}

var _ = kind[Reclaimed]("reclaimed")

func (e Reclaimed) apply(d *transition) error {
	q := d.Questions.Get(e.Question)
	if q.State != checkpoints.QuestionAnswered || q.File.Polls || q.File.Drop == "" {
		return unwelcome("%s does not lie in a file", q.ID)
	}
	for _, q := range d.Group(q.Group) {
		q = d.question(q.ID)
		if q.SetFile(false, ""); !e.There {
			q.State, q.Delivering, q.File.Lost = checkpoints.QuestionDelivered, true, false
		}
	}
	if !e.There && e.Launch > 0 {
		d.takenByScript(q.Group)
	}
	return nil
}

// FileEvent is what the engine hears of its syncer: what it has seen of a file that is not ours, or what who watches
// the run should be told.
type FileEvent struct {
	ID     string
	Gone   bool   // taken away by the script that put it there
	Answer string // what was seen in its answer file
	Told   string
}

// distrustFile takes back what the file of a question that comes from a pack file lets happen: its script is gone.
func (d *transition) distrustFile(first *Question, vouched bool) {
	// The file with the answer stays where it was: whether the script had taken it, its conversation says.
	taken := first.State == checkpoints.QuestionAnswered && first.File.Drop != "" && d.Abilities().KeepsTranscript &&
		d.Launch(first.Agent) != nil
	for _, q := range d.Group(first.Group) {
		q = d.question(q.ID)
		if q.File == nil {
			continue
		}
		if q.File.Polls || q.File.Drop != "" {
			q.Delivering = false
		}
		// A script here gets no answer of a file that nobody vouches for, and none that another may have taken.
		lost := vouched && q.File.Drop == "" && (q.File.Lost || q.WaitsForFile())
		q.File = &checkpoints.FileAsked{ID: q.File.ID, Lost: lost}
		if q.Kind == questions.AskFile {
			q.Kind = questions.AskClarification
		}
	}
	if taken {
		d.takenByScript(first.Group)
	}
}

// AskedByFile returns the first question of an agent's own file; nil if no such file is known.
func AskedByFile(s State, id string) *Question {
	qs := s.FindQuestions(func(q *Question) bool { return q.File != nil && q.File.ID == id })
	if len(qs) == 0 {
		return nil
	}
	return qs[0]
}

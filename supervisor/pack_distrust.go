package supervisor

import (
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
)

// This file is what is taken of the records in a pack file (see pack/pack_trust.go): what they say was granted holds no
// longer, what was not begun is asked anew, and what a person is shown of a decision that is open is written anew from
// what it is about. What is taken of a file question, a launch, a budget and others is in the file of each.

// distrust takes from the records of a run what nobody has granted here.
func (d *transition) distrust(b Unpacked) {
	for _, a := range d.AllAgents() {
		d.distrustAgent(a.ID, b.Conversations)
	}
	root := d.agent(d.Run.Root)
	root.Budget = conf.Bounding(conf.Lower(conf.BoundsOf(root), b.Config.Budget))
	for uuid := range d.Deliveries.All() {
		d.distrustDelivery(uuid)
	}
	d.unspawn()
	runs := func(q *Question) bool { return questions.KindOf(q.Kind).Runs }
	for _, q := range d.FindQuestions(func(q *Question) bool { return !runs(q) }) {
		d.distrustQuestion(q.ID, b)
	}
	for _, q := range d.FindQuestions(runs) {
		d.distrustCommand(q.ID) // by what the question that wants it says now
	}
	d.indexAnew()
	for _, q := range d.FindQuestions(func(q *Question) bool { return questions.OfBudget(q) && q.IsOpen() }) {
		d.askBudgetAnew(q.ID)
	}
}

// distrustAgent takes from an agent what could name a file, a process or a conversation of this machine, or be taken
// for a flag.
func (d *transition) distrustAgent(id string, conversations []string) {
	a := d.agent(id)
	a.Without = nil
	if a.From != "" && !slices.Contains(conversations, a.From) {
		a.From = "" // it would begin with a conversation of somebody here
	}
	if !slices.Contains(conversations, a.SessionID) && d.Abilities().Resumes && !a.Status.Ended() {
		d.abandon(a) // what was sent to the one that did not come along is said again
		a.SessionID, a.Fresh = sessionOf(a), d.Begun(id)
	}
	a.Kept = ownCopy(a.ID, a.Kept)
	distrustParts(a)
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool {
		return s.Group != "" && len(d.Group(s.Group)) == 0
	})
	if a.Delegated != nil {
		said := *a.Delegated
		said.Type, said.Model = task.HandedName(said.Type), task.HandedName(said.Model)
		a.Delegated = &said
	}
	d.distrustLaunches(id)
}

// ownCopy returns what is known of a checkpoint, without a copy that is no file of this agent's.
func ownCopy(agent string, k *checkpoints.Kept) *checkpoints.Kept {
	if k == nil {
		return nil
	}
	own := *k
	own.Hand = "" // it is made ready here
	if !strings.HasPrefix(own.Copy, agent+".") || strings.ContainsAny(own.Copy, "/\\") {
		own.Copy = ""
	}
	return &own
}

// distrustQuestion takes back what the answer of a question lets happen here.
func (d *transition) distrustQuestion(id string, b Unpacked) {
	q := d.question(id)
	q.Moment, q.NoMoment = "", "" // it is kept where the run was; of one that is open it is kept here
	q.ForAllLike, q.Noticed, q.Kept = q.ForAllLike && b.Vouched, 0, ownCopy(q.Agent, q.Kept)
	q.Told = slices.DeleteFunc(slices.Clone(q.Told), func(said checkpoints.OutboxItem) bool { return said.Group != "" })
	if asker := d.Questions.Get(q.Asker); asker == nil || asker.Agent != q.Agent {
		q.Asker = ""
	}
	if q.Tool != nil && q.Tool.Launch > len(d.Launches.Get(q.Agent)) {
		call := *q.Tool
		call.Launch = 0
		q.Tool = &call
	}
	if q.File != nil && q.Index == 0 {
		d.distrustFile(q, b.Vouched)
	}
	if ask.CwdOf(q) != "" { // a folder of the machine that the pack comes from
		call := *q.Tool
		call.Cwd = checkpoints.ElsewhereUnknown
		q.Tool = &call
	}
	if q.State == checkpoints.QuestionAnswered && !q.Delivering {
		q.Prepared = false
	}
	if questions.Grants(q) && !(q.Child != "" && d.Agents.Get(q.Child) != nil) { // else it has had its effect
		if d.reopens(q) {
			d.askAnew(q)
		} else {
			q.Revoked = unpackedBy
		}
	}
	if q.IsOpen() {
		d.showAnew(q, b.Seen)
	}
}

// showAnew writes what a person is shown of an open decision from what it is about: the pack file may say something
// else.
func (d *transition) showAnew(q *Question, seen map[string]ask.SeenCall) {
	if anew := handlers[q.Kind].anew; anew != nil && !anew(d, q, seen) {
		q.State = checkpoints.QuestionWithdrawn
	}
}

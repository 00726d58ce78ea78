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
// what it is about.

// unpackedBy stands in Question.Revoked where unpacking has taken back what an answer lets happen.
const unpackedBy = "unpack"

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
	a.Parts = slices.Clone(a.Parts[:min(len(a.Parts), maxParts)])
	for i := range a.Parts {
		a.Parts[i].N = i + 1
	}
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool {
		return s.Group != "" && len(d.Group(s.Group)) == 0
	})
	if a.Delegated != nil {
		said := *a.Delegated
		said.Type, said.Model = task.HandedName(said.Type), task.HandedName(said.Model)
		a.Delegated = &said
	}
	if len(d.Launches.Get(id)) == 0 {
		return
	}
	launches := slices.Clone(d.Launches.Get(id))
	for i, l := range launches {
		own := *l
		own.PID, own.StartTicks, own.Transcript, own.Replies, own.Gate = 0, 0, "", nil, nil
		launches[i] = &own
	}
	d.Launches.Put(id, launches)
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

// distrustDelivery sees that what answers a call answers none of a process here.
func (d *transition) distrustDelivery(uuid string) {
	v := d.delivery(uuid)
	v.Grant = ""
	if n := len(d.Launches.Get(v.Agent)); v.Launch > n {
		v.Launch = n
	}
	if l := d.Live(v.Agent); v.Tool != nil && v.State == checkpoints.DeliveryPending && (l == nil || l.N != v.Launch) {
		d.drop(uuid)
	}
}

// unspawn takes back the agents that were approved and have not begun: they are asked about anew.
func (d *transition) unspawn() {
	for _, a := range slices.Backward(d.AllAgents()) {
		if a.Delegated == nil || a.Status.Ended() || len(d.Launches.Get(a.ID)) > 0 {
			continue
		}
		q := d.Questions.Get(a.Delegated.Question)
		if q == nil || q.Child != a.ID || d.Agents.Get(q.Agent).Status.Ended() || d.leads(a) {
			continue
		}
		for _, said := range a.Outbox { // once it is approved again it is told
			if said.From == fromUser {
				q = d.question(q.ID)
				q.Told = append(slices.Clip(q.Told), said)
			}
		}
		d.Agents.Delete(a.ID)
		delete(d.touched, a.ID)
		d.indexAnew()
		for _, before := range d.AllAgents() {
			if before.ContinuedBy == a.ID {
				d.agent(before.ID).ContinuedBy = ""
			}
		}
	}
}

// leads reports whether anything in the run hangs on an agent, other than its parent.
func (s State) leads(a *Agent) bool {
	for other := range s.Agents.Values() {
		if other.Parent == a.ID || other.Delegated != nil && slices.Contains(other.Delegated.After, a.ID) ||
			other.Exceeds == a.ID {
			return true
		}
	}
	for q := range s.Questions.Values() {
		if q.Agent == a.ID {
			return true
		}
	}
	return len(s.FindDeliveries(a.ID, func(*Delivery) bool { return true })) > 0
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
	if q.File != nil && q.Index == 0 { // its script is gone
		// The file with the answer stays where it was: whether the script had taken it, its conversation says.
		taken := q.State == checkpoints.QuestionAnswered && q.File.Drop != "" && d.Abilities().KeepsTranscript &&
			d.Launch(q.Agent) != nil
		for _, q := range d.Group(q.Group) {
			q = d.question(q.ID)
			if q.File == nil {
				continue
			}
			if q.File.Polls || q.File.Drop != "" {
				q.Delivering = false
			}
			// A script here gets no answer of a file that nobody vouches for, and none that another may have taken.
			lost := b.Vouched && q.File.Drop == "" && (q.File.Lost || q.WaitsForFile())
			q.File = &checkpoints.FileAsked{ID: q.File.ID, Lost: lost}
			if q.Kind == questions.AskFile {
				q.Kind = questions.AskClarification
			}
		}
		if taken {
			d.takenByScript(q.Group)
		}
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

// showAnew writes what a person is shown of an open decision from what it is about: the pack file may say something
// else.
func (d *transition) showAnew(q *Question, seen map[string]ask.SeenCall) {
	if anew := handlers[q.Kind].anew; anew != nil && !anew(d, q, seen) {
		q.State = checkpoints.QuestionWithdrawn
	}
}

// distrustCommand asks anew whether a command may run, of what the answer of the stop wants; else nobody is asked.
func (d *transition) distrustCommand(id string) {
	q := d.question(id)
	asker := d.Questions.Get(q.Asker)
	wanted := asker != nil && asker.Agent == q.Agent && questions.Resolve(asker).How == questions.RunCommand
	if asker == nil {
		q.Asker = ""
	}
	if q.Ran != nil {
		if ran := *q.Ran; !ran.Done {
			ran.Done, ran.Exit = true, "it was cut off when its supervisor ended; whether it took effect is not known"
			q.Ran = &ran
		}
		q.State, q.Revoked = checkpoints.QuestionDelivered, unpackedBy
		return
	}
	switch waits := wanted && asker.State == checkpoints.QuestionAnswered && !asker.Delivering; {
	case waits && (q.IsOpen() || questions.Grants(q)) && !d.Agents.Get(q.Agent).Status.Ended():
		d.askAnew(q)
		ask.Reshow(q, ask.Command(questions.Resolve(asker).Words, d.Folder(q.Agent)))
	case q.IsOpen():
		q.State = checkpoints.QuestionWithdrawn
	case questions.Grants(q):
		q.State, q.Revoked = checkpoints.QuestionWithdrawn, unpackedBy
	}
}

// askBudgetAnew writes the question of a budget from what is used here, if that is used up.
func (d *transition) askBudgetAnew(id string) {
	q := d.question(id)
	scope := d.Agents.Get(q.Agent)
	if scope.Budget == nil {
		q.State = checkpoints.QuestionWithdrawn
		return
	}
	used := d.usageByScope()[scope.ID].Used
	over := questions.Exceeding(*scope.Budget, used, questions.Exceeded(*scope.Budget, used))
	if over.What == "" {
		q.State = checkpoints.QuestionWithdrawn
		return
	}
	ask.Reshow(q, d.BudgetQuestion(scope, over))
	q.Fingerprint, q.Exceeded = "budget "+over.What, &over
}

// saysParked says of agents without a process what they wait for now: nobody settles them before resume.
func (d *transition) saysParked() {
	for _, a := range d.AllAgents() {
		open := d.Open(a.ID)
		if len(open) == 0 && a.Status == checkpoints.Parked {
			open = d.Assuming(a.ID)
		}
		if a.Status.Ended() || d.Live(a.ID) != nil || len(open) == 0 && a.Status != checkpoints.Parked {
			continue
		}
		d.idleStatus(d.agent(a.ID), d.Launch(a.ID), open)
	}
	if root := d.Agents.Get(d.Run.Root); !root.Status.Ended() {
		r := d.run()
		r.Status, r.Reason = root.Status, root.Reason
	}
}

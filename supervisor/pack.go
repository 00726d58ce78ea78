package supervisor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of a run that is packed and unpacked, and what is taken of the records in a pack file (see
// pack/pack_trust.go): what they say was granted holds no longer, what was not begun is asked anew, and what a person
// is shown of a decision that is open is written anew from what it is about. What is taken of a file question, a
// launch, a budget and others is in the file of each.

// Packed says that the run is now in a file, and goes on wherever that is unpacked.
type Packed struct{ File string }

var _ = kind[Packed]("packed")

func (e Packed) apply(d *transition) error {
	d.run().Packed = e.File
	return nil
}

func (Packed) unsupervised() {}

// Unpacked says that the run has come out of a file, or that its person takes the packing back.
type Unpacked struct {
	From, Cwd string      // the run's folder before, and from now on
	Same      bool        // it is the machine on which it was packed
	Work      bool        // the uncommitted work has come along
	Config    conf.Config // from now on: see pack.Harmless
	Back      bool        `json:",omitempty"` // nothing was moved: the packing is taken back

	File  string                  `json:",omitempty"` // that it came from, for people
	Seen  map[string]ask.SeenCall `json:",omitempty"` // what is shown of calls that ask for permission, by question
	Given conf.Given              `json:",omitzero"`  // what the person who unpacks it gives it

	Vouched bool `json:",omitempty"` // whoever unpacks it has authenticated the file: see pack.Harmless

	Conversations []string `json:",omitempty"` // sessions that came along

	Worktrees map[string]CameAlong `json:",omitempty"` // by agent

	// Keyed has what people say from now on go under keys that name when they said it. Its conversation may have had more
	// than the file knows of, and the CLI takes each key once.
	Keyed bool `json:",omitempty"`

	Epoch int `json:",omitempty"` // that was taken beside its snapshots; 0: the file is no snapshot in its folder
}

var _ = kind[Unpacked]("unpacked")

// apply makes the records those of a run on this machine, in which nothing is granted that was not granted here. Agents
// whose conversations tell of another place are told.
func (e Unpacked) apply(d *transition) error {
	r := d.run()
	r.Packed, r.PID, r.Waker, r.Program, r.Cwd = "", 0, "", "", e.Cwd
	r.TakenOver, r.Unleased, r.Snapshots, r.Epoch = nil, "", nil, max(r.Epoch, e.Epoch)
	d.Config, r.Config = e.Config, text.JSON(e.Config)
	if e.Back {
		return nil
	}
	r.FromPack = e.File
	if at := d.at; e.Keyed && r.KeyedSince == nil {
		r.KeyedSince = &at
	}
	along := map[string]string{}      // folders of those whose worktrees have come along
	own := map[string]string{}        // folders that only one agent had, and that are not here
	for _, a := range d.AllAgents() { // a file may not name folders to work in, or to remove
		if a.Cwd != "" || a.Placed || a.Placing || a.Worktree != nil {
			folder := d.Folder(a.ID)
			a = d.agent(a.ID)
			if came, is := e.Worktrees[a.ID]; is {
				came.settleIn(a)
				along[a.ID] = folder
			} else if a.Unplace(e.From, e.Cwd) {
				own[a.ID] = folder
			}
		}
	}
	d.distrust(e)
	d.give(e.Given)
	d.saysParked()
	if e.Same && e.From == e.Cwd && len(own) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(along)),
		func(id string) bool { return along[id] != d.Folder(id) }) {
		return nil
	}
	d.tellMoved(func(a *Agent) string { return d.moved(e, a, own[a.ID], along[a.ID]) })
	return nil
}

func (Unpacked) unsupervised() {}

// moved is what an agent reads whose conversation tells of another place: of that where it works, and of the worktrees
// of its children.
func (d *transition) moved(b Unpacked, a *Agent, own, along string) string {
	said := prompts.Moved(b.From, b.Cwd, b.Work)
	switch {
	case along != "":
		said = prompts.MovedTree(a, along, b.From, b.Cwd)
	case own != "":
		said = prompts.MovedAlone(own)
	}
	for _, child := range d.Children(a.ID) {
		if w, along := b.Worktrees[child.ID]; along {
			said += fmt.Sprintf("\nThe worktree of %s is now %s, on the branch %s.", child.ID, w.Worktree.Path,
				w.Worktree.Branch)
		}
	}
	return said
}

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

package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// Created is the first event of a run.
type Created struct {
	Run, Name, Cwd, Agent, Task   string
	SuccessCriteria, Deliverables []string `json:",omitempty"`
	Config                        conf.Config
	Children                      []task.Child  `json:",omitempty"` // that the task itself states
	Estimated                     string        `json:",omitempty"` // how long the root's task takes, as written
	Group                         bool          `json:",omitempty"` // the root has no conversation: it is its children
	From                          string        `json:",omitempty"` // the session with whose conversation the root begins
	Fork                          *task.Fork    `json:",omitempty"` // the question of another run from which it goes on
	TakesUp                       *task.Session `json:",omitempty"` // the conversation with whose questions it begins
}

var _ = kind[Created]("created")

func (e Created) apply(d *transition) error {
	root := &Agent{
		ID: e.Agent, Run: e.Run, Task: e.Task, Status: checkpoints.Queued, Reason: "not yet started", Since: d.at,
		SuccessCriteria: e.SuccessCriteria, Deliverables: e.Deliverables, Group: e.Group,
		Conversation: checkpoints.Conversation{From: e.From},
		Bounds:       checkpoints.Bounds{Budget: conf.Bounding(e.Config.Budget)},
		Pace:         checkpoints.Pace{Estimate: task.ParseEstimate(e.Estimated)},
	}
	root.SessionID = sessionOf(root)
	d.Run = &Run{
		ID: e.Run, Name: e.Name, Cwd: e.Cwd, Root: e.Agent, Status: checkpoints.Queued, Reason: "not yet started",
		Since: d.at, StartedAt: d.at, Config: text.JSON(e.Config),
	}
	d.Config = e.Config
	d.addAgent(root)
	switch {
	case e.Fork != nil:
		d.forks(root, *e.Fork)
	case e.TakesUp != nil:
		d.takesUp(root, *e.TakesUp)
	}
	for _, child := range e.Children {
		if child.Parent == "" {
			child.Parent = root.ID
		}
		d.spawn(child)
	}
	return nil
}

func (Created) unsupervised() {}

func (Created) mayBeLost() bool { return true }

// Opened says that a supervisor has taken the run over: at its start, or to resume it.
type Opened struct {
	PID   int
	Waker string `json:"Bell"` // the path of its wake-up socket
	// the path of this program, absolute; "": no agent runs it unasked
	Program string          `json:",omitempty"`
	Notes   []InboxEntry    // what lay in the inbox: who asks again must know what is answered
	Named   NotesNamed      `json:",omitempty"`
	Revive  bool            // go on with agents that failed or were stopped
	Failed  bool            `json:",omitempty"` // try again what failed, or reported so
	Claude  string          // another claude than before; "": the same
	Exec    []string        // the same of a command that is run in claude's place
	Cwd     string          `json:",omitempty"` // where the run's folder is from now on; "": where it was
	Policy  conf.OnQuestion // what this supervisor does with questions that are not answered in time
	Given   conf.Given      `json:",omitzero"` // what the person grants with resume, and bounds the run by
	// the person's own settings deny agents our tools: they ask and report by text
	Toolless bool                `json:",omitempty"`
	Where    *claude.Whereabouts `json:",omitempty"` // what this supervisor has of the variables of Config.Where

	Epoch     int              `json:",omitempty"` // that it has taken where its snapshots lie; 0: it has none
	Snapshots *conf.SnapshotTo `json:",omitempty"` // other ones than before; Dir "": none

	// Somebody else goes on with the run: what is left of it here is ended, and nothing is begun.
	Over *checkpoints.TakenOver `json:",omitempty"`
}

var _ = kind[Opened]("opened")

func (e Opened) apply(d *transition) error {
	d.touchAll()
	d.planAnew() // its config may be another
	r := d.run()
	if e.Over == nil {
		r.Epoch = max(r.Epoch+1, e.Epoch)
	}
	r.TakenOver, r.Unleased = nil, ""
	r.PID, r.Waker, r.Program, r.Left, r.Leaving, r.Announced = e.PID, e.Waker, e.Program, "", "", ""
	r.EndedAt, r.ExitCode, r.Merged = nil, nil, nil
	d.Config.Policy, d.Config.Toolless = e.Policy, e.Toolless
	if e.Where != nil {
		d.Config.Where = e.Where.With(d.Config.Where)
	}
	if e.Claude != "" {
		d.Config.Claude = e.Claude
	}
	if len(e.Exec) > 0 && !d.Abilities().OnPath {
		d.Config.Exec = e.Exec
	}
	d.relocate(e.Cwd)
	d.openSnapshots(e.Snapshots)
	r.Config = text.JSON(d.Config)
	d.give(e.Given)
	back := d.returning(e)
	for _, a := range d.AllAgents() {
		if back[a.ID] {
			d.revive(a.ID, e, back)
		}
		if l := d.Live(a.ID); l != nil {
			l = d.last(a.ID)
			l.End, l.EndReason, l.Gate = EndRecover, "its supervisor is gone", nil
		}
	}
	for _, a := range d.AllAgents() { // ends of which nobody was there to be told
		if a.Delegated != nil && a.Status.Ended() && !a.Delegated.Told && !d.Agents.Get(a.Parent).Status.Ended() {
			d.tellParent(d.agent(a.ID))
		}
	}
	d.ReadInbox(e.Notes)
	if e.Over != nil {
		d.takenOver(e.Over)
	}
	d.nestings(e.Notes, e.Named)
	if e.Over != nil || e.Policy != conf.Fail {
		return nil
	}
	for _, a := range d.AllAgents() {
		if open := d.Open(a.ID); len(open) > 0 {
			d.refuse(open[0])
		}
		for _, q := range d.FindQuestionsOf(a.ID, (*checkpoints.Question).IsOpen) {
			d.refuse(q)
		}
	}
	return nil
}

// Announced says that the person's own command was told how the run is left, or why it could not be.
type Announced struct{ Leaving, Problem string }

var _ = kind[Announced]("announced")

func (e Announced) apply(d *transition) error {
	d.run().Announced = e.Leaving
	return nil
}

// Left is the last event of a supervisor that goes on purpose.
type Left struct {
	Undone []string `json:",omitempty"` // keys of effects that did not come to their end: the next supervisor does them
}

var _ = kind[Left]("left")

func (e Left) apply(d *transition) error {
	if !d.Plan(e.Undone).Leaves() { // what came in meanwhile has to be done first
		return unwelcome("the supervisor does not leave any more")
	}
	r := d.run()
	if r.Left, r.PID = r.Leaving, 0; d.mergeDue() {
		r.Left = records.LeavingInterrupted // while it waited to merge the findings again: the next supervisor does
	}
	return nil
}

func (Left) checksInbox() bool { return true }

// Work that has ended is taken up again: by resume what was cut short, by resume --failed what has
// failed.

// failed reports whether resume --failed tries an agent's work again: it came to no good end by itself, and that is
// what makes the run's.
func (s State) failed(a *Agent) bool {
	switch a.Status {
	case checkpoints.Failed, checkpoints.Unreported:
		return !a.Group && s.Counts(a)
	}
	return false
}

// returning returns the ended agents with which a run that is opened so goes on.
func (s State) returning(b Opened) map[string]bool {
	back := map[string]bool{}
	if b.Over != nil {
		return back
	}
	if b.Failed {
		for a := range s.Agents.Values() {
			if !s.failed(a) {
				continue
			}
			for back[a.ID] = true; s.Agents.Get(a.Parent) != nil; { // those above hear of it, and end anew
				if a = s.Agents.Get(a.Parent); a.Status.Ended() {
					back[a.ID] = true
				}
			}
		}
	}
	for _, a := range s.AllAgents() { // what an end has cut short goes on with who had ended
		switch p := s.Agents.Get(a.Parent); {
		case b.Revive && s.brings(a) && (p == nil || !p.Status.Ended() || back[p.ID]), b.Failed &&
			p != nil && back[p.ID] && a.Revivable() && a.StopWanted == p.EndInWords():
			back[a.ID] = true
		}
	}
	return back
}

// revive has an agent that had ended go on: with its work, or, where work below it is tried again, once that has ended.
func (d *transition) revive(id string, b Opened, back map[string]bool) {
	a := d.agent(id)
	awaits := false
	for _, c := range d.Children(id) {
		awaits = awaits || b.Failed && back[c.ID] && c.Gates()
	}
	reason := "resumed by a person"
	a.GoOn = !awaits
	switch {
	case awaits:
	case a.Launches > 0 && !d.Begun(id) && a.From == "" && d.Abilities().Resumes: // there is no conversation to continue
		a.Fresh, a.SessionID = true, sessionOf(a)
	case b.Failed && d.failed(a) && a.Launches > 0:
		reason = "tried again by a person"
		a.GoOn = !a.Enqueue(checkpoints.OutboxItem{Key: fmt.Sprintf("retry %d", a.Launches), At: d.at,
			Text: prompts.TryAgain(a)})
	}
	a.EndedAt, a.Ending, a.ReportRequested = nil, checkpoints.Ending{}, false
	a.Report, a.ToldMissing = nil, false
	a.FinishBy, a.Rejected = 0, 0
	if a.Delegated != nil {
		said := *a.Delegated
		said.Told = false
		a.Delegated = &said
	}
	d.setStatus(a, checkpoints.Queued, reason)
}

// Retries reports whether resume --failed would try anything in the run again.
func (o Outcome) Retries() bool { return o.State.Retries() }

// Retries reports whether resume --failed would try anything in the run again.
func (s State) Retries() bool {
	for a := range s.Agents.Values() {
		if s.failed(a) {
			return true
		}
	}
	return false
}

// brings reports whether resume goes on with an agent that has ended: of the children those that the end of their
// parent has stopped, for their parent goes on too, and those of a group. What became of the others their parent knows.
func (s State) brings(a *Agent) bool {
	p := s.Agents.Get(a.Parent)
	return a.Revivable() && (p == nil || p.Group || a.StopWanted == p.EndInWords())
}

package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/text"
)

// Created is the first event of a run.
type Created struct {
	Run, Name, Cwd, Agent, Task   string
	SuccessCriteria, Deliverables []string `json:",omitempty"`
	Config                        Config
	Children                      []Child `json:",omitempty"` // that the task itself states
	Estimated                     string  `json:",omitempty"` // how long the root's task takes, as written
	Group                         bool    `json:",omitempty"` // the root has no conversation: it is its children
	From                          string  `json:",omitempty"` // the session with whose conversation the root's begins
}

var _ = kind[Created]("created")

func (e Created) apply(d *transition) error {
	root := &Agent{
		ID: e.Agent, Run: e.Run, Task: e.Task, Status: checkpoints.Queued, Reason: "not yet started", Since: d.at,
		SuccessCriteria: e.SuccessCriteria, Deliverables: e.Deliverables, Group: e.Group,
		Conversation: checkpoints.Conversation{From: e.From},
		Bounds:       checkpoints.Bounds{Budget: bounding(e.Config.Budget)},
		Pace:         checkpoints.Pace{Estimate: parseEstimate(e.Estimated)},
	}
	root.SessionID = sessionOf(root)
	d.Run = &Run{
		ID: e.Run, Name: e.Name, Cwd: e.Cwd, Root: e.Agent, Status: checkpoints.Queued, Reason: "not yet started",
		Since: d.at, StartedAt: d.at, Config: text.JSON(e.Config),
	}
	d.Config = e.Config
	d.Agents, d.Launches = map[string]*Agent{}, map[string][]*Launch{}
	d.Questions, d.Deliveries = map[string]*Question{}, map[string]*Delivery{}
	d.addAgent(root)
	for _, child := range e.Children {
		if child.Parent == "" {
			child.Parent = root.ID
		}
		d.spawn(child)
	}
	return nil
}

// Opened says that a supervisor has taken the run over: at its start, or to resume it.
type Opened struct {
	PID   int
	Waker string `json:"Bell"` // the path of its wake-up socket
	// the path of this program, absolute; "": no agent runs it unasked
	Program string       `json:",omitempty"`
	Notes   []InboxEntry // what lay in the inbox: who asks again must know what is answered
	Named   NotesNamed   `json:",omitempty"`
	Revive  bool         // go on with agents that failed or were stopped
	Failed  bool         `json:",omitempty"` // try again what failed, or reported so
	Claude  string       // another claude than before; "": the same
	Exec    []string     // the same of a command that is run in claude's place
	Cwd     string       `json:",omitempty"` // where the run's folder is from now on; "": where it was
	Policy  OnQuestion   // what this supervisor does with questions that are not answered in time
	Given   Given        `json:",omitzero"` // what the person grants with resume, and bounds the run by
	// the person's own settings deny agents our tools: they ask and report by text
	Toolless bool                `json:",omitempty"`
	Where    *claude.Whereabouts `json:",omitempty"` // what this supervisor has of the variables of Config.Where

	Epoch     int         `json:",omitempty"` // that it has taken where its snapshots lie; 0: it has none
	Snapshots *SnapshotTo `json:",omitempty"` // other ones than before; Dir "": none

	// Somebody else goes on with the run: what is left of it here is ended, and nothing is begun.
	Over *checkpoints.TakenOver `json:",omitempty"`
}

var _ = kind[Opened]("opened")

func (e Opened) apply(d *transition) error {
	d.touchAll()
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
	d.openSnapshots(e)
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
		if a.Delegated != nil && a.Status.Ended() && !a.Delegated.Told && !d.Agents[a.Parent].Status.Ended() {
			d.tellParent(d.agent(a.ID))
		}
	}
	d.Noted(e.Notes)
	if e.Over != nil {
		d.takenOver(e.Over)
		return nil
	}
	d.nestings(e.Notes, e.Named)
	for _, a := range d.AllAgents() {
		if e.Policy != Fail {
			continue
		}
		if open := d.Open(a.ID); len(open) > 0 {
			d.refuse(open[0])
		}
		for _, q := range d.FindQuestionsOf(a.ID, IsOpen) {
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
		r.Left = LeavingInterrupted // while it waited to merge the findings again: the next supervisor does
	}
	return nil
}

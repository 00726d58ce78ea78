package supervisor

import (
	"path/filepath"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// spawn makes the agent that does a child's work. It is launched when it may begin and a slot is free.
func (d *transition) spawn(c task.Child) {
	c.Work = c.Usual()
	parent := d.Agents.Get(c.Parent)
	said := c.Said
	a := &Agent{
		ID: c.Agent, Run: d.Run.ID, Parent: parent.ID, Depth: parent.Depth + 1, Task: c.Prompt(),
		Status: checkpoints.Queued, Reason: "not yet started", Since: d.at, Priority: c.Priority, Delegated: &said,
		SuccessCriteria: c.SuccessCriteria, Deliverables: c.Deliverables,
		Bounds: checkpoints.Bounds{Budget: conf.Bounding(c.Budget)},
		Pace:   checkpoints.Pace{Estimate: task.ParseEstimate(said.Estimated)},
	}
	a.SessionID = sessionOf(a)
	if c.Cwd != "" && text.Under(c.Cwd, d.Folder(parent.ID)) {
		a.Cwd = filepath.Clean(c.Cwd)
	}
	switch before := d.Agents.Get(c.Resume); {
	case before != nil:
		if d.Begun(before.ID) {
			a.From = before.SessionID
		}
		d.agent(before.ID).ContinuedBy = a.ID
		d.touch(before.Parent)
	case c.Fork && d.Begun(parent.ID):
		a.From = parent.SessionID
	}
	d.addAgent(a)
}

// AsChild puts what was said of an agent's process by whoever delegated its work into a launch.
func (s State) AsChild(spec *procs.Spec, a *Agent) {
	if a.From != "" && !s.Begun(a.ID) {
		spec.Fork = a.From
	}
	said := a.Delegated
	if said == nil {
		return
	}
	spec.AgentType = said.Type
	if said.Model != "" {
		spec.Flags = append(slices.Clip(spec.Flags), "--model="+said.Model)
	}
}

func approvedWork(_ State, q *Question) (w task.Work, approved bool) {
	w = ask.WorkIn(q)
	w.Said.Fingerprint = q.Fingerprint
	task, approved := questions.Approved(q)
	if task != "" {
		w.Task = task
	}
	return w, approved
}

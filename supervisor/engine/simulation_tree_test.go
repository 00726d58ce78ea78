package engine

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// treeNature is how the agents of this world hang together.
type treeNature struct {
	tree     bool // agents delegate, or the task has stated children
	children []task.Child
	group    bool // the root is nothing but its children
}

// grow makes a tree of every second world.
func (n *nature) grow(w *simulation) {
	c := &n.config
	c.Delegate = conf.Delegates{conf.DenyDelegations}
	if w.one(2) {
		return
	}
	n.tree = true
	c.Delegate = pick(w, nil, conf.Delegates{conf.AutoDelegations},
		conf.Delegates{conf.AutoDelegations},
		conf.Delegates{conf.AutoDelegations, conf.AskDelegations},
		conf.Delegates{conf.AskDelegations, conf.AutoDelegations, conf.DenyDelegations})
	c.MaxParallel, c.MaxDepth, c.MaxAgents = pick(w, 0, 1, 1, 2, 3), pick(w, 0, 1, 2, 3), pick(w, 0, 2, 4, 6)
	c.Worktree = w.one(3)
	if !w.one(3) {
		return
	}
	n.group = w.one(3)
	for i := range 1 + w.rng.IntN(4) {
		child := task.Child{Agent: w.childID(), Work: task.Work{
			Task: "Do part " + w.id("T"), Priority: pick(w, priorities...),
			Said: checkpoints.Delegated{Independence: pick(w, "", checkpoints.Parallel, checkpoints.Blocks,
				checkpoints.Optional)},
		}}
		if i > 0 && w.one(2) {
			before := n.children[w.rng.IntN(i)]
			if w.one(3) {
				child.Parent = before.Agent
			} else {
				child.Said.After = []string{before.Agent}
			}
		}
		n.children = append(n.children, child)
	}
}

// task is what the run is begun with.
func (n *nature) task() task.Task {
	return task.Task{Run: RunID, Cwd: "/work", Prompt: "Choose a database", Config: n.config,
		Children: n.children, Group: n.group}
}

// childID makes an id of an agent.
func (w *simulation) childID() string {
	w.ids++
	return fmt.Sprintf("a-child%06d", w.ids)
}

// name names a process as the retelling of a schedule does.
func (p *simProcess) name() string { return processName(p.agent, p.launch) }

func processName(agent string, launch int) string {
	if agent == Root {
		return fmt.Sprintf("process %d", launch)
	}
	return fmt.Sprintf("process %d of %s", launch, agent)
}

// anAgent returns one of the run's agents.
func (w *simulation) anAgent() *supervisor.Agent {
	as := w.disk.kept.AllAgents()
	return as[w.rng.IntN(len(as))]
}

// forks begins a conversation with that of another.
func (p *simProcess) forks() {
	from := p.w.talks[p.fork]
	if from == nil || len(from.entries) == 0 {
		p.exit(procs.Exit{Code: 1, Stderr: "No conversation found with session ID: " + p.fork, Spoke: true})
		return
	}
	p.talk.entries = slices.Clone(from.entries)
	p.talk.written, p.talk.forked = len(p.talk.entries), len(p.talk.entries)
}

// delegates is what the model does to have another do a part of its work: by a signal or by our tool, new work or once
// more what it has asked for before.
func (p *simProcess) delegates() {
	w := p.w
	fields := p.talk.delegated
	if !w.nature.tree {
		fields = []string{"new_task_description", "Write tests " + pick(w, "A", "B"), "delegation_reason", "time"}
	} else if fields == nil || !w.one(4) {
		fields = []string{
			"new_task_description", pick(w, "Write tests "+w.id("T"), "Write tests "+w.id("T"), "Write tests "+w.id("T"),
				"", "Choose a database"),
			"independence", pick(w, string(checkpoints.Parallel), string(checkpoints.Blocks), string(checkpoints.Optional),
				"as you like"),
			"priority", pick(w, "P0", "P1", "P2", "soon"),
			"estimated_duration", pick(w, "", "1 min", "as long as it takes"),
		}
		if w.one(4) {
			fields = append(fields, "fork_context", "true")
		}
		if w.one(4) {
			fields = append(fields, "context_required", "See notes/plan.md")
		}
		if ended := p.talk.childrenEnded(); len(ended) > 0 && w.one(2) {
			fields = append(fields, "resume", pick(w, ended...))
		}
		p.talk.delegated = fields
	}
	if p.raw || w.one(2) {
		text := p.signal(signals.Delegate, pick(w, p.agent, p.agent, p.agent, "bg-task-other"), fields...)
		p.speak(text)
		p.turn.over = w.one(2)
		return
	}
	in := map[string]string{}
	for i := 0; i < len(fields); i += 2 {
		in[fields[i]] = fields[i+1]
	}
	p.callFrom(nil, "delegate_work", string(text.JSON(in)))
}

// endHeading begins what an agent reads of the end of a child.
const endHeading = "## DELEGATED WORK ENDED\n\nAgent: "

// endsIn returns the children whose ends a text tells.
func endsIn(text string) []string {
	var ids []string
	for rest := text; ; {
		_, after, found := strings.Cut(rest, endHeading)
		if !found {
			return ids
		}
		id, _, _ := strings.Cut(after, "\n")
		ids, rest = append(ids, id), after
	}
}

// withoutEnds leaves out of a text what it tells of the ends of children: that may name what they had asked.
func withoutEnds(text string) string {
	for {
		before, after, found := strings.Cut(text, endHeading)
		if !found {
			return text
		}
		_, after, _ = strings.Cut(after, "claude-supervise logs ")
		text = before + after
	}
}

// childrenEnded returns the children of whose ends a conversation knows.
func (t *talk) childrenEnded() []string {
	var ids []string
	for _, e := range t.entries {
		ids = append(ids, endsIn(e.read)...)
	}
	return ids
}

// decides is what a person makes of a delegation.
func (w *simulation) decides(word string) string {
	return pick(w, supervisor.Approve, supervisor.Approve, supervisor.Approve+" Write other tests "+w.id("T"),
		supervisor.Deny+" "+word,
		supervisor.Deny+" "+word+" "+instead+" do it yourself")
}

// stops lets a person stop an agent with all below it, or it alone.
func (w *simulation) stops() {
	if r := w.disk.kept.Run; r == nil || r.EndedAt != nil || r.Packed != "" {
		return
	}
	n := supervisor.InboxEntry{Kind: supervisor.EntryStop, By: "a test"}
	if w.one(2) {
		n.Agent, n.Only = w.anAgent().ID, w.one(3)
	}
	w.disk.leave(n)
	w.ring()
}

// revives lets a person take up what has failed or was stopped.
func (w *simulation) revives() bool {
	s := w.disk.kept
	failed := slices.ContainsFunc(s.AllAgents(), func(a *supervisor.Agent) bool { return failed(s, a) })
	if again := failed && w.one(2); (again || w.root().Revivable()) && w.nature.takes(&w.nature.revives) {
		w.nature.refuses, w.nature.script = "", max(w.nature.script, 1)
		if again {
			w.tell("PERSON tries again what has failed")
			w.takesOver(ResumeOptions{Policy: conf.Ask, Failed: true})
			return true
		}
		return w.resume(conf.Ask, true)
	}
	return false
}

// ended counts the ends of children.
func (t *truth) ended(before, after supervisor.State) {
	for id, a := range after.Agents.All() {
		t.ending[id] = t.ending[id] || a.StopWanted != "" || a.EndedAt != nil
		old, p := before.Agents.Get(id), after.Agents.Get(a.Parent)
		if p == nil || a.EndedAt == nil || old != nil && old.EndedAt != nil && old.EndedAt.Equal(*a.EndedAt) {
			continue
		}
		if t.ends[id]++; !p.Group && !p.Status.Ended() {
			t.owed[owed{id, p.ID}]++
		}
	}
}

// readsOfChildren is what an agent reads of the ends of its children.
func (t *truth) readsOfChildren(w *simulation, in *talk, e talkEntry) {
	for _, id := range endsIn(e.read) {
		times := timesTold(in.entries, id)
		w.must("the end of a child is told once", times <= t.ends[id], "%s has ended %d times, and that was told %d times",
			id, t.ends[id], times)
	}
}

// An owed is the end of a child, which its parent is to be told: one that it has later, as the one before was stopped
// alone, is told of later ends.
type owed struct{ child, parent string }

// endsWereTold looks whether every agent knows the end of each of its children: unless it was cut short itself.
func (w *simulation) endsWereTold() {
	s := w.disk.kept
	for end, n := range w.truth.owed {
		id := end.child
		p := s.Agents.Get(s.Agents.Get(id).Parent)
		talk := w.talks[p.SessionID]
		if p.ID != end.parent || p.Fault != "" || p.StopWanted != "" || talk == nil || w.firstOf(p) > 1 {
			continue
		}
		times := timesTold(talk.entries, id) + timesTold(talk.lost, id)
		w.must("the end of a child reaches its parent", times >= n, "%s has ended %d times, and %s was told %d times",
			id, n, p.ID, times)
	}
}

// timesTold counts how often the end of a child is told.
func timesTold(entries []talkEntry, child string) int {
	times := 0
	for _, e := range entries {
		for _, told := range endsIn(e.read) {
			if told == child {
				times++
			}
		}
	}
	return times
}

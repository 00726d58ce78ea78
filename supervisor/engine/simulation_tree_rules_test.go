package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/text"
)

// treeRules are of how agents hang together.
var treeRules = []rule{
	{"nothing is done before a child that gates", nothingBeforeChildren},
	{"a child begins when what it comes after has succeeded", childrenHaveAnOrder},
	{"the end of a child is on its way to its parent", endsAreOwed},
	{"no more processes are at work than may be", slotsAreKept},
	{"a slot is free for nobody's sake only", slotsAreUsed},
	{"what stands first is launched first", queueHasAnOrder},
	{"a stop ends what it names, and nothing beside it", stopsAreAimed},
	{"children come by approval, once and within the limits", childrenAreApproved},
}

// waitsForOthers reports whether an agent waits for its children, or comes after others.
func (w *simulation) waitsForOthers(s supervisor.State, a *supervisor.Agent) bool {
	for o := range s.Agents.Values() {
		if !o.Status.Ended() && (comesBefore(s, o, a) || o.Parent == a.ID && waitedFor(o)) {
			return true
		}
	}
	return false
}

// waitedFor reports whether a child is one of those without whose end its parent is not done.
func waitedFor(c *supervisor.Agent) bool {
	return c.ContinuedBy == "" && c.Delegated.Independence != checkpoints.Optional
}

func nothingBeforeChildren(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, c := range after.Agents.All() {
		p := after.Agents.Get(c.Parent)
		if p == nil || c.Status.Ended() || !waitedFor(c) {
			continue
		}
		switch old := before.Agents.Get(p.ID); {
		case p.Status == checkpoints.Succeeded, p.Status == checkpoints.Partial, p.Status == checkpoints.Unreported &&
			(old == nil || old.Status != p.Status):
			return fmt.Sprintf("%s is %s while %s is %s", p.ID, p.Status, id, c.Status)
		}
	}
	return ""
}

func childrenHaveAnOrder(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, ls := range after.Launches.All() {
		a := after.Agents.Get(id)
		if len(before.Launches.Get(id)) > 0 || len(ls) == 0 || a.Delegated == nil {
			continue
		}
		for _, first := range a.Delegated.After {
			if p := after.Agents.Get(first); p.ContinuedBy == "" && p.Status != checkpoints.Succeeded &&
				p.Status != checkpoints.Partial {
				return fmt.Sprintf("%s is launched, and %s is %s", id, first, p.Status)
			}
		}
	}
	return ""
}

func endsAreOwed(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	if _, created := e.Event.(supervisor.Created); created || reserved(e.Event) {
		return ""
	}
	for id, c := range after.Agents.All() {
		p := after.Agents.Get(c.Parent)
		if p != nil && p.Status.Ended() && !c.Status.Ended() && c.StopWanted == "" {
			return id + " continues, and nobody is there to hear of its end"
		}
		if p != nil && c.Status.Ended() && !p.Status.Ended() && !p.Group && !c.Delegated.Told &&
			!toldByClients(c.Delegated.Nested) {
			return id + " has ended, and nobody tells " + p.ID
		}
	}
	return ""
}

// atWorkNow counts the processes that do not only wait, and the folders that are made ready for one.
func atWorkNow(s supervisor.State) int {
	n := 0
	for id, a := range s.Agents.All() {
		l := s.Live(id)
		waits := l != nil && l.End == "" && (a.Status == checkpoints.Waiting ||
			a.Status == checkpoints.Blocked && len(l.Background)+len(l.WakeUps) == 0 && l.Phase != checkpoints.LaunchTurnDue)
		nested := slices.ContainsFunc(s.Children(id),
			func(c *supervisor.Agent) bool { return !c.Status.Ended() && toldByClients(c.Delegated.Nested) })
		checks := l != nil && slices.ContainsFunc(l.Replies, func(r checkpoints.Reply) bool { return r.Await != nil })
		if l != nil && !waits && !nested && !checks || a.Placing {
			n++
		}
	}
	return n
}

// launchedIn returns the agents whose next process, or the folder for it, a step has begun.
func launchedIn(before, after supervisor.State) []*supervisor.Agent {
	var as []*supervisor.Agent
	for id, a := range after.Agents.All() {
		placing := before.Agents.Get(id) != nil && before.Agents.Get(id).Placing
		if len(after.Launches.Get(id)) > len(before.Launches.Get(id)) && !placing || a.Placing && !placing {
			as = append(as, a)
		}
	}
	return as
}

// most is how many processes may be at work; 0: any number.
func most(s supervisor.State) int {
	n := max(s.Config.MaxParallel, 0)
	if p := s.Run.Pressure; p != nil && (n == 0 || p.Parallel < n) {
		return p.Parallel
	}
	return n
}

// waitsForShare reports whether all that is left of a cost budget is set aside for processes that live.
func waitsForShare(s supervisor.State, a *supervisor.Agent) bool {
	for scope := a; scope != nil; scope = s.Agents.Get(scope.Parent) {
		if scope.Budget == nil || scope.Budget.CostUSD == 0 {
			continue
		}
		left, aside := scope.Budget.CostUSD, 0.0
		for _, o := range withinScope(s, scope) {
			left -= o.CostUSD
			if l := s.Live(o.ID); l != nil {
				aside += max(l.ShareUSD-l.CostUSD, 0)
			}
		}
		if aside > 0 && left-aside < smallestShare(scope.Budget.CostUSD)+1e-9 {
			return true
		}
	}
	return false
}

func slotsAreKept(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	most := most(after)
	if n := atWorkNow(after); most > 0 && n > most && len(launchedIn(before, after)) > 0 {
		return fmt.Sprintf("%d, and %d may be", n, most)
	}
	return ""
}

func slotsAreUsed(_ *simulation, _, after supervisor.State, e supervisor.Happened) string {
	if _, created := e.Event.(supervisor.Created); created || reserved(e.Event) {
		return ""
	}
	if most := most(after); most > 0 && atWorkNow(after) >= most {
		return ""
	}
	for id, a := range after.Agents.All() {
		if a.QueuedAt != nil && !a.Placing && !a.Status.Ended() && !waitsForShare(after, a) {
			return fmt.Sprintf("%s is %s (%s)", id, a.Status, a.Reason)
		}
	}
	return ""
}

// A place is where an agent stands among those that wait for a slot.
type place struct {
	class int
	since time.Time
	seq   int
}

func placeOf(a *supervisor.Agent, queued, at time.Time) place {
	class := map[string]int{"P0": 0, "P1": 1, "P2": 2}[a.Priority]
	return place{class - int(max(at.Sub(queued), 0)/(10*time.Minute)), queued, a.Seq}
}

func (p place) compare(o place) int {
	return cmp.Or(p.class-o.class, p.since.Compare(o.since), p.seq-o.seq)
}

func queueHasAnOrder(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	for _, a := range launchedIn(before, after) {
		since := e.At
		if old := before.Agents.Get(a.ID); old != nil && old.QueuedAt != nil {
			since = *old.QueuedAt
		}
		for other := range after.Agents.Values() {
			if other.QueuedAt == nil || other.Placing || other.Status.Ended() || waitsForShare(after, other) {
				continue
			}
			if placeOf(other, *other.QueuedAt, e.At).compare(placeOf(a, since, e.At)) < 0 {
				return fmt.Sprintf("%s (%s, since %v) is launched over %s (%s, since %v)", a.ID, a.Priority,
					since, other.ID, other.Priority, *other.QueuedAt)
			}
		}
	}
	return ""
}

func stopsAreAimed(_ *simulation, before, after supervisor.State, e supervisor.Happened) string {
	var notes []supervisor.InboxEntry
	switch b := e.Event.(type) {
	case supervisor.InboxRead:
		notes = b.Notes
	case supervisor.Opened:
		notes = b.Notes
	}
	for id, q := range after.Questions.All() {
		old := before.Questions.Get(id)
		if q.Kind == questions.AskBudget && q.Answer == stopIt && q.State == checkpoints.QuestionDelivered &&
			(old == nil || old.State != q.State) {
			notes = append(notes, supervisor.InboxEntry{Kind: supervisor.EntryStop, Agent: q.Agent})
		}
	}
	named := func(a *supervisor.Agent) bool {
		for _, n := range notes {
			id := cmp.Or(n.Agent, after.Run.Root)
			if n.Kind == supervisor.EntryStop && (a.ID == id || !n.Only && after.Below(a, id)) {
				return true
			}
		}
		return false
	}
	for id, a := range after.Agents.All() {
		old := before.Agents.Get(id)
		if old == nil || old.Status.Ended() {
			continue
		}
		if named(a) && a.StopWanted == "" && !a.Status.Ended() {
			return id + " is not stopped"
		}
		if old.StopWanted != "" || a.StopWanted == "" || named(a) {
			continue
		}
		p := after.Agents.Get(a.Parent)
		orphaned := p != nil && p.Status.Ended() && a.StopWanted == "the end of "+p.ID
		if !orphaned && !deniedAfterAll(before, after, a) {
			return fmt.Sprintf("%s is stopped by %s", id, a.StopWanted)
		}
	}
	return ""
}

// deniedAfterAll reports whether the answer that has brought an agent about says so no more, and was not on its way
// before: its new one may be by now.
func deniedAfterAll(before, after supervisor.State, a *supervisor.Agent) bool {
	for q := range after.Questions.Values() {
		old := before.Questions.Get(q.ID)
		if q.Child == a.ID && (old == nil || !old.Delivering) && !strings.HasPrefix(q.Answer, supervisor.Approve) &&
			q.Answer != questions.DelegateIt {
			return true
		}
	}
	return false
}

func childrenAreApproved(w *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, a := range after.Agents.All() {
		if before.Run == nil || before.Agents.Get(id) != nil {
			continue
		}
		q := after.Questions.Get(a.Delegated.Question)
		switch {
		case q == nil && a.Delegated.Nested == nil:
			return id + " has come from nowhere"
		case q == nil:
			c := after.Config
			if p := before.Agents.Get(a.Parent); c.MaxDepth > 0 && p.Depth >= c.MaxDepth || c.MaxAgents > 0 &&
				before.Agents.Len() >= c.MaxAgents ||
				c.Delegate.At(a.Depth) != conf.AutoDelegations {
				return fmt.Sprintf("%s, the %dth agent, at depth %d, by a nested run", id, after.Agents.Len(), a.Depth)
			}
		case q.Child != id:
			return id + " is not the child of question " + q.ID
		case q.Kind == questions.AskBlocker:
			continue // a person has decided it
		case !strings.HasPrefix(q.Answer, supervisor.Approve) || q.Skipped:
			return fmt.Sprintf("%s was answered %q", q.ID, q.Answer)
		case !strings.HasPrefix(q.AnsweredBy, "--delegate"):
			continue
		}
		c := after.Config
		if p := before.Agents.Get(a.Parent); c.MaxDepth > 0 && p.Depth >= c.MaxDepth || c.MaxAgents > 0 &&
			before.Agents.Len() >= c.MaxAgents ||
			c.Delegate.At(a.Depth) != conf.AutoDelegations {
			return fmt.Sprintf("%s, the %dth agent, at depth %d", id, after.Agents.Len(), a.Depth)
		}
		for twin := range after.Agents.Values() {
			if twin.ID != id && twin.Parent == a.Parent && !twin.Status.Ended() &&
				twin.Delegated.Fingerprint == a.Delegated.Fingerprint {
				return id + " does what " + twin.ID + " does"
			}
		}
	}
	return ""
}

// isSettled settles a step once more: nothing is left over that another event would bring to light.
func (w *simulation) isSettled(after supervisor.State, e supervisor.Happened) {
	if _, created := e.Event.(supervisor.Created); created || reserved(e.Event) {
		return
	}
	was, is := withoutReasons(after), withoutReasons(supervisor.Reconciled(after, e.At))
	if !reflect.DeepEqual(was, is) {
		w.must("a step settles all that follows from it", false, "%T; %s", e.Event, differs(was, is))
	}
}

// withoutReasons leaves out what is only for people: it may say the same in other words.
func withoutReasons(s supervisor.State) supervisor.State {
	agents, run := s.Agents, *s.Run
	for id, a := range s.Agents.All() {
		mute := *a
		mute.Reason = ""
		agents.Put(id, &mute)
	}
	run.Reason = ""
	return withRecords(s, &run, agents, s.Launches)
}

// withRecords returns a state with others of its records, and nothing that was concluded from those before.
func withRecords(s supervisor.State, run *supervisor.Run, agents table.Table[*supervisor.Agent],
	launches table.Table[[]*supervisor.Launch]) supervisor.State {
	return supervisor.State{Records: records.Records{Run: run, Agents: agents, Launches: launches,
		Questions: s.Questions, Deliveries: s.Deliveries, Taken: s.Taken}, Config: s.Config}
}

// differs names the records in which two states differ.
func differs(a, b supervisor.State) string {
	var what []string
	for id, x := range b.Agents.All() {
		if y := a.Agents.Get(id); y == nil || !bytes.Equal(text.JSON(x), text.JSON(y)) {
			what = append(what, fmt.Sprintf("%s becomes %s (%s)", id, x.Status, x.Reason))
		}
	}
	for id, ls := range b.Launches.All() {
		if !bytes.Equal(text.JSON(ls), text.JSON(a.Launches.Get(id))) {
			what = append(what, "launches of "+id)
		}
	}
	if !bytes.Equal(text.JSON(a.Run), text.JSON(b.Run)) {
		what = append(what, "the run")
	}
	return strings.Join(what, "; ")
}

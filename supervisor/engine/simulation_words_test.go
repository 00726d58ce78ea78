package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
)

// What the rules need of the core, in the simulation's own words: a rule does not go by the code that it holds to it.

const (
	giveUp  = "give up"
	leaveIt = "do not run it"
	instead = "instead:"
	stopIt  = "stop"
	endPark = "park"
)

var priorities = []string{"P0", "P1", "P2"}

func reserved(b supervisor.Event) bool {
	switch b.(type) {
	case supervisor.Packed, supervisor.Unpacked:
		return true
	}
	return false
}

func toldByClients(n *checkpoints.Nested) bool { return n != nil && n.Clients > 0 }

func smallestShare(budget float64) float64 { return min(0.05, budget/10) }

func undelivered(d *supervisor.Delivery) bool {
	return d.State != checkpoints.DeliveryDelivered && d.State != checkpoints.DeliveryDropped
}

// failed reports whether an agent is one that is tried again.
func failed(s supervisor.State, a *supervisor.Agent) bool {
	for up := a; up != nil; up = s.Agents.Get(up.Parent) {
		if up.Delegated != nil && !waitedFor(up) {
			return false
		}
	}
	return !a.Group && (a.Status == checkpoints.Failed || a.Status == checkpoints.Unreported)
}

// seen is what a person is shown of a call.
func seen(tool string, input json.RawMessage) ask.CallView {
	var in struct{ Command string }
	_ = json.Unmarshal(input, &in)
	rule, _ := rules.Exactly(tool, in.Command)
	return ask.CallView{Headline: calls.Of(tool).Headline(input), Preview: "command: " + in.Command, Rule: rule}
}

// granted says what a run that came out of a pack file may do without a person; "" if nothing.
func granted(s supervisor.State) string {
	c := s.Config
	if len(c.Allow) > 0 || c.AllowProject || len(s.Rules()) > 0 ||
		len(c.Answers) > 0 || c.Delegate.At(1) == conf.AutoDelegations ||
		strings.Join(c.Exec, "") != "" || len(c.Notify) > 0 {
		return fmt.Sprintf("%+v %v", c, s.Rules())
	}
	return ""
}

// resets is when a usage limit ends, if that is known; it may be wrong.
func (w *simulation) resets() time.Time {
	if w.one(3) {
		return time.Time{}
	}
	return w.now().Add(pick(w, -time.Minute, time.Second, time.Hour))
}

// refusedAreAsked looks whether a person was asked about each refused call that a conversation has.
func (w *simulation) refusedAreAsked(s supervisor.State) {
	if w.nature.policy == conf.Fail { // nobody was, before a person resumed it otherwise
		return
	}
	for id, a := range s.Agents.All() {
		t := w.talks[a.SessionID]
		if t == nil || a.Status.Ended() || w.truth.ending[id] { // nobody is asked of one that is about to end
			continue
		}
		for _, e := range t.entries[t.forked:max(t.forked, t.written)] {
			if e.refused != nil {
				why, asks := s.RefusedUnasked(id, *e.refused)
				w.must("a person is asked about a call that was refused", !asks || why != "", "%s of %s", e.refused.ToolUse, id)
			}
		}
	}
}

// plansAreApproved looks whether a person has approved each plan that is.
func plansAreApproved(w *simulation, _, after supervisor.State, _ supervisor.Happened) string {
	if !w.planning() {
		return ""
	}
	for id, q := range after.Questions.All() {
		if questions.KindOf(q.Kind).Plans && questions.Allowed(q) && w.truth.given[id].Value != questions.Approve {
			return fmt.Sprintf("%s is approved by %q", id, q.AnsweredBy)
		}
	}
	return ""
}

// goesByIt is what a record says of an answer that its agent has no need to read.
const goesByIt = "goes by it already"

func assumedIsReported(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	for id, q := range after.Questions.All() {
		old := before.Questions.Get(id)
		new := strings.Contains(q.Remark, goesByIt) && (old == nil || !strings.Contains(old.Remark, goesByIt))
		if r := after.Agents.Get(q.Agent).Report; new && (!questions.KindOf(q.Kind).Refused && q.Assumed == nil || r == nil || r.Status != "success") {
			return fmt.Sprintf("%s: %q, reported %+v", id, q.Remark, r)
		}
	}
	return ""
}

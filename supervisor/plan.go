package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
)

// An Effect is one thing that ought to be under way. Key is stable: the same wish in two plans is one effect.
type Effect struct {
	Do       Deed
	Key      string
	Agent    string
	Launch   int
	Delivery string    // uuid
	Question string    // id
	Request  string    // of a gate
	Until    time.Time // of a wait
}

// A Deed is a kind of effect.
type Deed string

// The deeds. Those that end a process run to their end once begun; waits are cancelled when they are planned no more.
const (
	DoLaunch  Deed = "launch"  // start the process of a launch
	DoEnd     Deed = "end"     // end it, in the way its record says
	DoRecover Deed = "recover" // end what is left of a launch of an earlier supervisor
	DoDeliver Deed = "deliver" // write a delivery to the process
	DoConfirm Deed = "confirm" // look in the transcript whether a delivery had reached an ended launch
	DoGate    Deed = "gate"    // reply to the Stop hook
	DoSurvey  Deed = "survey"  // write the checkpoint of an ended launch
	DoCheck   Deed = "check"   // look for the deliverables of a report
	DoNotify  Deed = "notify"  // give a question's one notice
	DoHold    Deed = "hold"    // wait until a process was held long enough
	DoRetry   Deed = "retry"   // wait until an agent may be launched again
	DoLeave   Deed = "leave"   // nothing is left to do for this supervisor
)

// wait tells whether the deed only waits for a time.
func (d Deed) wait() bool { return d == DoHold || d == DoRetry }

// Plan gives what ought to be under way in a state. It is pure; the engine starts what is not yet in flight, and
// cancels waits that are planned no more. After a crash the same plan over the same records goes on.
func Plan(s State) []Effect {
	if s.Run == nil || s.Run.Left != "" {
		return nil
	}
	var plan []Effect
	for _, a := range s.agents() {
		plan = append(plan, s.planAgent(a)...)
	}
	if unseen := s.questions(func(q *Question) bool {
		return q.State == checkpoints.QuestionOpen && q.Noticed != s.Run.Epoch
	}); len(unseen) > 0 { // one at a time, so that they are told in their order
		q := unseen[0]
		plan = append(plan, Effect{Do: DoNotify, Key: "notify " + q.ID, Agent: q.Agent, Question: q.ID})
	}
	if s.Run.Leaving == "" {
		return plan
	}
	for _, e := range plan {
		if !e.Do.wait() {
			return plan
		}
	}
	return []Effect{{Do: DoLeave, Key: "leave"}}
}

func (s State) planAgent(a *Agent) []Effect {
	if a.Status.Ended() {
		return nil
	}
	l := s.launch(a.ID)
	if l == nil {
		return nil
	}
	on := func(do Deed) Effect {
		return Effect{Do: do, Key: fmt.Sprintf("%s %s %d", do, a.ID, l.N), Agent: a.ID, Launch: l.N}
	}
	var plan []Effect
	if l.State == checkpoints.LaunchEnded {
		for _, v := range s.deliveries(a.ID, waitsForReceipt) {
			e := on(DoConfirm)
			e.Key, e.Delivery = "confirm "+v.UUID, v.UUID
			plan = append(plan, e)
		}
		if !l.Surveyed && l.End != endFinish {
			plan = append(plan, on(DoSurvey))
		}
		if a.NotBefore != nil {
			e := on(DoRetry)
			e.Until = *a.NotBefore
			plan = append(plan, e)
		}
	} else {
		plan = s.planLive(l, on)
	}
	if len(plan) == 0 && s.checkDue(a, l) {
		plan = append(plan, on(DoCheck))
	}
	return plan
}

// checkDue tells whether the agent seems done, so that its report can be held against the disk.
func (s State) checkDue(a *Agent, l *Launch) bool {
	if a.Report == nil || a.Report.Checked || l.Turn || l.End != "" && l.State != checkpoints.LaunchEnded {
		return false
	}
	return len(s.deliveries(a.ID, undelivered)) == 0 && len(s.open(a.ID)) == 0 && len(a.Sayings) == 0 && len(alive(l)) == 0
}

func (s State) planLive(l *Launch, on func(Deed) Effect) []Effect {
	switch {
	case l.End == endRecover:
		return []Effect{on(DoRecover)}
	case l.State == checkpoints.LaunchIntended:
		return []Effect{on(DoLaunch)}
	}
	var plan []Effect
	if l.Gate != nil {
		e := on(DoGate)
		e.Key, e.Request = "gate "+l.Gate.Request, l.Gate.Request
		plan = append(plan, e)
	}
	if l.End != "" {
		return append(plan, on(DoEnd))
	}
	for _, v := range s.deliveries(l.Agent, func(v *Delivery) bool {
		return v.State == checkpoints.DeliveryPending && v.Launch == l.N
	}) {
		e := on(DoDeliver)
		e.Key, e.Delivery = "deliver "+v.UUID, v.UUID
		plan = append(plan, e)
	}
	if a := s.Agents[l.Agent]; a.HoldUntil != nil {
		e := on(DoHold)
		e.Until = *a.HoldUntil
		plan = append(plan, e)
	}
	return plan
}

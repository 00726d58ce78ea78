package supervisor

import (
	"cmp"
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/pace"
	"claude-supervise/supervisor/text"
)

// This file says which agents may have a process at work: --max-parallel of them. What waits for a slot goes by
// priority, first come first served within one; and lest something waits for ever, it rises one class for each age that
// it has waited.

// slots holds an agent back until it may have a process at work: it is put among those that wait for one.
var slots = concern{name: "slots", queues: true, idle: (*transition).wants}

func (d *transition) wants(of subject) bool {
	a, at := of.Agent, d.at
	if a.QueuedAt == nil {
		a.QueuedAt = &at
	}
	why := "waits for a slot"
	if slices.ContainsFunc(a.Outbox, func(o checkpoints.OutboxItem) bool { return o.Group != "" }) {
		why = startedAgain + " once a slot is free"
	}
	d.setStatus(a, checkpoints.Queued, why+": "+text.Plural(d.parallel(), "process", "processes")+" may be at work")
	return true
}

// startedAgain is what becomes of an agent without a process once it is answered.
const startedAgain = "is started again with your answer"

// dispatch launches what waits for a slot, as far as there are some.
func (d *transition) dispatch() {
	queue := slices.DeleteFunc(d.Queued(), func(a *Agent) bool { return !a.Queues() })
	if len(queue) == 0 {
		return // the slots are counted by a look at each agent
	}
	free := d.free()
	if free == 0 {
		return
	}
	slices.SortFunc(queue, func(a, b *Agent) int {
		return cmp.Or(pace.Class(a, d.at)-pace.Class(b, d.at), a.QueuedAt.Compare(*b.QueuedAt), a.Seq-b.Seq)
	})
	for i, a := range queue {
		if free == 0 {
			return
		}
		share, lender, ok := d.share(a, queue[i+1:], free)
		if !ok {
			d.lend(a, lender)
			free = d.free() // a process that only waited may be on its way out now
			continue
		}
		free--
		a = d.agent(a.ID)
		d.launchAgain(a)
		d.bind(a, share)
	}
}

// free is how many more processes may be at work; negative: any number.
func (s State) free() int {
	most := s.parallel()
	if most == 0 {
		return -1
	}
	return max(most-s.working(), 0)
}

// working is how many processes are at work, or about to be.
func (s State) working() int {
	n := 0
	for _, a := range s.Active() {
		if l := s.Live(a.ID); a.Placing || l != nil && !a.Idles(l) && !s.Awaited(a.ID) {
			n++
		}
	}
	return n
}

// launchAgain makes the agent's next launch and what is said to it first.
func (d *transition) launchAgain(a *Agent) {
	if d.places(a) {
		return
	}
	before := d.Launch(a.ID)
	resumes := d.Abilities().Resumes
	anew := d.Config.Relaunch == conf.Fresh || !resumes
	fresh := before == nil || a.Fresh || anew && before.Begun || !resumes
	if before != nil && anew && !a.Fresh {
		d.abandon(a)
		d.sayAnswers(a.ID) // the answers among it are said in the new one
		a.SessionID = sessionOf(a)
	}
	a.Launches++
	a.Fresh, a.QueuedAt = false, nil
	l := &Launch{Agent: a.ID, N: a.Launches, Epoch: d.Run.Epoch, Phase: checkpoints.LaunchIntended, Resume: !fresh}
	d.addLaunch(l)
	a.HoldUntil = nil
	again := d.FindDeliveries(a.ID, func(v *Delivery) bool { return v.Unsent() && v.Prompt() })
	for _, v := range again {
		d.delivery(v.UUID).Launch = l.N
	}
	if len(again) == 0 {
		d.flush(a, l)
	}
	a.GoOn = false
	d.setStatus(a, checkpoints.Starting, fmt.Sprintf("launch %d", l.N))
}

// parallel is how many processes may be at work; 0: any number.
func (s State) parallel() int {
	most := s.Config.MaxParallel
	if p := s.Run.Pressure; p != nil && (most <= 0 || p.Parallel < most) {
		return p.Parallel
	}
	return max(most, 0)
}

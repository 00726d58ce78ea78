package supervisor

import (
	"cmp"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// This file says which agents may have a process at work: --max-parallel of them. What waits for a slot goes by
// priority, first come first served within one; and lest something waits for ever, it rises one class for each age that
// it has waited.

// age is how long an agent waits for a slot until it rises one priority.
const age = 10 * time.Minute

// wants puts an agent among those that wait for a slot.
func (d *transition) wants(a *Agent) {
	at := d.at
	if a.QueuedAt == nil {
		a.QueuedAt = &at
	}
	d.setStatus(a, checkpoints.Queued,
		"waits for a slot: "+text.Plural(d.parallel(), "process", "processes")+" may be at work")
}

// dispatch launches what waits for a slot, as far as there are some.
func (d *transition) dispatch() {
	var queue []*Agent
	for id := range d.index.queued {
		if a := d.Agents[id]; queues(a) {
			queue = append(queue, a)
		}
	}
	if len(queue) == 0 {
		return // the slots are counted by a look at each agent
	}
	free := d.slots()
	if free == 0 {
		return
	}
	slices.SortFunc(queue, func(a, b *Agent) int {
		return cmp.Or(class(a, d.at)-class(b, d.at), a.QueuedAt.Compare(*b.QueuedAt), a.Seq-b.Seq)
	})
	for i, a := range queue {
		if free == 0 {
			return
		}
		share, lender, ok := d.share(a, queue[i+1:], free)
		if !ok {
			d.lend(a, lender)
			free = d.slots() // a process that only waited may be on its way out now
			continue
		}
		free--
		a = d.agent(a.ID)
		d.launchAgain(a)
		d.bind(a, share)
	}
}

// class is the priority of an agent that waits, as it has risen. The root's is the first.
func class(a *Agent, at time.Time) int {
	return max(rank(a.Priority), 0) - int(max(at.Sub(*a.QueuedAt), 0)/age)
}

// slots is how many more processes may be at work; negative: any number.
func (s State) slots() int {
	most := s.parallel()
	if most == 0 {
		return -1
	}
	return max(most-s.working(), 0)
}

// working is how many processes are at work, or about to be.
func (s State) working() int {
	n := 0
	for id := range s.indexed().active {
		a := s.Agents[id]
		if l := s.Live(id); a.Placing || l != nil && !idle(a, l) && !s.awaited(id) {
			n++
		}
	}
	return n
}

// idle reports whether a process that lives does nothing but wait: for a person, or for the agent's children.
func idle(a *Agent, l *Launch) bool {
	return l.End == "" && (a.Status == checkpoints.Waiting || a.Status == checkpoints.Blocked && len(Alive(l)) == 0 &&
		l.Phase != checkpoints.LaunchTurnDue)
}

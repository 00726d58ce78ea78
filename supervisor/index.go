package supervisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/table"
)

// An index says what of a state belongs to which agent, and what of it there is still something to do about, so that
// what concerns one agent costs about the same in a run of one and of a thousand. It is made of the records alone. Each
// table holds ids; a step changes a copy of its own, which costs nothing.
type index struct {
	order      table.Table[string] // agents, by their place: the root first, each after its parent, as they came
	children   table.Table[string] // agents, by parent and place
	questions  table.Table[string] // by agent and id
	deliveries table.Table[string] // uuids, by agent and Seq
	active     table.Table[string] // agents that have a process, or are given a folder for one
	queued     table.Table[string] // agents that wait for a slot
	clients    table.Table[string] // agents whose end a client tells, inside of their parents
	pending    table.Table[string] // questions after which something is still to be done
	seq        int                 // of the newest delivery
	scopes     int                 // how many agents have a budget
}

// within stands in a key of the index between an agent and what is the agent's. No id has it.
const within = "\x00"

// placeOf is the key of an agent in the order in which they came.
func placeOf(a *Agent) string { return fmt.Sprintf("%012d", a.Seq) + within + a.ID }

// byPlace orders agents as they came.
func byPlace(a, b *Agent) int { return cmp.Or(a.Seq-b.Seq, strings.Compare(a.ID, b.ID)) }

// delivered is the key of a delivery.
func delivered(v *Delivery) string {
	return v.Agent + within + fmt.Sprintf("%012d", v.Seq) + within + v.UUID
}

// indexed returns the index of a state, and makes it where there is none.
func (s State) indexed() *index {
	if s.index != nil {
		return s.index
	}
	x := &index{}
	for a := range s.Agents.Values() {
		x.addAgent(a)
		s.mark(x, a)
	}
	for q := range s.Questions.Values() {
		x.questions.Put(q.Agent+within+q.ID, q.ID)
		put(&x.pending, q.ID, pending(q))
	}
	for v := range s.Deliveries.Values() {
		x.deliveries.Put(delivered(v), v.UUID)
		x.seq = max(x.seq, v.Seq)
	}
	return x
}

func (x *index) addAgent(a *Agent) {
	x.order.Put(placeOf(a), a.ID)
	if a.Parent != "" {
		x.children.Put(a.Parent+within+placeOf(a), a.ID)
	}
	if a.Budget != nil {
		x.scopes++
	}
}

// move puts an agent under another parent than the one in its record.
func (x *index) move(a *Agent, parent string) {
	x.children.Delete(a.Parent + within + placeOf(a))
	x.children.Put(parent+within+placeOf(a), a.ID)
}

// mark takes note of whether an agent has a process, waits for one, or has clients.
func (s State) mark(x *index, a *Agent) {
	put(&x.active, a.ID, a.Placing || s.Live(a.ID) != nil)
	put(&x.queued, a.ID, queues(a))
	put(&x.clients, a.ID, hasClients(a))
}

// put puts an id into a set of the index, or takes it out.
func put(set *table.Table[string], id string, in bool) {
	if had := set.Get(id) != ""; in && !had {
		set.Put(id, id)
	} else if had && !in {
		set.Delete(id)
	}
}

func queues(a *Agent) bool { return a.QueuedAt != nil && !a.Placing && !a.Status.Ended() }

// pending reports whether something is still to be done about a question: by a person, or with the answer.
func pending(q *Question) bool {
	return q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered || q.Ran != nil && !q.Ran.Done
}

// reindex takes note of what a step has made of the agents that it has touched, and of questions.
func (d *transition) reindex() {
	for id := range d.touched {
		d.mark(d.index, d.Agents.Get(id))
	}
	for id, q := range d.Questions.Since(d.before.Questions, same) {
		put(&d.index.pending, id, pending(q))
	}
}

// indexAnew makes the index of a state from which something was taken.
func (d *transition) indexAnew() {
	d.index, d.accounts = nil, nil
	d.index = d.indexed()
}

// FindPending returns the questions that f accepts of those after which something is still to be done, oldest first.
func (s State) FindPending(f func(*Question) bool) []*Question {
	var qs []*Question
	for id := range s.indexed().pending.All() {
		if q := s.Questions.Get(id); f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

// same reports whether a record was left as it was.
func same[R any](a, b *R) bool { return a == b }

// hasClients is toldByClients of the end of an agent.
func hasClients(a *Agent) bool { return a.Delegated != nil && toldByClients(a.Delegated.Nested) }

// toldByClients reports whether clients wait for something and tell it where they were started.
func toldByClients(n *checkpoints.Nested) bool { return n != nil && n.Clients > 0 }

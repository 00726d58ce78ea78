package records

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

// PlaceOf is the key of an agent in the order in which they came.
func PlaceOf(a *checkpoints.Agent) string { return fmt.Sprintf("%012d", a.Seq) + within + a.ID }

// byPlace orders agents as they came.
func byPlace(a, b *checkpoints.Agent) int { return cmp.Or(a.Seq-b.Seq, strings.Compare(a.ID, b.ID)) }

// delivered is the key of a delivery.
func delivered(v *checkpoints.Delivery) string {
	return v.Agent + within + fmt.Sprintf("%012d", v.Seq) + within + v.UUID
}

// indexed returns the index of a state, and makes it where there is none.
func (s Records) indexed() *index {
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

func (x *index) addAgent(a *checkpoints.Agent) {
	x.order.Put(PlaceOf(a), a.ID)
	if a.Parent != "" {
		x.children.Put(a.Parent+within+PlaceOf(a), a.ID)
	}
	if a.Budget != nil {
		x.scopes++
	}
}

// mark takes note of whether an agent has a process, waits for one, or has clients.
func (s Records) mark(x *index, a *checkpoints.Agent) {
	put(&x.active, a.ID, a.Placing || s.Live(a.ID) != nil)
	put(&x.queued, a.ID, a.Queues())
	put(&x.clients, a.ID, a.HasClients())
}

// put puts an id into a set of the index, or takes it out.
func put(set *table.Table[string], id string, in bool) {
	if had := set.Get(id) != ""; in && !had {
		set.Put(id, id)
	} else if had && !in {
		set.Delete(id)
	}
}

// pending reports whether something is still to be done about a question: by a person, or with the answer.
func pending(q *checkpoints.Question) bool {
	return q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered || q.Ran != nil && !q.Ran.Done
}

// FindPending returns the questions that f accepts of those after which something is still to be done, oldest first.
func (s Records) FindPending(f func(*checkpoints.Question) bool) []*checkpoints.Question {
	var qs []*checkpoints.Question
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

// Draft returns records to change: with an index of their own.
func (s Records) Draft() Records {
	x := *s.indexed()
	s.index = &x
	return s
}

// Indexed returns the records with their index, for who asks them much.
func (s Records) Indexed() Records {
	s.index = s.indexed()
	return s
}

// AddAgent adds an agent, after all others.
func (s *Records) AddAgent(a *checkpoints.Agent) {
	if _, last := s.index.order.Last(); last != "" { // an import may have taken out agents between others
		a.Seq = s.Agents.Get(last).Seq + 1
	}
	s.Agents.Put(a.ID, a)
	s.index.addAgent(a)
}

// AddLaunch adds an agent's next launch.
func (s *Records) AddLaunch(l *checkpoints.Launch) {
	s.Launches.Put(l.Agent, append(slices.Clip(s.Launches.Get(l.Agent)), l))
}

// AddQuestion adds a question.
func (s *Records) AddQuestion(q *checkpoints.Question) {
	s.Questions.Put(q.ID, q)
	s.index.questions.Put(q.Agent+within+q.ID, q.ID)
}

// AddDelivery adds what is to be said. One that is made again takes the place of the one that was dropped.
func (s *Records) AddDelivery(v *checkpoints.Delivery) {
	if before := s.Deliveries.Get(v.UUID); before != nil {
		s.index.deliveries.Delete(delivered(before))
	}
	s.index.seq++
	v.Seq = s.index.seq
	s.index.deliveries.Put(delivered(v), v.UUID)
	s.Deliveries.Put(v.UUID, v)
}

// Move puts an agent, which is to be changed, under another parent.
func (s *Records) Move(a *checkpoints.Agent, parent string) {
	s.index.children.Delete(a.Parent + within + PlaceOf(a))
	s.index.children.Put(parent+within+PlaceOf(a), a.ID)
	a.Parent = parent
}

// Note takes note of what was made of agents, and of the questions that differ from earlier records.
func (s *Records) Note(earlier Records, agents map[string]bool) {
	for id := range agents {
		s.mark(s.index, s.Agents.Get(id))
	}
	for id, q := range s.Questions.Since(earlier.Questions, same) {
		put(&s.index.pending, id, pending(q))
	}
}

// Reindex makes the index anew: something was taken from the records.
func (s *Records) Reindex() {
	s.index = nil
	s.index = s.indexed()
}

// Active returns the agents that have a process, or are given a folder for one.
func (s Records) Active() []*checkpoints.Agent { return s.agentsOf(s.indexed().active, "") }

// AnyActive reports whether there is one.
func (s Records) AnyActive() bool { return s.indexed().active.Len() > 0 }

// Queued returns the agents that wait for a slot.
func (s Records) Queued() []*checkpoints.Agent { return s.agentsOf(s.indexed().queued, "") }

// AnyPending reports whether an agent waits for a slot, or something is still to be done about a question.
func (s Records) AnyPending() bool { return s.indexed().queued.Len()+s.indexed().pending.Len() > 0 }

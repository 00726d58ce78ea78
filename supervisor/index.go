package supervisor

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
)

// An index says what of a state belongs to which agent, so that what concerns one agent costs the same in a run of one
// and of a thousand. It is made of the records alone, and like them never changed once a step has made it.
type index struct {
	order      []string            // agents, the root first, each after its parent, in the order in which they came
	place      map[string]int      // of each in order
	children   map[string][]string // by parent, in the order in which they came
	questions  map[string][]string // ids, by agent
	deliveries map[string][]string // uuids, by agent
	seq        int                 // of the newest delivery
	active     map[string]bool     // agents that have a process, or are given a folder for one
	queued     map[string]bool     // agents that wait for a slot
	pending    map[string]bool     // questions after which something is still to be done
	clients    map[string]bool     // agents whose end a client tells, inside of their parents
	scopes     int                 // how many agents have a budget
}

// indexed returns the index of a state, and makes it where there is none.
func (s State) indexed() *index {
	if s.index != nil {
		return s.index
	}
	x := &index{
		children: map[string][]string{}, questions: map[string][]string{}, deliveries: map[string][]string{},
		active: map[string]bool{}, queued: map[string]bool{}, pending: map[string]bool{}, place: map[string]int{},
		clients: map[string]bool{},
	}
	as := slices.Collect(maps.Values(s.Agents))
	slices.SortFunc(as, func(a, b *Agent) int { return cmp.Or(a.Seq-b.Seq, strings.Compare(a.ID, b.ID)) })
	for _, a := range as {
		x.addAgent(a)
		if s.active(a) {
			x.active[a.ID] = true
		}
		if queues(a) {
			x.queued[a.ID] = true
		}
		if hasClients(a) {
			x.clients[a.ID] = true
		}
	}
	for _, q := range s.Questions {
		if pending(q) {
			x.pending[q.ID] = true
		}
		x.questions[q.Agent] = append(x.questions[q.Agent], q.ID)
	}
	for _, v := range s.Deliveries {
		x.deliveries[v.Agent] = append(x.deliveries[v.Agent], v.UUID)
		x.seq = max(x.seq, v.Seq)
	}
	return x
}

func (x *index) addAgent(a *Agent) {
	x.place[a.ID] = len(x.order)
	x.order = append(x.order, a.ID)
	if a.Parent != "" {
		x.children[a.Parent] = append(x.children[a.Parent], a.ID)
	}
	if a.Budget != nil {
		x.scopes++
	}
}

func (s State) active(a *Agent) bool { return a.Placing || s.Live(a.ID) != nil }

func queues(a *Agent) bool { return a.QueuedAt != nil && !a.Placing && !a.Status.Ended() }

// pending reports whether something is still to be done about a question: by a person, or with the answer.
func pending(q *Question) bool {
	return q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered || q.Ran != nil && !q.Ran.Done
}

// reindex takes note of which of the agents that a step has touched have a process, wait for one, or have clients, and
// of which of the questions something is still to be done.
func (d *transition) reindex() {
	for id := range d.touched {
		a := d.Agents[id]
		d.mark(id, d.active(a), func(x *index) map[string]bool { return x.active })
		d.mark(id, queues(a), func(x *index) map[string]bool { return x.queued })
		d.mark(id, hasClients(a), func(x *index) map[string]bool { return x.clients })
	}
	for id := range d.asked {
		if q := d.Questions[id]; q != nil {
			d.mark(id, pending(q), func(x *index) map[string]bool { return x.pending })
		}
	}
}

// mark puts an id into a set of the index, or takes it out.
func (d *transition) mark(id string, on bool, set func(*index) map[string]bool) {
	if set(d.index)[id] == on {
		return
	}
	if s := set(&d.add().index); on {
		s[id] = true
	} else {
		delete(s, id)
	}
}

// FindPending returns the questions that f accepts of those after which something is still to be done, oldest first.
func (s State) FindPending(f func(*Question) bool) []*Question {
	var qs []*Question
	for id := range s.indexed().pending {
		if q := s.Questions[id]; f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

// An adding is an index to which a step adds: lists that an older one has too are copied when they are first touched.
type adding struct {
	index
	own     map[string]bool // lists, by their kind and agent
	placing bool            // place is its own
}

func (x *index) adding() *adding {
	return &adding{index: index{
		order: slices.Clip(x.order), place: x.place, children: maps.Clone(x.children), questions: maps.Clone(x.questions),
		deliveries: maps.Clone(x.deliveries), seq: x.seq, active: maps.Clone(x.active), queued: maps.Clone(x.queued),
		pending: maps.Clone(x.pending), clients: maps.Clone(x.clients), scopes: x.scopes,
	}, own: map[string]bool{}}
}

func (x *adding) agent(a *Agent) {
	if !x.placing {
		x.placing, x.place = true, maps.Clone(x.place)
	}
	x.place[a.ID] = len(x.order)
	x.order = append(x.order, a.ID)
	if a.Budget != nil {
		x.scopes++
	}
	if a.Parent != "" {
		x.put("children", x.children, a.Parent, a.ID)
	}
}

// move puts an agent under another parent than the one in its record.
func (x *adding) move(a *Agent, parent string) {
	x.children[a.Parent] = slices.DeleteFunc(slices.Clone(x.children[a.Parent]), func(id string) bool {
		return id == a.ID
	})
	if len(x.children[a.Parent]) == 0 {
		delete(x.children, a.Parent)
	}
	x.put("children", x.children, parent, a.ID)
	slices.SortFunc(x.children[parent], func(a, b string) int { return x.place[a] - x.place[b] })
}

func (x *adding) put(kind string, lists map[string][]string, agent, id string) {
	if key := kind + agent; !x.own[key] {
		x.own[key] = true
		lists[agent] = slices.Clip(lists[agent])
	}
	lists[agent] = append(lists[agent], id)
}

// hasClients is toldByClients of the end of an agent.
func hasClients(a *Agent) bool { return a.Delegated != nil && toldByClients(a.Delegated.Nested) }

// toldByClients reports whether clients wait for something and tell it where they were started.
func toldByClients(n *checkpoints.Nested) bool { return n != nil && n.Clients > 0 }

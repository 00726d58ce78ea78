package supervisor

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An index says what of a state belongs to which agent, so that what concerns one agent costs the same in a run of one
// and of a thousand. It is made of the records alone, and like them never changed once a step has made it.
type index struct {
	order      []string            // agents, the root first, each after its parent, in the order in which they came
	children   map[string][]string // by parent, in the order in which they came
	questions  map[string][]string // ids, by agent
	deliveries map[string][]string // uuids, by agent
	seq        int                 // of the newest delivery
	active     map[string]bool     // agents that have a process, or are given a folder for one
	scopes     int                 // how many agents have a budget
}

// indexed gives the index of a state, and makes it where there is none.
func (s State) indexed() *index {
	if s.index != nil {
		return s.index
	}
	x := &index{
		children: map[string][]string{}, questions: map[string][]string{}, deliveries: map[string][]string{},
		active: map[string]bool{},
	}
	as := slices.Collect(maps.Values(s.Agents))
	slices.SortFunc(as, func(a, b *Agent) int { return cmp.Or(a.Seq-b.Seq, strings.Compare(a.ID, b.ID)) })
	for _, a := range as {
		x.addAgent(a)
		if s.active(a) {
			x.active[a.ID] = true
		}
	}
	for _, q := range s.Questions {
		x.questions[q.Agent] = append(x.questions[q.Agent], q.ID)
	}
	for _, v := range s.Deliveries {
		x.deliveries[v.Agent] = append(x.deliveries[v.Agent], v.UUID)
		x.seq = max(x.seq, v.Seq)
	}
	return x
}

func (x *index) addAgent(a *Agent) {
	x.order = append(x.order, a.ID)
	if a.Parent != "" {
		x.children[a.Parent] = append(x.children[a.Parent], a.ID)
	}
	if a.Budget != nil {
		x.scopes++
	}
}

func (s State) active(a *Agent) bool { return a.Placing || s.Live(a.ID) != nil }

// reindex takes note of which of the agents that a step has touched have a process.
func (d *transition) reindex() {
	for id := range d.touched {
		if on := d.active(d.Agents[id]); on != d.index.active[id] {
			x := d.add()
			if on {
				x.active[id] = true
			} else {
				delete(x.active, id)
			}
		}
	}
}

// An adding is an index to which a step adds: lists that an older one has too are copied when they are first touched.
type adding struct {
	index
	own map[string]bool // lists, by their kind and agent
}

func (x *index) adding() *adding {
	return &adding{index: index{
		order: slices.Clip(x.order), children: maps.Clone(x.children), questions: maps.Clone(x.questions),
		deliveries: maps.Clone(x.deliveries), seq: x.seq, active: maps.Clone(x.active), scopes: x.scopes,
	}, own: map[string]bool{}}
}

func (x *adding) agent(a *Agent) {
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
}

func (x *adding) put(kind string, lists map[string][]string, agent, id string) {
	if key := kind + agent; !x.own[key] {
		x.own[key] = true
		lists[agent] = slices.Clip(lists[agent])
	}
	lists[agent] = append(lists[agent], id)
}

package supervisor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
)

// State is all that a supervisor knows of its run: its records, and nothing else. It is a value: Step never changes
// a record in place, so an old State stays what it was.
type State struct {
	Run        *Run
	Config     conf.Config
	Agents     map[string]*Agent
	Launches   map[string][]*Launch // by agent; number N stands at N-1
	Questions  map[string]*Question
	Deliveries map[string]*Delivery // by uuid
	Taken      int64                // inbox notes up to this one are taken

	index *index         // nil: made when it is wanted
	plans []*effect.Part // of each agent by itself (plan.go), in the order of the index; nil: made when they are wanted

	recent []*touch // what the last steps have touched, the newest last (changes.go)
}

// Launch returns the agent's last launch, nil before the first.
func (s State) Launch(agent string) *Launch {
	ls := s.Launches[agent]
	if len(ls) == 0 {
		return nil
	}
	return ls[len(ls)-1]
}

// Live returns the agent's launch that may still have a process, nil if there is none.
func (s State) Live(agent string) *Launch {
	if l := s.Launch(agent); l != nil && !l.Phase.Ended() {
		return l
	}
	return nil
}

// Lived reports whether a process of an agent that is gone may have lived at a time. When it began may not have been
// saved.
func (s State) Lived(agent string, at time.Time) bool {
	return !at.Before(s.Run.StartedAt) && slices.ContainsFunc(s.Launches[agent], func(l *Launch) bool {
		return l.EndedAt != nil && !at.After(*l.EndedAt)
	})
}

// HeldCall returns the call in which a live process waits for the answer of a question, nil if that came by text or the
// process is gone. What such an answer has led to, as a command that it wants, is waited for in the same call.
func (s State) HeldCall(q *Question) *checkpoints.ToolCall {
	if q.Asker != "" {
		q = s.Questions[q.Asker]
	}
	if l := s.Live(q.Agent); q.Tool != nil && l != nil && l.N == q.Tool.Launch && l.End == "" {
		return q.Tool
	}
	return nil
}

// held returns the live launch whose process waits for the answer of a question in its call, nil if none does.
func (s State) held(q *Question) *Launch {
	if s.HeldCall(q) == nil {
		return nil
	}
	return s.Live(q.Agent)
}

// FindQuestions returns the questions of the run that f accepts, oldest first.
func (s State) FindQuestions(f func(*Question) bool) []*Question {
	var qs []*Question
	for _, q := range s.Questions {
		if f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

// FindQuestionsOf returns those of an agent's questions that f accepts, oldest first.
func (s State) FindQuestionsOf(agent string, f func(*Question) bool) []*Question {
	var qs []*Question
	for _, id := range s.indexed().questions[agent] {
		if q := s.Questions[id]; f(q) {
			qs = append(qs, q)
		}
	}
	slices.SortFunc(qs, byAge)
	return qs
}

func byAge(a, b *Question) int {
	if c := a.AskedAt.Compare(b.AskedAt); c != 0 {
		return c
	}
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return a.Index - b.Index
}

// Open returns the questions of an agent that wait for an answer and for which it waits, oldest first: those about its
// budget and how long it takes aside, and those that do not stop its work (Assuming).
func (s State) Open(agent string) []*Question {
	return s.FindQuestionsOf(agent, func(q *Question) bool {
		return IsOpen(q) && !questions.KindOf(q.Kind).Aside && !worksOn(q)
	})
}

// Group returns the questions of a group, which is named by the id of its first.
func (s State) Group(group string) []*Question {
	first := s.Questions[group]
	if first == nil {
		return nil
	}
	return s.FindQuestionsOf(first.Agent, func(q *Question) bool { return q.Group == group })
}

// Groups returns the questions of several groups, in their order.
func (s State) Groups(groups []string) (qs []*Question) {
	for _, g := range groups {
		qs = append(qs, s.Group(g)...)
	}
	return qs
}

// FindDeliveries returns the agent's deliveries that f accepts, in the order they were made.
func (s State) FindDeliveries(agent string, f func(*Delivery) bool) []*Delivery {
	var ds []*Delivery
	for _, id := range s.indexed().deliveries[agent] {
		if d := s.Deliveries[id]; f(d) {
			ds = append(ds, d)
		}
	}
	slices.SortFunc(ds, func(a, b *Delivery) int { return a.Seq - b.Seq })
	return ds
}

// unsentTo returns the deliveries that are still to be made to a launch, in their order.
func (s State) unsentTo(agent string, launch int) []*Delivery {
	return s.FindDeliveries(agent, func(v *Delivery) bool { return unsent(v) && v.Launch == launch })
}

// AllAgents returns the agents in the order in which they came: the root first, each after its parent.
func (s State) AllAgents() []*Agent {
	order := s.indexed().order
	as := make([]*Agent, len(order))
	for i, id := range order {
		as[i] = s.Agents[id]
	}
	return as
}

// A transition is the state that one Step is making: records are copied when they are first touched, and so are the
// maps and lists that they stand in.
type transition struct {
	State
	at      time.Time    // when what it makes has happened
	fresh   map[any]bool // the records that this step already owns
	owns    struct{ agents, launches, questions, deliveries bool }
	adding  *adding
	touched map[string]bool // agents of which something has changed, and whose state is to be settled
	settled map[string]bool // those of them that are
	asked   map[string]bool // questions that may have changed
	said    map[string]bool // deliveries that may have changed

	accounts map[string]*usage // see books
}

// NewTransition begins the next state, which is that of the time at.
func NewTransition(s State, at time.Time) *transition {
	s.index = s.indexed()
	return &transition{State: s, at: at, fresh: map[any]bool{}, touched: map[string]bool{}, settled: map[string]bool{},
		asked: map[string]bool{}, said: map[string]bool{}}
}

// touch has an agent settled, again if it was before: something that it goes by has changed.
func (d *transition) touch(id string) {
	d.touched[id] = true
	delete(d.settled, id)
}

// touchAll is touch for what concerns every agent.
func (d *transition) touchAll() {
	for id := range d.Agents {
		d.touch(id)
	}
}

// own returns a copy of the record that the step may change, the same one each time.
func own[T any](d *transition, record *T, put func(*T)) *T {
	if d.fresh[record] {
		return record
	}
	c := *record
	d.fresh[&c] = true
	put(&c)
	return &c
}

// copied copies a map before its first change in a step.
func copied[V any](owned *bool, m *map[string]V) map[string]V {
	if !*owned {
		*owned, *m = true, maps.Clone(*m)
	}
	return *m
}

// add returns the index to add to.
func (d *transition) add() *adding {
	if d.adding == nil {
		d.adding = d.indexed().adding()
		d.index = &d.adding.index
	}
	return d.adding
}

func (d *transition) run() *Run { return own(d, d.Run, func(r *Run) { d.Run = r }) }

func (d *transition) agent(id string) *Agent {
	d.touched[id] = true
	return own(d, d.Agents[id], func(a *Agent) { copied(&d.owns.agents, &d.Agents)[id] = a })
}

func (d *transition) question(id string) *Question {
	d.touched[d.Questions[id].Agent], d.asked[id] = true, true
	return own(d, d.Questions[id], func(q *Question) { copied(&d.owns.questions, &d.Questions)[id] = q })
}

func (d *transition) delivery(uuid string) *Delivery {
	d.touched[d.Deliveries[uuid].Agent], d.said[uuid] = true, true
	return own(d, d.Deliveries[uuid], func(v *Delivery) { copied(&d.owns.deliveries, &d.Deliveries)[uuid] = v })
}

// last returns the agent's last launch to change.
func (d *transition) last(agent string) *Launch {
	d.touched[agent] = true
	return own(d, d.Launch(agent), func(l *Launch) {
		ls := slices.Clone(d.Launches[agent])
		ls[len(ls)-1] = l
		copied(&d.owns.launches, &d.Launches)[agent] = ls
	})
}

func (d *transition) addAgent(a *Agent) {
	d.fresh[a], d.touched[a.ID] = true, true
	if order := d.index.order; len(order) > 0 { // an import may have taken out agents between others
		a.Seq = d.Agents[order[len(order)-1]].Seq + 1
	}
	copied(&d.owns.agents, &d.Agents)[a.ID] = a
	d.add().agent(a)
}

func (d *transition) addLaunch(l *Launch) {
	d.fresh[l], d.touched[l.Agent] = true, true
	copied(&d.owns.launches, &d.Launches)[l.Agent] = append(slices.Clip(d.Launches[l.Agent]), l)
}

func (d *transition) addQuestion(q *Question) {
	d.fresh[q], d.touched[q.Agent], d.asked[q.ID] = true, true, true
	copied(&d.owns.questions, &d.Questions)[q.ID] = q
	x := d.add()
	x.put("questions", x.questions, q.Agent, q.ID)
}

// addDelivery adds what is to be said. One that is made again takes the place of the one that was dropped.
func (d *transition) addDelivery(v *Delivery) {
	d.fresh[v], d.touched[v.Agent], d.said[v.UUID] = true, true, true
	x := d.add()
	x.seq++
	v.Seq = x.seq
	if d.Deliveries[v.UUID] == nil {
		x.put("deliveries", x.deliveries, v.Agent, v.UUID)
	}
	copied(&d.owns.deliveries, &d.Deliveries)[v.UUID] = v
}

// A usage is what is known of one scope.
type usage struct {
	Used     conf.Budget
	reserved float64 // in dollars, what launches may still spend of their shares
}

// unsent reports whether a delivery is still to be made.
func unsent(d *Delivery) bool { return d.State == checkpoints.DeliveryPending }

// waitsForReceipt reports whether what was sent may or may not have reached the conversation.
func waitsForReceipt(d *Delivery) bool {
	return d.State == checkpoints.DeliverySent || d.State == checkpoints.DeliveryStarted
}

// undelivered reports whether a delivery is still to be made, or may or may not have been.
func undelivered(d *Delivery) bool {
	return unsent(d) || waitsForReceipt(d)
}

// IsOpen reports whether a question waits for its answer.
func IsOpen(q *Question) bool { return q.State == checkpoints.QuestionOpen }

// indexAnew makes the index of a state from which something was taken.
func (d *transition) indexAnew() {
	d.index, d.adding, d.accounts = nil, nil, nil
	d.index = d.State.indexed()
	for _, lists := range []map[string][]string{d.index.questions, d.index.deliveries} { // the same each time
		for _, list := range lists {
			slices.Sort(list)
		}
	}
}

// A touch is the records that a step may have changed or added. Launches go with their agents.
type touch struct {
	agents, questions, deliveries map[string]bool
}

package supervisor

import (
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/table"
)

// State is all that a supervisor knows of its run: its records, and what follows from them alone. It is a value: Step
// never changes a record in place, so an old State stays what it was.
type State struct {
	Run        *Run
	Config     conf.Config
	Agents     table.Table[*Agent]
	Launches   table.Table[[]*Launch] // by agent; number N stands at N-1
	Questions  table.Table[*Question]
	Deliveries table.Table[*Delivery] // by uuid
	Taken      int64                  // inbox notes up to this one are taken

	index *index                    // nil: made when it is wanted
	plans table.Table[*effect.Part] // of each agent by itself (plan.go); empty: made when they are wanted
}

// Launch returns the agent's last launch, nil before the first.
func (s State) Launch(agent string) *Launch {
	ls := s.Launches.Get(agent)
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
	return !at.Before(s.Run.StartedAt) && slices.ContainsFunc(s.Launches.Get(agent), func(l *Launch) bool {
		return l.EndedAt != nil && !at.After(*l.EndedAt)
	})
}

// HeldCall returns the call in which a live process waits for the answer of a question, nil if that came by text or the
// process is gone. What such an answer has led to, as a command that it wants, is waited for in the same call.
func (s State) HeldCall(q *Question) *checkpoints.ToolCall {
	if q.Asker != "" {
		q = s.Questions.Get(q.Asker)
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
	for q := range s.Questions.Values() {
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
	for _, id := range s.indexed().questions.Under(agent + within) {
		if q := s.Questions.Get(id); f(q) {
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
	first := s.Questions.Get(group)
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
	for _, id := range s.indexed().deliveries.Under(agent + within) {
		if d := s.Deliveries.Get(id); f(d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// unsentTo returns the deliveries that are still to be made to a launch, in their order.
func (s State) unsentTo(agent string, launch int) []*Delivery {
	return s.FindDeliveries(agent, func(v *Delivery) bool { return unsent(v) && v.Launch == launch })
}

// AllAgents returns the agents in the order in which they came: the root first, each after its parent.
func (s State) AllAgents() []*Agent { return s.agentsOf(s.indexed().order, "") }

// agentsOf returns the agents that a part of the index names, in its order.
func (s State) agentsOf(ids table.Table[string], under string) []*Agent {
	var as []*Agent
	for _, id := range ids.Under(under) {
		as = append(as, s.Agents.Get(id))
	}
	return as
}

// A transition is the state that one Step is making: records are copied when they are first touched.
type transition struct {
	State
	before  State           // what it makes it of
	at      time.Time       // when what it makes has happened
	touched map[string]bool // agents of which something has changed, and whose state is to be settled
	settled map[string]bool // those of them that are

	accounts map[string]*usage // see books
}

// NewTransition begins the next state, which is that of the time at.
func NewTransition(s State, at time.Time) *transition {
	x := *s.indexed()
	d := &transition{State: s, before: s, at: at, touched: map[string]bool{}, settled: map[string]bool{}}
	d.index = &x
	return d
}

// touch has an agent settled, again if it was before: something that it goes by has changed.
func (d *transition) touch(id string) {
	d.touched[id] = true
	delete(d.settled, id)
}

// touchAll is touch for what concerns every agent.
func (d *transition) touchAll() {
	for id := range d.Agents.All() {
		d.touch(id)
	}
}

// own returns a copy of a record that the step may change, the same one each time: it is the step's own where it is not
// the one before.
func own[T any](record, before *T, put func(*T)) *T {
	if record != before {
		return record
	}
	c := *record
	put(&c)
	return &c
}

func (d *transition) run() *Run { return own(d.Run, d.before.Run, func(r *Run) { d.Run = r }) }

func (d *transition) agent(id string) *Agent {
	d.touched[id] = true
	return own(d.Agents.Get(id), d.before.Agents.Get(id), func(a *Agent) { d.Agents.Put(id, a) })
}

func (d *transition) question(id string) *Question {
	q := d.Questions.Get(id)
	d.touched[q.Agent] = true
	return own(q, d.before.Questions.Get(id), func(q *Question) { d.Questions.Put(id, q) })
}

func (d *transition) delivery(uuid string) *Delivery {
	v := d.Deliveries.Get(uuid)
	d.touched[v.Agent] = true
	return own(v, d.before.Deliveries.Get(uuid), func(v *Delivery) { d.Deliveries.Put(uuid, v) })
}

// last returns the agent's last launch to change.
func (d *transition) last(agent string) *Launch {
	d.touched[agent] = true
	return own(d.Launch(agent), d.before.Launch(agent), func(l *Launch) {
		ls := slices.Clone(d.Launches.Get(agent))
		ls[len(ls)-1] = l
		d.Launches.Put(agent, ls)
	})
}

func (d *transition) addAgent(a *Agent) {
	d.touched[a.ID] = true
	if _, last := d.index.order.Last(); last != "" { // an import may have taken out agents between others
		a.Seq = d.Agents.Get(last).Seq + 1
	}
	d.Agents.Put(a.ID, a)
	d.index.addAgent(a)
}

func (d *transition) addLaunch(l *Launch) {
	d.touched[l.Agent] = true
	d.Launches.Put(l.Agent, append(slices.Clip(d.Launches.Get(l.Agent)), l))
}

func (d *transition) addQuestion(q *Question) {
	d.touched[q.Agent] = true
	d.Questions.Put(q.ID, q)
	d.index.questions.Put(q.Agent+within+q.ID, q.ID)
}

// addDelivery adds what is to be said. One that is made again takes the place of the one that was dropped.
func (d *transition) addDelivery(v *Delivery) {
	d.touched[v.Agent] = true
	if before := d.Deliveries.Get(v.UUID); before != nil {
		d.index.deliveries.Delete(delivered(before))
	}
	d.index.seq++
	v.Seq = d.index.seq
	d.index.deliveries.Put(delivered(v), v.UUID)
	d.Deliveries.Put(v.UUID, v)
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

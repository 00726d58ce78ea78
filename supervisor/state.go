package supervisor

import (
	"slices"
	"time"

	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// State is all that a supervisor knows of its run: its records, and what follows from them alone. It is a value: Step
// never changes a record in place, so an old State stays what it was.
type State struct {
	records.Records
	Config conf.Config

	plans table.Table[*effect.Part] // of each agent by itself (plan.go); empty: made when they are wanted
}

// A transition is the state that one Step is making: records are copied when they are first touched.
type transition struct {
	State
	before     State           // what it makes it of
	at         time.Time       // when what it makes has happened
	touched    map[string]bool // agents of which something has changed, and whose state is to be reconciled
	reconciled map[string]bool // those of them that are

	accounts map[string]*records.Usage // see usageByScope
}

// NewTransition begins the next state, which is that of the time at.
func NewTransition(s State, at time.Time) *transition {
	d := &transition{State: s, before: s, at: at, touched: map[string]bool{}, reconciled: map[string]bool{}}
	d.Records = s.Draft()
	return d
}

// touch has an agent reconciled, again if it was before: something that it goes by has changed.
func (d *transition) touch(id string) {
	d.touched[id] = true
	delete(d.reconciled, id)
}

// touchAll is touch for what concerns every agent.
func (d *transition) touchAll() {
	for id := range d.Agents.All() {
		d.touch(id)
	}
}

// reindex takes note of what a step has made of the agents that it has touched, and of questions.
func (d *transition) reindex() { d.Note(d.before.Records, d.touched) }

// indexAnew is for who has taken something from the records.
func (d *transition) indexAnew() {
	d.accounts = nil
	d.Reindex()
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
	d.AddAgent(a)
}

func (d *transition) addLaunch(l *Launch) {
	d.touched[l.Agent] = true
	d.AddLaunch(l)
}

func (d *transition) addQuestion(q *Question) {
	d.touched[q.Agent] = true
	d.AddQuestion(q)
}

func (d *transition) addDelivery(v *Delivery) {
	d.touched[v.Agent] = true
	d.AddDelivery(v)
}

// Abilities returns what the agents can do.
func (s State) Abilities() procs.Abilities { return s.Config.Abilities() }

// Serves reports whether our tools are at the agents' hands.
func (s State) Serves() bool { return s.Abilities().ServesTools && !s.Config.Toolless }

package supervisor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
)

type (
	// Run is the record of a run.
	Run = checkpoints.Run
	// Agent is the record of an agent.
	Agent = checkpoints.Agent
	// Launch is the record of one of its processes.
	Launch = checkpoints.Launch
	// Question is the record of what a person is asked.
	Question = checkpoints.Question
	// Delivery is the record of one thing said to an agent.
	Delivery = checkpoints.Delivery
	// Status is the state of an agent or run, in the words that every reader sees.
	Status = checkpoints.Status
	// Note is a row of the inbox.
	Note = checkpoints.Note
)

// State is all that a supervisor knows of its run: its records, and nothing else. It is a value: Step never changes
// a record in place, so an old State stays what it was.
type State struct {
	Run        *Run
	Config     Config
	Agents     map[string]*Agent
	Launches   map[string][]*Launch // by agent; number N stands at N-1
	Questions  map[string]*Question
	Deliveries map[string]*Delivery // by uuid
	Taken      int64                // inbox notes up to this one are taken
}

// launch gives the agent's last launch, nil before the first.
func (s State) launch(agent string) *Launch {
	ls := s.Launches[agent]
	if len(ls) == 0 {
		return nil
	}
	return ls[len(ls)-1]
}

// live gives the agent's launch that may still have a process, nil if there is none.
func (s State) live(agent string) *Launch {
	if l := s.launch(agent); l != nil && l.State != checkpoints.LaunchEnded {
		return l
	}
	return nil
}

// held gives the live launch whose process waits for the answer of this question's call, nil if it came by text or
// the process is gone.
func (s State) held(q *Question) *Launch {
	if q.Tool == nil {
		return nil
	}
	if l := s.live(q.Agent); l != nil && l.N == q.Tool.Launch && l.End == "" {
		return l
	}
	return nil
}

// questions gives the agent's questions that f accepts, oldest first.
func (s State) questions(f func(*Question) bool) []*Question {
	var qs []*Question
	for _, q := range s.Questions {
		if f(q) {
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

func (s State) open(agent string) []*Question {
	return s.questions(func(q *Question) bool { return q.Agent == agent && q.State == checkpoints.QuestionOpen })
}

func (s State) group(group string) []*Question {
	return s.questions(func(q *Question) bool { return q.Group == group })
}

// deliveries gives the agent's deliveries that f accepts, in the order they were made.
func (s State) deliveries(agent string, f func(*Delivery) bool) []*Delivery {
	var ds []*Delivery
	for _, d := range s.Deliveries {
		if d.Agent == agent && f(d) {
			ds = append(ds, d)
		}
	}
	slices.SortFunc(ds, func(a, b *Delivery) int { return a.Seq - b.Seq })
	return ds
}

// agents gives the agents in a stable order, the root first.
func (s State) agents() []*Agent {
	as := slices.Collect(maps.Values(s.Agents))
	slices.SortFunc(as, func(a, b *Agent) int {
		if a.Depth != b.Depth {
			return a.Depth - b.Depth
		}
		return strings.Compare(a.ID, b.ID)
	})
	return as
}

// waitsForReceipt tells whether what was sent may or may not have reached the conversation.
func waitsForReceipt(d *Delivery) bool {
	return d.State == checkpoints.DeliverySent || d.State == checkpoints.DeliveryStarted
}

// undelivered tells whether a delivery is still to be made, or may or may not have been.
func undelivered(d *Delivery) bool {
	return d.State == checkpoints.DeliveryPending || waitsForReceipt(d)
}

// loaded makes a State of what the database held.
func loaded(l checkpoints.Loaded) (State, error) {
	s := State{
		Run: &l.Run, Agents: l.Agents, Launches: map[string][]*Launch{}, Questions: map[string]*Question{},
		Deliveries: map[string]*Delivery{}, Taken: l.Taken,
	}
	for _, launch := range l.Launches {
		s.Launches[launch.Agent] = append(s.Launches[launch.Agent], launch)
	}
	for _, ls := range s.Launches {
		slices.SortFunc(ls, func(a, b *Launch) int { return a.N - b.N })
	}
	for _, q := range l.Questions {
		s.Questions[q.ID] = q
	}
	for _, d := range l.Deliveries {
		s.Deliveries[d.UUID] = d
	}
	if err := json.Unmarshal(l.Run.Config, &s.Config); err != nil {
		return s, fmt.Errorf("the configuration of run %s cannot be read: %w", l.Run.ID, err)
	}
	return s, nil
}

// changes gives what differs between two states: the records to save.
func changes(before, after State) checkpoints.Change {
	c := checkpoints.Change{Taken: after.Taken}
	if after.Run != before.Run {
		c.Run = after.Run
	}
	for id, a := range after.Agents {
		if before.Agents[id] != a {
			c.Agents = append(c.Agents, a)
		}
	}
	for agent, ls := range after.Launches {
		old := before.Launches[agent]
		for i, l := range ls {
			if i >= len(old) || old[i] != l {
				c.Launches = append(c.Launches, l)
			}
		}
	}
	for id, q := range after.Questions {
		if before.Questions[id] != q {
			c.Questions = append(c.Questions, q)
		}
	}
	for id, d := range after.Deliveries {
		if before.Deliveries[id] != d {
			c.Deliveries = append(c.Deliveries, d)
		}
	}
	return c
}

// A draft is the state that one Step is making: records are copied when they are first touched.
type draft struct {
	State
	fresh map[any]bool // the records that this step already owns
}

func newDraft(s State) *draft {
	s.Agents, s.Questions, s.Deliveries = maps.Clone(s.Agents), maps.Clone(s.Questions), maps.Clone(s.Deliveries)
	s.Launches = maps.Clone(s.Launches)
	return &draft{State: s, fresh: map[any]bool{}}
}

// own gives a copy of the record that the step may change, the same one each time.
func own[T any](d *draft, record *T, put func(*T)) *T {
	if d.fresh[record] {
		return record
	}
	c := *record
	d.fresh[&c] = true
	put(&c)
	return &c
}

func (d *draft) run() *Run { return own(d, d.Run, func(r *Run) { d.Run = r }) }

func (d *draft) agent(id string) *Agent {
	return own(d, d.Agents[id], func(a *Agent) { d.Agents[id] = a })
}

func (d *draft) question(id string) *Question {
	return own(d, d.Questions[id], func(q *Question) { d.Questions[id] = q })
}

func (d *draft) delivery(uuid string) *Delivery {
	return own(d, d.Deliveries[uuid], func(v *Delivery) { d.Deliveries[uuid] = v })
}

// last gives the agent's last launch to change.
func (d *draft) last(agent string) *Launch {
	return own(d, d.launch(agent), func(l *Launch) {
		ls := slices.Clone(d.Launches[agent])
		ls[len(ls)-1] = l
		d.Launches[agent] = ls
	})
}

func (d *draft) addLaunch(l *Launch) {
	d.fresh[l] = true
	d.Launches[l.Agent] = append(slices.Clip(d.Launches[l.Agent]), l)
}

func (d *draft) addQuestion(q *Question) { d.fresh[q] = true; d.Questions[q.ID] = q }

func (d *draft) addDelivery(v *Delivery) {
	d.fresh[v] = true
	v.Seq = len(d.Deliveries) + 1
	d.Deliveries[v.UUID] = v
}

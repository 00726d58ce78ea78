package checkpoints

import (
	"errors"
	"fmt"
	"strings"

	"claude-supervise/checkpoints/files"
)

// A run that comes from a file may have been made by anybody. Its ids name paths, its references are followed, and what
// it says of the questions of other runs would be believed: so a run is checked to be one that this program can have
// written, as far as this package knows.

// Check tells what Import would refuse of an exported run, whatever the database holds: ErrNewer, ErrMalformed. It does
// not look into what is opaque here.
func (e *Exported) Check() error {
	if e.Schema > schemaVersion {
		return fmt.Errorf("run %s has the schema %d, this release knows %d: %w; upgrade %s",
			files.Shorten(e.Run.ID), e.Schema, schemaVersion, ErrNewer, program)
	}
	if err := e.checkAll(); err != nil {
		return fmt.Errorf("run %s: %w: %w", files.Shorten(e.Run.ID), ErrMalformed, err)
	}
	return nil
}

func (e *Exported) checkAll() error {
	if e.Schema < 1 {
		return errors.New("it has no schema")
	}
	if err := plainID(RunPrefix, e.Run.ID); err != nil {
		return err
	}
	agents, err := e.checkAgents()
	if err != nil {
		return err
	}
	questions, err := e.checkQuestions(agents)
	if err != nil {
		return err
	}
	return errors.Join(e.checkLaunches(agents), e.checkDeliveries(agents), e.checkEvents(), e.checkNotes(questions))
}

// checkAgents returns the agents by id. Each must be deeper than its parent: so no chain of parents is a ring.
func (e *Exported) checkAgents() (map[string]*Agent, error) {
	agents := make(map[string]*Agent, len(e.Agents))
	for _, a := range e.Agents {
		if a == nil {
			return nil, errors.New("an agent is missing")
		}
		if err := e.checkID("agent", AgentPrefix, a.ID, a.Run); err != nil {
			return nil, err
		}
		if agents[a.ID] != nil {
			return nil, fmt.Errorf("agent %s is there twice", a.ID)
		}
		agents[a.ID] = a
	}
	for _, a := range e.Agents {
		parent := agents[a.Parent]
		if a.Parent != "" && (parent == nil || a.Depth <= parent.Depth) {
			return nil, fmt.Errorf("agent %s is not a child of %q", a.ID, files.Shorten(a.Parent))
		}
	}
	if agents[e.Run.Root] == nil {
		return nil, fmt.Errorf("its first agent %q is missing", files.Shorten(e.Run.Root))
	}
	return agents, nil
}

func (e *Exported) checkQuestions(agents map[string]*Agent) (map[string]*Question, error) {
	questions := make(map[string]*Question, len(e.Questions))
	for _, q := range e.Questions {
		if q == nil {
			return nil, errors.New("a question is missing")
		}
		if err := e.checkID("question", QuestionPrefix, q.ID, q.Run); err != nil {
			return nil, err
		}
		switch q.State {
		case QuestionOpen, QuestionAnswered, QuestionDelivered, QuestionWithdrawn:
		default:
			return nil, fmt.Errorf("question %s has the state %q", q.ID, files.Shorten(string(q.State)))
		}
		if agents[q.Agent] == nil {
			return nil, fmt.Errorf("question %s is of the agent %q, which is missing", q.ID, files.Shorten(q.Agent))
		}
		if questions[q.ID] != nil {
			return nil, fmt.Errorf("question %s is there twice", q.ID)
		}
		questions[q.ID] = q
	}
	return questions, nil
}

func (e *Exported) checkLaunches(agents map[string]*Agent) error {
	type number struct {
		agent string
		n     int
	}
	seen := make(map[number]bool, len(e.Launches))
	for _, l := range e.Launches {
		if l == nil {
			return errors.New("a launch is missing")
		}
		if agents[l.Agent] == nil || l.N < 1 || seen[number{l.Agent, l.N}] {
			return fmt.Errorf("launch %d of the agent %q is not one of its launches", l.N, files.Shorten(l.Agent))
		}
		seen[number{l.Agent, l.N}] = true
	}
	return nil
}

func (e *Exported) checkDeliveries(agents map[string]*Agent) error {
	seen := make(map[string]bool, len(e.Deliveries))
	for _, d := range e.Deliveries {
		if d == nil {
			return errors.New("a delivery is missing")
		}
		if !PlainID(d.UUID) || seen[d.UUID] || agents[d.Agent] == nil {
			return fmt.Errorf("delivery %q is none to the agent %q", files.Shorten(d.UUID), files.Shorten(d.Agent))
		}
		seen[d.UUID] = true
		switch d.State {
		case DeliveryPending, DeliverySent, DeliveryStarted, DeliveryDelivered, DeliveryDropped:
		default:
			return fmt.Errorf("delivery %s has the state %q", d.UUID, files.Shorten(string(d.State)))
		}
	}
	return nil
}

func (e *Exported) checkEvents() error {
	for i, event := range e.Events {
		if want := int64(i) + 1; event.Run != e.Run.ID || event.Seq != want {
			return fmt.Errorf("event %d of run %q is where event %d should be", event.Seq, files.Shorten(event.Run), want)
		}
	}
	return nil
}

// checkNotes lets a note speak of questions of this run only: what the inbox says of a question is shown and believed.
func (e *Exported) checkNotes(questions map[string]*Question) error {
	answered := make(map[string]bool)
	last := int64(0)
	for _, n := range e.Notes {
		if n.Run != e.Run.ID || n.Kind == "" || n.Seq <= last {
			return fmt.Errorf("note %d of run %q does not follow note %d", n.Seq, files.Shorten(n.Run), last)
		}
		last = n.Seq
		isAnswer := n.Kind == EntryAnswer
		if n.Question == "" && !isAnswer && n.Kind != EntryChange {
			continue
		}
		if questions[n.Question] == nil {
			return fmt.Errorf("note %d is about the question %q, which is missing", n.Seq, files.Shorten(n.Question))
		}
		if isAnswer && answered[n.Question] {
			return fmt.Errorf("note %d is a second answer to question %s", n.Seq, n.Question)
		}
		answered[n.Question] = answered[n.Question] || isAnswer
	}
	return nil
}

func (e *Exported) checkID(kind, prefix, id, run string) error {
	if err := plainID(prefix, id); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if run != e.Run.ID {
		return fmt.Errorf("%s %s is of the run %q", kind, id, files.Shorten(run))
	}
	return nil
}

func plainID(prefix, id string) error {
	if !PlainID(id) || !strings.HasPrefix(id, prefix) || id == prefix {
		return fmt.Errorf("%q is not an id (%s…)", files.Shorten(id), prefix)
	}
	return nil
}

package checkpoints

import (
	"cmp"
	"context"
	"slices"
)

// Loaded is everything that is known of one run, as of one instant.
type Loaded struct {
	Run        Run
	Agents     map[string]*Agent // by id
	Launches   []*Launch         // by agent and number
	Questions  []*Question       // in the order they were asked
	Deliveries []*Delivery       // by Seq
	LastEvent  int64             // Seq of the last event; 0 if there is none
	Taken      int64             // Seq of the last inbox row that was taken; 0 if none was
}

// Load reads a run; *UnknownError if there is none of this id.
func (s *Store) Load(ctx context.Context, run string) (Loaded, error) {
	var l Loaded
	err := s.readKnown(ctx, "load run "+run+" from", run, func(ctx context.Context) error {
		return s.load(ctx, run, &l)
	})
	if err != nil {
		return Loaded{}, err
	}
	return l, nil
}

func (s *Store) load(ctx context.Context, run string, l *Loaded) error {
	var doc []byte
	if err := s.row(ctx, `SELECT doc, taken FROM runs WHERE id = ?`, []any{run}, &doc, &l.Taken); err != nil {
		return err
	}
	if err := s.decode(doc, &l.Run); err != nil {
		return err
	}
	agents, err := documents[*Agent](ctx, s, `SELECT doc FROM agents WHERE run = ?`, run)
	if err != nil {
		return err
	}
	l.Agents = make(map[string]*Agent, len(agents))
	for _, a := range agents {
		l.Agents[a.ID] = a
	}
	if l.Launches, err = documents[*Launch](ctx, s, `SELECT doc FROM launches WHERE run = ? ORDER BY agent, n`,
		run); err != nil {
		return err
	}
	if l.Questions, err = documents[*Question](ctx, s, `SELECT doc FROM questions WHERE run = ?`, run); err != nil {
		return err
	}
	slices.SortFunc(l.Questions, asAsked)
	if l.Deliveries, err = documents[*Delivery](ctx, s, `SELECT doc FROM deliveries WHERE run = ?`, run); err != nil {
		return err
	}
	slices.SortFunc(l.Deliveries, func(a, b *Delivery) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.UUID, b.UUID))
	})
	return s.row(ctx, `SELECT coalesce(max(seq), 0) FROM events WHERE run = ?`, []any{run}, &l.LastEvent)
}

// asAsked orders questions by time; those of one group stay together in their own order.
func asAsked(a, b *Question) int {
	return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Index, b.Index),
		cmp.Compare(a.ID, b.ID))
}

// Events reads the history of a run after an event (0: all of it), oldest first.
func (s *Store) Events(ctx context.Context, run string, after int64) ([]Event, error) {
	return records[Event](ctx, s, "read the events of run "+run+" from", eventsOf, run, after)
}

const eventsOf = `SELECT doc FROM events WHERE run = ? AND seq > ? ORDER BY seq`

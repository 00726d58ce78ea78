package checkpoints

import (
	"context"
	"maps"
	"slices"
)

// Exported is all that a database holds of one run, as of one instant. A pack file holds its JSON form, so members may
// be added to it and to the records, never renamed; Schema says which tables they come from.
type Exported struct {
	Schema     int          `json:"schema"`
	Run        Run          `json:"run"`
	Agents     []*Agent     `json:"agents"`     // by id
	Launches   []*Launch    `json:"launches"`   // by agent and number
	Questions  []*Question  `json:"questions"`  // in the order they were asked
	Deliveries []*Delivery  `json:"deliveries"` // by Seq
	Events     []Event      `json:"events"`     // the whole history
	Notes      []InboxEntry `json:"notes"`      // the whole inbox, oldest first; Seq means order only
	Taken      int64        `json:"taken"`      // notes up to this Seq are taken
}

// Export reads all that there is of a run; *UnknownError if there is none of this id.
func (s *Store) Export(ctx context.Context, run string) (Exported, error) {
	var l Loaded
	e := Exported{Schema: schemaVersion}
	err := s.readKnown(ctx, "export run "+run+" from", run, func(ctx context.Context) error {
		if err := s.load(ctx, run, &l); err != nil {
			return err
		}
		return s.history(ctx, run, 0, &e)
	})
	if err != nil {
		return Exported{}, err
	}
	for _, id := range slices.Sorted(maps.Keys(l.Agents)) {
		e.Agents = append(e.Agents, l.Agents[id])
	}
	e.Run, e.Launches, e.Questions, e.Deliveries, e.Taken = l.Run, l.Launches, l.Questions, l.Deliveries, l.Taken
	return e, nil
}

// ExportHistory reads of a run's history the events over after, up to and including upto, and its whole inbox. The
// records are left out: the caller has them.
func (s *Store) ExportHistory(ctx context.Context, run string, after, upto int64) (Exported, error) {
	e := Exported{Schema: schemaVersion}
	err := s.read(ctx, "export the history of run "+run+" from", func(ctx context.Context) error {
		return s.history(ctx, run, after, &e)
	})
	e.Events = slices.DeleteFunc(e.Events, func(event Event) bool { return event.Seq > upto })
	return e, err
}

func (s *Store) history(ctx context.Context, run string, after int64, e *Exported) (err error) {
	if e.Events, err = documents[Event](ctx, s, eventsOf, run, after); err != nil {
		return err
	}
	e.Notes, err = s.notes(ctx, `SELECT seq, doc FROM inbox WHERE run = ? ORDER BY seq`, run)
	return err
}

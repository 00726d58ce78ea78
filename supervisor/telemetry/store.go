package telemetry

import (
	"context"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/engine"
)

// Store has a supervisor's records pass by here: those of a run that it takes over, and each change once it is saved.
func (t *Telemetry) Store(s engine.Store) engine.Store { return store{s, t} }

type store struct {
	engine.Store
	telemetry *Telemetry
}

func (s store) Load(ctx context.Context, run string) (checkpoints.Loaded, error) {
	l, err := s.Store.Load(ctx, run)
	if err == nil {
		s.telemetry.loaded(l)
	}
	return l, err
}

func (s store) Commit(ctx context.Context, c checkpoints.Change) error {
	err := s.Store.Commit(ctx, c)
	if err == nil {
		s.telemetry.saved(c)
	}
	return err
}

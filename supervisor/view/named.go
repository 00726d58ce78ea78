package view

import (
	"context"
	"errors"
	"fmt"

	"claude-supervise/checkpoints"
)

// errWrongKind says that an id names something else than what a command works on.
var errWrongKind = errors.New("name its run or agent instead")

// NoSuchID reports whether an error says that an id names nothing, several things, or something of another kind.
func NoSuchID(err error) bool {
	var unknown *checkpoints.UnknownError
	var ambiguous *checkpoints.AmbiguousError
	return errors.As(err, &unknown) || errors.As(err, &ambiguous) || errors.Is(err, errWrongKind)
}

// RunNamed gives the run that an id or its start names, or that the agent which it names belongs to; agent is "" where
// it names the run.
func RunNamed(ctx context.Context, store *checkpoints.Store, id string) (run, agent string, err error) {
	kind, full, err := store.Resolve(ctx, id)
	switch {
	case err != nil:
		return "", "", err
	case kind == checkpoints.KindQuestion:
		return "", "", fmt.Errorf("%s is a question: %w", full, errWrongKind)
	case kind == checkpoints.KindAgent:
		run, err = store.RunOf(ctx, full)
		return run, full, err
	}
	return full, "", nil
}

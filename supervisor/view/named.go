package view

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// RunNamed returns the run that an id or its start names, or that the agent which it names belongs to; agent is ""
// where it names the run.
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

// Called returns the run or agent that a word names, by its id, the start of an id with its r- or a-, or a run's name;
// "" if that is no name. byName tells that it may be a word like any other. The error says that several runs have the
// name, or that nothing has the id.
func Called(ctx context.Context, store *checkpoints.Store, word string) (id string, byName bool, err error) {
	marked := strings.HasPrefix(word, "r-") || strings.HasPrefix(word, "a-")
	run, agent, err := RunNamed(ctx, store, word)
	var several *checkpoints.AmbiguousError
	switch {
	case errors.As(err, &several) && several.Name:
		return "", true, err
	case err != nil && (marked || !NoSuchID(err)):
		return "", false, err
	case err != nil:
		return "", false, nil
	case agent != "" && (marked || "a-"+word == agent):
		return agent, false, nil
	case agent != "":
		return "", false, nil
	case marked || "r-"+word == run:
		return run, false, nil
	}
	r, err := store.Run(ctx, run)
	if err != nil || r.Name != word {
		return "", false, err
	}
	return run, true, nil
}

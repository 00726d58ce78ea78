package worker

import (
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/client"
)

// A refusal is final: it takes the answer back from whoever gave it. A run that is being ended here, for it continues
// elsewhere, refuses nothing.
func TestAnAnswerToARunThatContinuesElsewhereIsNotRefused(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		kind string // "": it is tried again
	}{
		"answered here before": {&client.TakenError{Question: "q-one"}, flow.ErrTaken},
		"no answer to it":      {errors.New("it takes 1 to 3"), flow.ErrRefused},
		"continues elsewhere":  {fmt.Errorf("saved: %w", &client.PackedError{Run: "r-abcd1234"}), ""},
	} {
		err := notGiven(c.err)
		var refused *temporal.ApplicationError
		if final := errors.As(err, &refused); final != (c.kind != "") || final && refused.Type() != c.kind || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

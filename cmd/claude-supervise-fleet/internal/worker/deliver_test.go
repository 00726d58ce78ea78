package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/temporal"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/client"
)

// A refusal is final: it takes the answer back from whoever gave it. A run that is being ended here, for it continues
// elsewhere, refuses nothing.
func TestAnAnswerToARunThatContinuesElsewhereIsNotRefused(t *testing.T) {
	damaged := t.TempDir()
	state := filepath.Join(damaged, "claude-supervise")
	if err := errors.Join(os.Mkdir(state, 0o700), os.WriteFile(filepath.Join(state, "state.db"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, unsaved := client.OpenClientIn(damaged)
	for name, c := range map[string]struct {
		err  error
		kind string // "": it is tried again
	}{
		"cannot be saved here": {unsaved, ""},
		"is not unpacked yet":  {errNotBegun, ""},
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

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// A run that is parked, and of which no snapshot can be taken, is on its worker alone. To give it away would do the
// last turn again elsewhere, and that would cost as much each time. So the worker keeps it, and tries to take a
// snapshot until there is one: a disk that is full may be freed. Work that is too large for a snapshot stays so: such a
// run fails, and what its agents have written is kept on the worker.

// unsavedAgain is how long to wait before a snapshot of a parked run is tried again.
const unsavedAgain = 30 * time.Second

// An unsavedError says that a run is parked, and why no snapshot of it could be taken.
type unsavedError struct{ problem string }

// Error says why.
func (e *unsavedError) Error() string { return "no snapshot of the run could be taken: " + e.problem }

// untilSaved drives the run. Where it parks and cannot be saved, it is opened again after a while: that takes a
// snapshot and begins no turn.
func (h *held) untilSaved(ctx context.Context, args []string, stdin string) (flow.Outcome, error) {
	problem := ""
	for {
		out, err := h.drive(ctx, args, stdin)
		var unsaved *unsavedError
		if !errors.As(err, &unsaved) {
			return out, err
		}
		if unsaved.problem != problem {
			problem = unsaved.problem
			h.note("it is parked, and no snapshot of it can be taken: %s. Worker %s keeps it, and tries again", problem, h.Name)
		}
		h.toldAt = time.Time{} // nothing tells it later
		h.tell(ctx, func() {})
		select {
		case <-time.After(unsavedAgain):
		case <-activity.GetWorkerStopChannel(ctx): // drive gives it back
		case <-ctx.Done():
			return flow.Outcome{}, context.Cause(ctx)
		}
		args, stdin = h.resumed([]string{"resume", h.Task.Run}), ""
	}
}

// keepsWork moves what the agents have written to where it stays when this worker leaves the run, and says where.
func (h *held) keepsWork() string {
	err := os.MkdirAll(filepath.Dir(h.keptWork()), 0o700)
	if err == nil {
		err = os.Rename(h.work(), h.keptWork())
	}
	if err != nil {
		return fmt.Sprintf("; it is lost: %v", err)
	}
	return fmt.Sprintf(". It is kept on %s in %s: take from there what you need, and remove it", h.Name, h.keptWork())
}

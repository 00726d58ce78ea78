package engine

import (
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
)

// resets is when a usage limit ends, as far as claude's words for it can be read. A time of day is in the zone of this
// machine.
func resets(f procs.Failure, now time.Time) *time.Time {
	if !supervisor.IsLimit(f) {
		return nil
	}
	if at, ok := claude.ResetTime(f.Reset, now.Local()); ok {
		at = at.UTC()
		return &at
	}
	return nil
}

// Package pace says how long is waited before something is tried again, and who is next: the rests after failures and
// rejections, and the class of an agent that waits for a slot. It knows no run.
package pace

import (
	"hash/fnv"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/task"
)

// Backoff is how long an agent rests after its nth passing failure in a row.
func Backoff(n int) time.Duration {
	return min(time.Second<<(2*min(n-1, 8)), 5*time.Minute)
}

// The rests of an agent where nobody says when the limit ends, or what was said has proved wrong: the first, doubled
// with each further rejection in a row, and the longest.
const (
	firstRest   = time.Minute
	longestRest = time.Hour
)

// MaxLimit is longer than any usage limit lasts. One that says that it ends later is looked at again then.
const MaxLimit = 8 * 24 * time.Hour

// SpreadOver is how far the agents of a run are spread that go on when a limit ends.
const SpreadOver = time.Minute

// RestUntil is when an agent goes on after its nth rejection in a row. What claude says of the end of a limit counts,
// but for one that has ended and still rejects.
func RestUntil(n int, resets *time.Time, at time.Time) time.Time {
	if resets == nil || !resets.After(at) {
		return at.Add(rest(n))
	}
	until := *resets
	if n > 1 && until.Before(at.Add(rest(n-1))) {
		until = at.Add(rest(n - 1))
	}
	if latest := at.Add(MaxLimit); until.After(latest) {
		return latest
	}
	return until
}

// rest is that after the nth rejection in a row.
func rest(n int) time.Duration { return min(firstRest<<min(n-1, 10), longestRest) }

// Spread returns the moment at which an agent goes on when a limit ends: always the same within the minute after it.
func Spread(until time.Time, agent string) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(agent)) // it never fails
	return until.Add(time.Duration(h.Sum32()%uint32(SpreadOver/time.Millisecond)) * time.Millisecond)
}

// Age is how long an agent waits for a slot until it rises one priority.
const Age = 10 * time.Minute

// Class is the priority of an agent that waits, as it has risen. The root's is the first.
func Class(a *checkpoints.Agent, at time.Time) int {
	return max(task.Rank(a.Priority), 0) - int(max(at.Sub(*a.QueuedAt), 0)/Age)
}

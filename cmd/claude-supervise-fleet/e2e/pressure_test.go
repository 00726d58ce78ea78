package e2e

import (
	"strings"
	"testing"
)

// The usage limit is that of the account: a worker whose run has met it takes no other until it ends, and says so.
func TestAWorkerTakesNoRunWhileItsAccountIsLimited(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one := s.worker("one", "--capacity", "2")
	limited := s.must("run", "--demo", "limit")
	one.says(t, "takes no further runs until")
	l := s.until(limited, "told of it", func(l listed) bool {
		return strings.Contains(strings.Join(l.Notes, "\n"), "its worker one takes no further runs until")
	})
	if l.Worker != "one" && l.ExitCode == nil {
		t.Errorf("it is %+v", l)
	}
	next := s.must("run", "--demo", "ask", "--hold", "0")
	one.says(t, "takes up to 2 runs again")
	s.until(next, "asking after the limit", func(l listed) bool { return len(l.Questions) == 1 })
	s.succeeds(limited)
	s.must("stop", next)
}

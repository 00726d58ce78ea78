package runs

import (
	"testing"
	"time"

	"claude-supervise/supervisor/view"
)

func TestWhatHappenedWhileAPersonWasAwayIsALine(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	begins := "since " + view.Clock(since) + ": "
	for want, a := range map[string]view.Away{
		"3 answered, 1 done ($0.42), 2 wait": {Answered: 3, Done: 1, CostUSD: 0.42, Asked: 1, Waiting: 2},
		"1 done, 1 failed (<$0.01)":          {Done: 1, Failed: 1, CostUSD: 0.001},
		"1 stopped":                          {Stopped: 1},
		"1 answered":                         {Answered: 1, CostUSD: 0.42},
		"1 waits":                            {Asked: 1, Waiting: 1},
	} {
		a.Since = since
		if got := Away(a); got != begins+want {
			t.Errorf("it is %q, want %q", got, begins+want)
		}
	}
	if got := Away(view.Away{Since: since, Waiting: 2}); got != "" {
		t.Errorf("where nothing has happened it is %q", got)
	}
}

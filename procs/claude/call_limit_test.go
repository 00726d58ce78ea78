package claude

import (
	"testing"
	"time"
)

func TestACommandOfABashToolKnowsHowLongItMayRun(t *testing.T) {
	for _, c := range []struct {
		env   []string
		limit time.Duration
		has   bool
	}{
		{[]string{"HOME=/"}, 0, false},
		{[]string{"BASH_DEFAULT_TIMEOUT_MS=1000"}, 0, false},
		{[]string{"CLAUDECODE=1"}, 2 * time.Minute, true},
		{[]string{"CLAUDECODE=1", "BASH_DEFAULT_TIMEOUT_MS=600000"}, 10 * time.Minute, true},
		{[]string{"CLAUDECODE=1", "BASH_DEFAULT_TIMEOUT_MS=-1"}, 2 * time.Minute, true},
		{[]string{"CLAUDECODE=1", "BASH_DEFAULT_TIMEOUT_MS=99999999999999999999"}, 2 * time.Minute, true},
		{[]string{"CLAUDECODE=1", "BASH_DEFAULT_TIMEOUT_MS=much"}, 2 * time.Minute, true},
	} {
		if limit, has := CallLimit(c.env); limit != c.limit || has != c.has {
			t.Errorf("%v: %v, %v", c.env, limit, has)
		}
	}
}

package torture

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// totals counts what happened, over all days.
type totals struct {
	mu    sync.Mutex
	most  int // kills
	kills int
	of    map[string]int
}

// What is counted. The first three are kills.
const (
	killedSupervisor = "supervisors killed"
	killedAgent      = "agents killed"
	killedClient     = "clients killed"
	runs             = "runs"
	stops            = "stops"
	questioned       = "questions"
	answers          = "answers acknowledged"
	changes          = "changes acknowledged"
	messages         = "messages acknowledged"
	tooLate          = "clients too late"
	delivered        = "answers delivered"
	resumes          = "resumes"
	refused          = "resumes refused"
)

var counted = []string{
	killedSupervisor, killedAgent, killedClient, runs, stops, questioned, answers, changes, messages,
	tooLate, delivered, resumes, refused,
}

func newTotals(kills int) *totals { return &totals{most: kills, of: map[string]int{}} }

func (c *totals) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what]++
	switch what {
	case killedSupervisor, killedAgent, killedClient:
		c.kills++
	}
}

// left is how many kills are still to be made.
func (c *totals) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(0, c.most-c.kills)
}

func (c *totals) in(took time.Duration) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d kills in %s, %.1f a second", c.kills, took.Round(time.Second), float64(c.kills)/took.Seconds())
	for _, what := range counted {
		fmt.Fprintf(&b, "\n%8d %s", c.of[what], what)
	}
	return b.String()
}

package e2e

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/messagesapi"
)

// A turn is one whose first answer of the model is held back.
type turn struct {
	*site
	begun, may chan struct{}

	mu    sync.Mutex
	asked int // how often the model was asked for the first answer of the conversation
}

func (h *turn) begins() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// heldTurn returns a fleet whose agents are the real CLI, and a run that is in a turn on worker one.
func heldTurn(t *testing.T, flags ...string) (h *turn, one *process, run string) {
	t.Helper()
	h = &turn{begun: make(chan struct{}, 1), may: make(chan struct{})}
	s, scenario, _ := realSite(t, func(r messagesapi.Request) {
		if !strings.HasPrefix(r.Reply.Text, "I look at what there is first.") {
			return
		}
		h.mu.Lock()
		h.asked++
		h.mu.Unlock()
		select {
		case h.begun <- struct{}{}:
		default:
		}
		<-h.may
	})
	h.site = s
	one = h.worker("one", flags...)
	run = h.plays(scenario, "--lease", "10m")
	select {
	case <-h.begun:
	case <-time.After(patience):
		t.Fatal("no turn begins")
	}
	return h, one, run
}

func (h *turn) endsOnAnotherWorker(run string) {
	h.t.Helper()
	h.worker("two")
	l := h.until(run, "asking", func(l listed) bool { return l.Epoch == 2 && len(l.Questions) == 1 })
	h.must("answer", l.Questions[0].ID, "JWT")
	h.endsInPart(run)
	nothingIsLeft(h.t, run)
}

func TestAWorkerThatLeavesLetsTheTurnEnd(t *testing.T) {
	t.Parallel()
	h, one, run := heldTurn(t, "--leave-within", "10m")
	_ = one.cmd.Process.Signal(syscall.SIGTERM)
	one.says(t, "1 run is handed back")
	close(h.may)
	<-one.done
	nothingIsLeft(t, run)
	h.endsOnAnotherWorker(run)
	if n := h.begins(); n != 1 {
		t.Errorf("the turn was done %d times", n)
	}
}

func TestATurnThatDoesNotEndWhenItsWorkerLeavesIsDoneAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		within string
		again  bool
	}{"for its time is over": {within: "1s"}, "for a person cannot wait": {within: "10m", again: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, one, run := heldTurn(t, "--leave-within", c.within)
			_ = one.cmd.Process.Signal(syscall.SIGTERM)
			one.says(t, "1 run is handed back")
			for left := false; !left; {
				select {
				case <-one.done:
					left = true
				case <-time.After(200 * time.Millisecond):
					if c.again {
						_ = one.cmd.Process.Signal(syscall.SIGTERM)
					}
				}
			}
			nothingIsLeft(t, run)
			close(h.may)
			h.endsOnAnotherWorker(run)
			if n := h.begins(); n != 2 {
				t.Errorf("the turn was done %d times", n)
			}
		})
	}
}

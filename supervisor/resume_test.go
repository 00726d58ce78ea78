package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/task"
)

// A workflow drives a run with stated children, of which each is called by its name.
type workflow struct {
	Story
	names map[string]string // by agent
}

// states tells the beginning of a run that is its children alone, or, with a task, one whose root reads their ends.
func states(t *testing.T, what string, children ...task.Child) *workflow {
	w := &workflow{Story: Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)},
		names: map[string]string{"root": Root}}
	stated := task.Identified(children, checkpoints.NewAgentID)
	for i, c := range children {
		w.names[c.Agent] = stated[i].Agent
	}
	w.Do(Created{
		Run: RunID, Cwd: "/work", Agent: Root, Task: what, Group: what == "", Children: stated,
		Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1, Relaunch: conf.Resume},
	})
	w.Do(Opened{PID: 1, Policy: conf.Ask})
	t.Cleanup(w.folds)
	return w
}

func stated(name, parent string, after ...string) task.Child {
	return task.Child{Agent: name, Parent: parent,
		Work: task.Work{Task: "Do " + name, Said: checkpoints.Delegated{Name: name, After: after}}}
}

func (w *workflow) agent(name string) *Agent { return w.State.Agents.Get(w.names[name]) }

// works plays a launch of an agent to its end, with a report of this status or, where that is "", without one.
func (w *workflow) works(name, status string) {
	w.T.Helper()
	id := w.names[name]
	n := w.State.Launch(id).N
	w.plans("launch " + id)
	w.Do(Started{Agent: id, Launch: n, PID: 100 + n, StartTicks: uint64(n)})
	for _, d := range w.State.FindDeliveries(id, (*checkpoints.Delivery).Undelivered) {
		w.Do(Sent{UUID: d.UUID, Launch: n})
		w.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryStarted})
	}
	w.Do(TurnBegun{Agent: id, Launch: n})
	if status != "" {
		w.Do(SignalRead{Agent: id, Launch: n,
			Named: Named{Signal: signals.Signal{Kind: signals.Completion, AgentID: id, Fields: []signals.Field{
				{Name: "status", Value: status}, {Name: "summary", Value: name + " came to " + status},
			}}}})
	}
	w.Do(TurnEnded{Agent: id, Launch: n})
	for _, d := range w.State.FindDeliveries(id, (*checkpoints.Delivery).WaitsForReceipt) {
		w.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	}
	if status != "" {
		w.Do(Checked{Agent: id})
	}
	w.endsFor(name, Ended{Outcome: "exit 0"})
}

// endsFor plays the end of an agent's process, and what follows it before anything is concluded.
func (w *workflow) endsFor(name string, how Ended) {
	w.T.Helper()
	how.Agent, how.Launch = w.names[name], w.agent(name).Launches
	w.Do(how)
	w.looks()
}

// looks plays what is looked at of processes that have ended before anything is said again.
func (w *workflow) looks() {
	w.T.Helper()
	for _, e := range Plan(w.State) {
		switch e.Do {
		case effect.Confirm:
			w.Do(Confirmed{UUID: e.Delivery})
		case effect.Survey:
			w.Do(Surveyed{Agent: e.Agent, Launch: e.Launch})
		}
	}
}

// triesAgain plays resume --failed.
func (w *workflow) triesAgain() {
	w.T.Helper()
	if keys := w.keys(); len(keys) == 1 && strings.HasPrefix(keys[0], "merge ") {
		w.Do(Merged{})
	}
	w.plans("leave")
	w.Do(Left{})
	w.Do(Opened{PID: 2, Policy: conf.Ask, Failed: true})
	w.looks()
}

// are checks the statuses of agents, given as "NAME STATUS".
func (w *workflow) are(want ...string) {
	w.T.Helper()
	for _, is := range want {
		name, status, _ := strings.Cut(is, " ")
		if a := w.agent(name); string(a.Status) != status {
			w.T.Errorf("%s is %s (%s), want %s", name, a.Status, a.Reason, status)
		}
	}
}

// lastPrompt is the newest text that was said to an agent.
func (w *workflow) lastPrompt(name string) string {
	ds := w.State.FindDeliveries(w.names[name], func(d *Delivery) bool { return d.Tool == nil })
	return ds[len(ds)-1].Text
}

func TestStatedWorkBeginsInItsOrderAndTheRunIsWhatItCameTo(t *testing.T) {
	w := states(t, "", stated("schema", ""), stated("api", "", "schema"), stated("routes", "api"),
		stated("docs", "", "api"))
	w.are("root blocked", "schema starting", "api blocked", "routes blocked", "docs blocked")
	w.works("schema", "success")
	w.are("routes starting", "api blocked", "docs blocked")
	if !strings.Contains(w.lastPrompt("routes"), "schema came to success") {
		t.Error("what stands below an agent is not told of what that comes after")
	}
	w.works("routes", "success")
	w.are("api starting", "docs blocked")
	if !strings.Contains(w.lastPrompt("api"), "routes came to success") {
		t.Error("an agent is not told how what stands below it has ended")
	}
	w.works("api", "partial_success")
	w.works("docs", "success")
	w.are("root partial", "docs succeeded")
	if got := w.State.Agents.Get(Root).Reason; got != "api ("+w.names["api"]+
		"): reported partial success: api came to partial_success" {
		t.Error(got)
	}
}

func TestTheRootReadsHowStatedWorkHasEndedWhetherWellOrNot(t *testing.T) {
	w := states(t, "Put it together", stated("a", ""), stated("b", ""))
	w.are("root blocked")
	w.works("a", "success")
	w.works("b", "failed")
	w.are("root starting")
	for _, said := range []string{"Put it together", "a came to success", "b came to failed"} {
		if !strings.Contains(w.lastPrompt("root"), said) {
			t.Errorf("the root is not told %q", said)
		}
	}
}

func TestWhatComesAfterAFailureCannotBeginAndIsTriedAgainWithIt(t *testing.T) {
	w := states(t, "", stated("a", ""), stated("b", "", "a"), stated("c", ""))
	w.works("c", "success")
	w.works("a", "failed")
	w.are("a failed", "b failed", "c succeeded", "root failed")
	w.triesAgain()
	w.are("a starting", "b blocked", "c succeeded", "root blocked")
	w.plansNot("launch " + w.names["c"])
	if got := w.lastPrompt("a"); !strings.HasPrefix(got,
		"## TRY AGAIN\n\nYour work ended as failed (reported failure: a came to failed).") {
		t.Errorf("it is told:\n%s", got)
	}
	w.works("a", "success")
	w.works("b", "success")
	w.are("root succeeded")
	if w.State.Agents.Get(w.names["c"]).Launches != 1 {
		t.Error("what had succeeded was launched again")
	}
}

func TestTheRootHearsOfWhatWasTriedAgainAndReportsAnew(t *testing.T) {
	w := states(t, "Put it together", stated("a", ""), stated("b", ""))
	w.works("a", "success")
	w.works("b", "")
	w.works("root", "success")
	w.are("b unreported", "root succeeded")
	if code := w.State.ExitCode(); code != exit.Unreported {
		t.Errorf("the run exits %d", code)
	}
	w.triesAgain()
	w.are("a succeeded", "b starting", "root blocked")
	w.plansNot("launch " + Root)
	w.works("b", "success")
	if got := w.lastPrompt("root"); !strings.HasPrefix(got, "## DELEGATED WORK ENDED") ||
		strings.Contains(got, "a came to") {
		t.Errorf("the root is told:\n%s", got)
	}
	w.works("root", "success")
	w.are("root succeeded")
	if code := w.State.ExitCode(); code != exit.Success {
		t.Errorf("the run exits %d", code)
	}
}

func TestATryThatFailsAgainCanBeTriedOnceMore(t *testing.T) {
	w := states(t, "", stated("a", ""))
	w.works("a", "failed")
	for range 3 {
		w.triesAgain()
		w.works("a", "failed")
		w.are("root failed")
	}
	if got := w.agent("a").Launches; got != 4 {
		t.Errorf("it was launched %d times", got)
	}
}

func TestOptionalAndStoppedAndPartialWorkIsNotTriedAgain(t *testing.T) {
	optional := stated("optional", "")
	optional.Said.Independence = checkpoints.Optional
	w := states(t, "", optional, stated("partial", ""), stated("stopped", ""))
	w.works("optional", "failed")
	w.works("partial", "partial_success")
	w.Notes(InboxEntry{Kind: EntryStop, Agent: w.names["stopped"]})
	w.endsFor("stopped", Ended{Outcome: "killed"})
	w.are("root stopped")
	if w.State.Retries() {
		t.Error("there is something to try again")
	}
	w.triesAgain()
	w.are("optional failed", "partial partial", "stopped stopped", "root stopped")
}

func TestAWorkThatNeverBeganIsTriedAgainWithoutAWordOfIt(t *testing.T) {
	w := states(t, "", stated("a", ""))
	w.endsFor("a", Ended{Failure: procs.Failure{Kind: procs.NotStarted, Reason: "it is not there"}})
	w.are("a failed", "root failed")
	w.triesAgain()
	w.are("a starting")
	if got := w.lastPrompt("a"); !strings.Contains(got, "## YOUR TASK\n\nDo a") {
		t.Errorf("it is told:\n%s", got)
	}
}

func TestAPolicyWithinAnotherIsTheStricterForEachDepth(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"auto", "ask", "ask"}, {"ask", "auto", "ask"}, {"auto", "auto,deny", "auto,deny"},
		{"auto,ask", "ask,auto", "ask,ask"}, {"deny", "auto,auto", "deny,deny"},
	} {
		a, _ := conf.ParseDelegates(c.a)
		b, _ := conf.ParseDelegates(c.b)
		want, _ := conf.ParseDelegates(c.want)
		if got := a.Within(b); !slices.Equal(got, want) {
			t.Errorf("%s within %s is %v", c.a, c.b, got)
		}
	}
	if got := (conf.Delegates)(nil).Within(nil); !slices.Equal(got, conf.Delegates{conf.AskDelegations}) {
		t.Errorf("nothing within nothing is %v", got)
	}
}

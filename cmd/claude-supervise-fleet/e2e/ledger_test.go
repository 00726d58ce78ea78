package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/e2e/sample"
	"claude-supervise/procs/stream"
	"claude-supervise/supervisor/exit"
)

// The ledger of a fleet: runs that ask three times each, people who answer by commands, and workers that are killed,
// stand still, leave and are deleted at random moments (ledger_blows_test.go). What the people were told
// (ledger_people_test.go) is held against what the agents wrote down (ledger_agent_test.go): both lie outside of the fleet.
//
//	CLAUDE_SUPERVISE_TEST_RUNS=10     how many runs
//	CLAUDE_SUPERVISE_TEST_KILLS=20    how many blows to workers; runs are handed in as they fall
//	CLAUDE_SUPERVISE_TEST_SEED=1      which of them, and when
//
//	CLAUDE_SUPERVISE_TEST_MINUTES=0   after so many no run and no blow is begun any more; 0: until all are
//
// make fleet-ledger has more of them. The seed makes the plan, not what the machine makes of it: blows wait for the
// runs to get ahead, and whoever is told that the server is too busy tries again.
func TestEachAnswerIsDeliveredOnceWhateverBefallsTheWorkers(t *testing.T) {
	t.Parallel()
	l := newLedger(t, sample.Number(t, "CLAUDE_SUPERVISE_TEST_SEED", 1))
	runs, most := sample.Number(t, "CLAUDE_SUPERVISE_TEST_RUNS", 10), sample.Number(t, "CLAUDE_SUPERVISE_TEST_KILLS", 20)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute+time.Duration(most)*10*time.Second)
	defer cancel()
	begins := ctx
	if minutes := sample.Number(t, "CLAUDE_SUPERVISE_TEST_MINUTES", 0); minutes > 0 {
		begins, cancel = context.WithTimeout(ctx, time.Duration(minutes)*time.Minute)
		defer cancel()
	}
	b := &blows{site: l.site, seed: l.seed, most: most, of: map[blow]int{}}
	b.may = func(made int) bool { return made*runs*len(asked) <= most*(l.acknowledged()+4*len(asked)) }
	for i := range 4 {
		w := &struck{name: fmt.Sprintf("w%d", i+1)}
		if err := b.starts(w, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		b.workers = append(b.workers, w)
	}
	began, asking, answered := time.Now(), make(chan struct{}), make(chan struct{})
	asks, enough := context.WithCancel(ctx)
	defer enough()
	go func() { defer close(answered); l.answers(asks) }()
	go func() { defer close(asking); b.strikes(begins) }()
	for i := range runs {
		for b.made() < most && (i-5)*most > runs*b.made() && pause(begins, 100*time.Millisecond) {
		}
		if begins.Err() != nil {
			break
		}
		l.lays("--hold", holds[i%len(holds)])
	}
	<-asking
	ended := l.ended(ctx)
	took := time.Since(began)
	enough()
	<-answered
	for _, w := range b.workers {
		l.leaves(w)
	}
	heardOnce := l.check(ended)
	t.Logf("seed %d: %d runs, %d blows in %s, %d of them on a worker with runs: %v; %d questions, %d answers delivered",
		l.seed, len(l.ids), b.made(), took.Round(time.Second), b.onRun, b.of, len(l.questions), heardOnce)
}

// holds are how long a question is held before its run is parked.
var holds = []string{"forever", "0", "400ms"}

// A ledger is what is written down outside of the fleet.
type ledger struct {
	people
	folder string // of the agents
	ids    []string
	unsure int // runs whose hand-in the server was too busy to acknowledge: it may have them or not
}

func newLedger(t *testing.T, seed int) *ledger {
	t.Helper()
	folder, err := os.MkdirTemp("", "fleet-ledger")
	if err != nil {
		t.Fatal(err)
	}
	agent, err := agentOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the agents wrote down is kept in %s", folder)
		} else if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	l := &ledger{folder: folder, people: people{site: newSite(t), seed: uint64(seed), questions: map[string]*question{}}}
	l.more = func(string) []string { return []string{"CLAUDE_SUPERVISE_CLAUDE=" + agent} }
	return l
}

// lays hands in a run whose agent is one of the ledger.
func (l *ledger) lays(flags ...string) string {
	l.t.Helper()
	args := append(append([]string{"run", "--lease", ledgerLease.String(), "--retries", "100"}, flags...),
		laying("").Name, "--", "--allowedTools", "Bash")
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) {
		code, run, said := l.says(args...)
		switch {
		case code == 0:
			l.ids = append(l.ids, strings.TrimSpace(run))
			return strings.TrimSpace(run)
		case !tooBusy.MatchString(said) || time.Now().After(deadline):
			l.t.Fatalf("%q exits %d: %s", args, code, said)
		}
		l.unsure++
	}
}

// ended waits until all runs have ended, and gives them.
func (l *ledger) ended(ctx context.Context) map[string]listed {
	l.t.Helper()
	for {
		var all []listed
		out := l.reads("ps", "-a", "--json", "--limit", "0")
		if err := json.Unmarshal([]byte(out), &all); err != nil {
			l.t.Fatal(err)
		}
		ended := map[string]listed{}
		for _, r := range all {
			if !slices.Contains(l.ids, r.ID) && l.unsure > 0 {
				l.ids, l.unsure = append(l.ids, r.ID), l.unsure-1
			}
			if r.EndedAt != nil {
				ended[r.ID] = r
			}
		}
		switch {
		case len(ended) == len(l.ids):
			return ended
		case !pause(ctx, time.Second):
			l.t.Errorf("%d of %d runs have ended: %s", len(ended), len(l.ids), out)
			return ended
		}
	}
}

// leaves ends a worker. It leaves no run and no process of one behind.
func (l *ledger) leaves(w *struck) {
	l.t.Helper()
	if err := w.p.cmd.Process.Signal(os.Interrupt); err != nil {
		l.t.Errorf("%s has ended: %v: %s", w.name, err, w.p.said)
		return
	}
	select {
	case <-w.p.done:
	case <-time.After(patience):
		l.t.Errorf("%s does not leave: %s", w.name, w.p.said)
	}
	if still, err := os.ReadDir(w.p.runsOf()); err != nil || len(still) > 0 {
		l.t.Errorf("%s keeps runs: %v: %v", w.name, err, still)
	}
}

var whoReports = regexp.MustCompile(`all is laid, says (zw[a-z]+)`)

// check holds what people were told against what the agents wrote down, and gives how many answers were delivered.
func (l *ledger) check(ended map[string]listed) int {
	l.t.Helper()
	l.checkHeard()
	delivered := 0
	for _, run := range l.ids {
		var of []*question
		for _, q := range l.questions {
			if q.run == run {
				of = append(of, q)
			}
		}
		r := ended[run]
		if r.Status != "succeeded" || r.ExitCode == nil || *r.ExitCode != exit.Success {
			l.t.Errorf("%s is %s: %s, notes %q, questions %d", run, r.Status, r.Reason, r.Notes, len(of))
			continue
		}
		if len(of) != len(asked) {
			l.t.Errorf("%s has asked %d questions, not %d: %q", run, len(of), len(asked), r.Notes)
		}
		name := whoReports.FindStringSubmatch(l.reads("show", run, "--json"))
		if name == nil {
			l.t.Errorf("%s has no report of a process", run)
			continue
		}
		delivered += l.checkConversation(run, name[1], of)
		if left := left(run); len(left) > 0 {
			l.t.Errorf("of %s is left: %v", run, left)
		}
	}
	l.checkEnds()
	return delivered
}

// checkHeard checks that no process of any agent was told an answer that did not win its question.
func (l *ledger) checkHeard() {
	l.t.Helper()
	won := map[string]string{}
	for _, q := range l.questions {
		if token := q.winner(); token != "" {
			won[token] = q.run
		} else {
			l.t.Errorf("%s of %s has no answer: %+v", q.id, q.run, *q.tries[0])
		}
		for _, t := range q.tries {
			if t.token != q.winner() && (t.outcome != refused || !strings.Contains(t.said, q.winner())) {
				l.t.Errorf("%s of %s: who answered too late is told (%s): %s", q.id, q.run, t.outcome, t.said)
			}
		}
	}
	heard, err := os.ReadFile(filepath.Join(l.folder, "heard"))
	if err != nil {
		l.t.Error(err)
	}
	for line := range strings.Lines(string(heard)) {
		words := strings.Fields(line)
		if len(words) != 4 || won[words[2]] != words[0] {
			l.t.Errorf("an agent was told %q, which is no answer that won", line)
		}
	}
}

// checkConversation checks that the conversation that led to the result has each answer once, and that each board was
// laid once in its folder.
func (l *ledger) checkConversation(run, name string, of []*question) (delivered int) {
	l.t.Helper()
	content, err := os.ReadFile(filepath.Join(l.folder, name+".jsonl"))
	done, err2 := os.ReadFile(filepath.Join(l.folder, name+".done"))
	if err != nil || err2 != nil {
		l.t.Error(err, err2)
		return 0
	}
	for _, q := range of {
		told := map[string]bool{} // a message is one, however often its line was written
		for line := range bytes.Lines(content) {
			var e struct {
				Type, UUID string
				Message    struct{ Content stream.Content }
			}
			if json.Unmarshal(line, &e) == nil && e.Type == "user" && bytes.Contains(line, []byte(q.winner())) {
				told[e.UUID] = true
			}
		}
		if len(told) == 1 {
			delivered++
		} else {
			l.t.Errorf("the answer %s to %s of %s stands in its conversation %d times (%s)", q.winner(), q.id, run, len(told),
				name)
		}
	}
	if string(done) != "board-1\nboard-2\nboard-3\n" {
		l.t.Errorf("%s has done %q", run, done)
	}
	return delivered
}

// checkEnds checks that the server knows of one end of each run.
func (l *ledger) checkEnds() {
	l.t.Helper()
	dev := l.server()
	client, err := l.dials(sdk.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	defer client.Close()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // lists follow what they list
		n, err := client.CountWorkflow(l.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: dev.Namespace, Query: "ExecutionStatus = 'Completed'"})
		if err == nil && n.GetCount() == int64(len(l.ids)) {
			return
		}
		if time.Now().After(deadline) {
			l.t.Errorf("%d runs have %d ends: %v", len(l.ids), n.GetCount(), err)
			return
		}
	}
}

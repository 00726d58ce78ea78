package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// snapshotted lets a test wait for the first snapshots of a run.
func (w *world) snapshotted() <-chan struct{} {
	taken := make(chan struct{}, 64)
	w.watches(func(_ int, p pass) {
		if p.point == "after save snapshotted" {
			taken <- struct{}{}
		}
	})
	return taken
}

// A supervisor that stands still loses its run to who goes on from a snapshot: when it moves again it ends its agents,
// says so, and delivers nothing, not even an answer that was acknowledged meanwhile.
func TestARunIsTakenOverWhileItsSupervisorStandsStill(t *testing.T) {
	t.Parallel()
	eachThatMoves(t, func(t *testing.T, agent func(*world) (*world, examples.Scenario)) {
		here, s := agent(newWorld(t))
		dir := t.TempDir()
		taken := here.snapshotted()
		run := here.start(here.runArgs(s, "--snapshots", dir, "--hold", "forever", "--on-question", "ask")...)
		question := run.until("question").Question.ID
		<-taken
		id := here.ps().ID

		run.standsStill()
		here.must("answer", question, "Sessions")
		there := here.elsewhere()
		there.Cwd = filepath.Join(t.TempDir(), "there")
		noError(t, os.MkdirAll(there.Cwd, 0o700))
		lacksNone(t, "unpack", there.must("unpack", filepath.Join(dir, id)), "It is taken over (epoch 2)")
		noError(t, run.cmd.Process.Signal(syscall.SIGCONT))

		here.ends(run, 1)
		var said strings.Builder
		for _, e := range run.seen {
			said.WriteString(e.Text + "\n")
		}
		lacksNone(t, "what the old supervisor says", said.String(), "the run continues elsewhere",
			"the answer to "+question+" (Sessions) came after the last snapshot and does not count there")
		code, _, stderr := here.run("resume", id)
		if code != 1 || !strings.Contains(stderr, "continues where that file is unpacked") {
			t.Errorf("resume exits %d: %s", code, stderr)
		}
		there.must("answer", question, "JWT")
		next := there.start(append([]string{"resume", id, "--on-question", "ask", "--"}, s.ClaudeFlags...)...)
		if here.API != nil {
			there.must("answer", next.until("question").Question.ID, "a day")
		}
		there.ends(next, map[bool]int{false: 0, true: 3}[here.API != nil]) // the scripted model does not move with the run
		told := there.got(filepath.Join(there.Home, ".local/state/claude-supervise/runs", id, there.ps().Agents[0].ID+".jsonl"))
		lacksNone(t, "what the agent is told", told, "## MOVED", "JWT")
		if here.API != nil {
			return
		}
		if got := there.got("auth.txt"); got != "login by JWT\n" {
			t.Errorf("there the work is %q", got)
		}
		if _, err := os.Lstat(filepath.Join(here.Cwd, "auth.txt")); err == nil {
			t.Error("the agent of the old supervisor went on")
		}
	})
}

// A machine that comes back learns that its run goes on elsewhere: it ends what is left of it, says which answers do not
// count there, and takes none any more.
func TestAMachineThatComesBackLearnsThatItsRunGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	here := newWorld(t).standIn(load(t, "ask"))
	dir := t.TempDir()
	taken := here.snapshotted()
	run := here.start("run", "--cwd", ".", "--demo", "ask", "--snapshots", dir, "--hold", "forever",
		"--on-question", "ask")
	question := run.until("question").Question.ID
	<-taken
	noError(t, run.cmd.Process.Kill())
	run.wait()
	id := here.ps().ID
	here.must("answer", question, "Sessions")
	there := here.elsewhere()
	there.must("unpack", filepath.Join(dir, id))

	code, _, said := here.run("resume", id)
	if code != 1 {
		t.Errorf("resume exits %d", code)
	}
	lacksNone(t, "resume", said, "the run continues elsewhere", "the answer to "+question+" (Sessions) came after the last "+
		"snapshot and does not count there", "Its agents here were ended", "claude-supervise unpack "+filepath.Join(dir, id))
	if r := here.ps(); r.Agents[0].Launches != 1 || !strings.Contains(r.Reason, "continues elsewhere") {
		t.Errorf("it is %+v", r)
	}
	for _, args := range [][]string{{"answer", question, "--change", "JWT"}, {"resume", id}} {
		if code, _, said := here.run(args...); code != 1 || !strings.Contains(said, "continues") {
			t.Errorf("%v exits %d: %s", args, code, said)
		}
	}
	if open := there.questions(); len(open) != 1 || open[0].ID != question {
		t.Errorf("elsewhere open are %+v", open)
	}
}

// A run in the middle of a turn is packed when that has ended, or at once, and goes on.
func TestARunThatGoesOnIsPackedAtTheEndOfItsTurnOrAtOnce(t *testing.T) {
	t.Parallel()
	here := newWorld(t)
	here.script("[ $n = 1 ] && { echo begun > begun; read go < fifo; echo more > more; }\n" +
		asksIn(asksTheColour))
	fifo := filepath.Join(here.Cwd, "fifo")
	noError(t, syscall.Mkfifo(fifo, 0o600))
	run := here.starts()
	run.until("agent_started")
	id := here.ps().ID
	out := t.TempDir()
	at := func(name string) string { return filepath.Join(out, name) }

	lacksNone(t, "pack --now", here.must("pack", id, "--now", "-o", at("now.tgz")), id+" continues here",
		"in the middle of a turn", "neither file nor folder", "claude-supervise stop "+id)
	var turn sync.WaitGroup
	var told string
	asked := make(chan struct{})
	here.watches(func(_ int, p pass) {
		if p.point == "after note snapshot" {
			close(asked)
		}
	})
	turn.Go(func() { told = here.must("pack", id, "-o", at("turn.tgz")) })
	<-asked
	if _, err := os.Lstat(at("turn.tgz")); err == nil {
		t.Error("it does not wait for the end of the turn")
	}
	noError(t, os.WriteFile(fifo, []byte("go\n"), 0o600))
	question := run.until("question").Question.ID
	turn.Wait()
	if strings.Contains(told, "in the middle of a turn") {
		t.Errorf("it was not at the end of the turn: %s", told)
	}
	there := here.elsewhere()
	there.must("unpack", at("turn.tgz"))
	if got := there.got("more"); got != "more\n" || len(there.questions()) != 1 {
		t.Errorf("the end of the turn is not in it: %q, %v", got, there.questions())
	}
	here.must("answer", question, "this")
	here.ends(run, 0)
}

// The real CLI is packed in the middle of a turn, and goes on here: elsewhere that turn is done again.
func TestARunOfTheRealCLIIsPackedAtOnceInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("testdata/ci/scenario.yaml")
	noError(t, err)
	asked, goes := make(chan struct{}, 64), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(goes) })
	here := newWorld(t).real(s, func(messagesapi.Request) {
		asked <- struct{}{}
		<-goes
	})
	t.Cleanup(goOn)
	run := here.start(here.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
	select {
	case <-asked: // the model is asked, and does not answer yet
	case <-run.ended: // as where the machine is so busy that claude does not start in time
		t.Fatalf("it ended before the model was asked:\n%s", run.stderr)
	}
	id, file := here.ps().ID, filepath.Join(t.TempDir(), "now.tgz")
	lacksNone(t, "pack --now", here.must("pack", id, "--now", "-o", file), id+" continues here", "in the middle of a turn")
	there := here.elsewhere()
	there.Cwd = filepath.Join(t.TempDir(), "there")
	noError(t, os.MkdirAll(there.Cwd, 0o700))
	lacksNone(t, "unpack", there.must("unpack", file), "A turn of", "it is done again")

	goOn()
	first := run.until("question").Question
	here.must("stop", id)
	if code := run.wait(); code != 5 {
		t.Fatalf("here it exits %d: %s", code, run.stderr)
	}
	next := there.start(append([]string{"resume", id, "--on-question", "ask", "--"}, s.ClaudeFlags...)...)
	if again := next.until("question").Question; again.Question != first.Question || again.ID == first.ID {
		t.Errorf("there it asks %+v, here it asked %+v", again, first)
	}
	there.must("stop", id)
	if code := next.wait(); code != 5 {
		t.Fatalf("there it exits %d: %s", code, next.stderr)
	}
}

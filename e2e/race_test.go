package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"claude-supervise/e2e/machine"
)

// rounds is how often a race is run: the clients start together, and who comes first is left to the machine.
const rounds = 20

// A said is what a command came to.
type said struct {
	code           int
	stdout, stderr string
}

// atOnce runs commands at the same time, to their ends.
func (w *world) atOnce(commands ...[]string) []said {
	w.t.Helper()
	all := make([]said, len(commands))
	var ends sync.WaitGroup
	for i, args := range commands {
		ends.Go(func() { all[i].code, all[i].stdout, all[i].stderr = w.run(args...) })
	}
	ends.Wait()
	return all
}

func TestOfTwoResumesAtOnceOneSupervisesAndTheOtherIsTold(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	for range rounds / 4 {
		w := newWorld(t).standIn(s)
		id, question := w.parked(s)
		resumes := []*supervised{
			w.start("resume", id, "--on-question", "ask"),
			w.start("resume", id, "--on-question", "ask"),
		}
		var winner, loser *supervised
		select { // who does not supervise ends; who does waits for the answer
		case <-resumes[0].ended:
			loser, winner = resumes[0], resumes[1]
		case <-resumes[1].ended:
			loser, winner = resumes[1], resumes[0]
		}
		if code := loser.wait(); code != 1 || len(loser.seen) > 0 ||
			!strings.Contains(loser.stderr.String(), "another process supervises it") {
			t.Fatalf("the other exits %d, after %s: %s", code, loser.types(), loser.stderr)
		}
		winner.until("question")
		w.must("answer", question, answerTo(t, s, "way of login"))
		finishes(t, w, s, winner)
		w.deliveredOnce("## CLARIFICATION RESPONSE")
		if n := winner.count("run_done"); n != 1 {
			t.Errorf("the run ended %d times: %s", n, winner.types())
		}
	}
}

// Whoever comes first: the run ends by the one or by the other, and what the two clients are told is so.
func TestAStopAndAnAnswerAtOnceEndTheRunByOneOfThem(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	ends := map[string]int{}
	for range rounds {
		w := newWorld(t).standIn(s)
		run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
		q := run.until("question").Question
		told := w.atOnce([]string{"stop", q.Run}, []string{"answer", q.ID, "JWT"})
		stop, answer := told[0], told[1]
		code, now := run.wait(), w.ps()
		ends[now.Status]++

		switch {
		case code == 5 && now.Status == "stopped":
		case code == 0 && now.Status == "succeeded":
		default:
			t.Errorf("exit %d, and the run is %s: %s\n%s", code, now.Status, now.Reason, run.stderr)
		}
		switch {
		case stop.code == 0 && strings.Contains(stop.stdout, "is being stopped") && code == 5:
		case stop.code == 0 && strings.Contains(stop.stdout, "has already ended") && code == 0:
		// by stop itself, after the other had left
		case stop.code == 0 && strings.Contains(stop.stdout, "is stopped") && code == 5:
		default:
			t.Errorf("the run exits %d; stop exits %d: %s%s", code, stop.code, stop.stdout, stop.stderr)
		}
		kept := parse[struct{ Questions []questionView }](t, w.must("show", q.Run, "--json")).Questions[0]
		switch {
		case answer.code == 0 && strings.Contains(answer.stdout, "answered: JWT") && kept.Answer != nil &&
			*kept.Answer == "JWT":
		case answer.code == 1 && strings.Contains(answer.stderr, "withdrawn") && kept.State == "withdrawn" && code == 5:
		default:
			t.Errorf("the question is %+v; answer exits %d: %s%s", kept, answer.code, answer.stdout, answer.stderr)
		}
		if left := machine.Marked(q.Run); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
	}
	t.Logf("the ends: %v", ends)
}

// mended is an agent whose key is not known, until that is mended: then it works and works.
const mended = `#!/bin/sh
[ -e mended ] && exec sleep 86399
exec claude-supervise stand-in login "$@"
`

// A run that failed can be forgotten, or taken up again: never both, and never half.
func TestAPruneAndAResumeAtOnceLeaveTheRunWholeOrGone(t *testing.T) {
	t.Parallel()
	ends := map[string]int{}
	for round := range rounds {
		w := newWorld(t)
		agent := filepath.Join(w.Home, "claude")
		noError(t, os.WriteFile(agent, []byte(mended), 0o700))
		w.exits(1, "run", "--claude", agent, "Write a poem")
		noError(t, os.WriteFile(filepath.Join(w.Cwd, "mended"), nil, 0o600))
		id := w.ps().ID
		resume := w.start("resume", id)
		if round%4 == 0 {
			resume.until("run_started") // else prune, which has less to do, is the first nearly always
		}
		code, stdout, stderr := w.run("prune", id)
		switch {
		case code == 0 && strings.Contains(stdout, id+" deleted"):
			ends["deleted"]++
			if code := resume.wait(); code != 2 || !strings.Contains(resume.stderr.String(), "no run, agent or question") {
				t.Errorf("the run is forgotten; resume exits %d: %s", code, resume.stderr)
			}
			if left := w.theRun(); left != nil {
				t.Errorf("the run is forgotten, and shown: %+v", left)
			}
			if _, err := os.Stat(filepath.Join(w.Home, ".local", "state", "claude-supervise", "runs", id)); err == nil {
				t.Errorf("the run is forgotten, and its folder is left; resume says: %s", resume.stderr)
			}
		case code == 1 && strings.Contains(stdout, id+" kept: "):
			ends["kept"]++
			w.must("stop", id)
			if code := resume.wait(); code != 5 || w.ps().Status != "stopped" {
				t.Errorf("the run is kept, and is %s; resume exits %d: %s", w.ps().Status, code, resume.stderr)
			}
		default:
			t.Errorf("prune exits %d: %s%s", code, stdout, stderr)
			continue
		}
		if left := machine.Marked(id); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
	}
	t.Logf("the ends: %v", ends)
}

// A hundred supervisors begin at once where there was no database yet.
func TestAHundredSupervisorsShareOneFreshDatabase(t *testing.T) {
	t.Parallel()
	s := load(t, "unreported")
	w := newWorld(t).standIn(s)
	runs := 100
	if testing.Short() {
		runs = 30
	}
	var all errgroup.Group
	for range runs {
		all.Go(func() error {
			if code, _, stderr := w.run(w.runArgs(s)...); code != s.Expect.ExitCode {
				t.Errorf("exit %d: %s", code, stderr)
			}
			return nil
		})
	}
	_ = all.Wait() // each tells by the test
	found := parse[[]runView](t, w.must("ps", "-a", "--json"))
	if len(found) != runs {
		t.Errorf("there are %d runs", len(found))
	}
	for _, r := range found {
		if r.Status != s.Expect.Status || r.ExitCode == nil || *r.ExitCode != s.Expect.ExitCode {
			t.Errorf("%s is %s: %s", r.ID, r.Status, r.Reason)
		}
	}
}

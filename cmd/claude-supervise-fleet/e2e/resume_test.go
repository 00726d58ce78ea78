package e2e

import (
	"strings"
	"sync"
	"testing"
)

func TestWhatHasFailedIsTriedAgainByOneOfThoseWhoWantIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.must("run", "--demo", "failed-report")
	s.ends(run, 1)
	before := s.until(run, "ended", func(l listed) bool { return l.ExitCode != nil })
	if code, _, said := s.says("resume", run); code != 1 || !strings.Contains(said, "resume --failed "+run) {
		t.Errorf("resume of a run that has failed exits %d: %s", code, said)
	}
	var all sync.WaitGroup
	codes, words := make([]int, 3), make([]string, 3)
	for i := range codes {
		all.Go(func() {
			var err error
			if codes[i], _, words[i], err = s.runs("resume", "--failed", run, "--max-turns", "50"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	won := 0
	for i, code := range codes {
		switch {
		case code == 0:
			won++
		case code == 1 && (strings.Contains(words[i], "begun again by somebody else") ||
			strings.Contains(words[i], "has not ended")): // it came late
		default:
			t.Errorf("it exits %d: %s", code, words[i])
		}
	}
	if won != 1 {
		t.Errorf("%d of those who want it tried again are told that it is: %q", won, words)
	}
	// The scenario has no more to say: it ends once more, in the next epoch, and in the same conversation.
	l := s.until(run, "ended again", func(l listed) bool { return l.ExitCode != nil && l.Epoch > before.Epoch })
	if l.Epoch != before.Epoch+1 {
		t.Errorf("after epoch %d it has %d", before.Epoch, l.Epoch)
	}
	if shown := s.must("show", run); !strings.Contains(shown, "Launches     2\n") {
		t.Errorf("it is shown as %s", shown)
	}

	done := s.must("run", "--demo", "ask", "--answer", "login=JWT")
	s.succeeds(done)
	for _, args := range [][]string{{"resume", done}, {"resume", "--failed", done}} {
		if code, _, said := s.says(args...); code != 1 || !strings.Contains(said, "nothing") {
			t.Errorf("%q of a run that has succeeded exits %d: %s", args, code, said)
		}
	}
}

func TestAStoppedRunGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.must("run", "--demo", "ask", "--hold", "0")
	l := s.until(run, "parked", listed.parked)
	if code, _, said := s.says("resume", run); code != 75 || !strings.Contains(said, "answer "+l.Questions[0].ID) {
		t.Errorf("resume of a parked run exits %d: %s", code, said)
	}
	s.must("stop", run) // no worker has it
	s.ends(run, 5)
	if code, _, said := s.says("resume", "--failed", run); code != 1 || !strings.Contains(said, "nothing in "+run) {
		t.Errorf("resume --failed of a stopped run exits %d: %s", code, said)
	}
	if out := s.must("resume", "--json", run); !strings.Contains(out, `"id":"`+run+`"`) {
		t.Errorf("resume --json prints %s", out)
	}
	again := s.until(run, "parked again", listed.parked)
	s.must("answer", again.Questions[0].ID, "JWT")
	s.succeeds(run)
}

// A command in claude's place is the task's, so each worker that goes on with the run has it again.
func TestACommandInClaudesPlaceGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.must("run", "--hold", "0", "--exec", `sh -c 'if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then `+
		`echo "it is $CLAUDE_SUPERVISE_ANSWER"; else echo "AWAITING_CLARIFICATION: which colour?"; fi'`, "paint it")
	l := s.until(run, "asking or ended", func(l listed) bool { return l.ExitCode != nil || l.Status == "parked" })
	if len(l.Questions) != 1 {
		t.Fatalf("it is %+v: %s", l, s.must("logs", run))
	}
	s.must("answer", l.Questions[0].ID, "green")
	end := s.until(run, "ended", func(l listed) bool { return l.ExitCode != nil })
	if said := s.must("logs", run); !strings.Contains(said, "it is green") {
		t.Errorf("it ends as %+v, and says %s", end, said)
	}
}

// What a person has answered in advance answers wherever the run is: with a flag, or in the task file.
func TestAnswersInAdvanceAnswerElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	task := s.file("paint.yaml", []byte("prompt: paint it\nanswers: {which shape: round}\n"))
	run := s.must("run", "--hold", "0", "--answer", "which size=large", "--retries", "5", "-f", task, "--exec",
		`sh -c 'case "$CLAUDE_SUPERVISE_ANSWER" in `+
			`"") echo "AWAITING_CLARIFICATION: which colour?";; `+
			`green) echo "AWAITING_CLARIFICATION: which size?";; `+
			`large) echo "AWAITING_CLARIFICATION: which shape?";; `+
			`*) echo "it is $CLAUDE_SUPERVISE_ANSWER";; esac'`)
	l := s.until(run, "parked", listed.parked)
	s.must("answer", l.Questions[0].ID, "green") // the next epoch goes on from a snapshot
	s.ends(run, 6)                               // a command reports nothing
	said := s.must("logs", run)
	for _, want := range []string{"it is round", "answer KEY", "the task file"} {
		if !strings.Contains(strings.ReplaceAll(said, "--answer which size", "answer KEY"), want) {
			t.Errorf("its log lacks %q: %s", want, said)
		}
	}
	end := s.until(run, "ended", func(l listed) bool { return l.ExitCode != nil })
	if end.Epoch != 2 || len(end.Notes) > 0 {
		t.Errorf("it ends in epoch %d, with the notes %q", end.Epoch, end.Notes)
	}
}

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	procs "claude-supervise/procs/claude"
	"claude-supervise/supervisor/view"
)

// left is what a run and all conversations are by now: its records, and the files by their paths.
func (w *world) left(run string) map[string]string {
	w.t.Helper()
	all := map[string]string{"records": w.must("show", run, "--json")}
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		all[path] = string(text)
	}
	return all
}

// untouched checks that all that was left is as it was.
func (w *world) untouched(run string, before map[string]string) {
	w.t.Helper()
	after := w.left(run)
	for what, was := range before {
		if after[what] != was {
			w.t.Errorf("%s has changed:\n%s\n---\n%s", what, was, after[what])
		}
	}
}

// again answers a question differently, and returns the new run.
func (w *world) again(question, answer string) (run string) {
	w.t.Helper()
	return strings.TrimSpace(w.must("answer", "--again", question, answer))
}

// forkOf returns a run among all.
func (w *world) forkOf(run string) view.RunView {
	w.t.Helper()
	all := parse[[]view.RunView](w.t, w.must("ps", "-a", "--json"))
	i := slices.IndexFunc(all, func(r view.RunView) bool { return r.ID == run })
	if i < 0 {
		w.t.Fatalf("there is no run %s", run)
	}
	return all[i]
}

// asksAgain waits for the open question of a run.
func (w *world) asksAgain(run string) (question string) {
	w.t.Helper()
	waitUntil(w.t, run+" asks", func() bool {
		if open := w.forkOf(run).OpenQuestions; len(open) > 0 {
			question = open[0]
		}
		return question != ""
	})
	return question
}

// plays asks, has its questions answered, and gives the first two.
func (w *world) playsForks(flags ...string) (run string, questions []string) {
	w.t.Helper()
	w.writes("mine", "at Black")
	started := w.start(w.runArgs(load(w.t, w.scenario(placed)), append(flags, "--on-question", "ask", "--allow", "Bash")...)...)
	for _, answer := range []string{"Black", "Red"} {
		q := started.until("question").Question
		questions = append(questions, q.ID)
		w.must("answer", q.ID, answer)
		waitUntil(w.t, "it has the answer", func() bool {
			return strings.Contains(w.must("show", q.ID, "--json"), `"delivered"`)
		})
		w.writes("mine", "after "+answer)
	}
	started.exits(0)
	return w.ps().ID, questions
}

// A question that was answered is answered differently in a new run: from its call on, with the other answer as that
// call's result, in a worktree with the work as it was then. The first run and its conversation stay as they are.
func TestAQuestionIsAnsweredDifferentlyLater(t *testing.T) {
	t.Parallel()
	inPlace := procs.ReleaseOf(procs.InstalledRelease(claude.Program(t))).AnswersInPlace // else it is restated
	for _, name := range sample.Pick(t.Name(), []string{"held", "parked"}) {
		flags := map[string][]string{"held": {"--hold", "forever"}, "parked": {"--hold", "0"}}[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests bodies
			w := newWorld(t)
			w.real(load(t, w.scenario(placed+restatedTurns)), requests.take)
			w.inGit()
			run, asked := w.playsForks(flags...)
			before := w.left(run)
			held := len(requests.all)
			fork := w.again(asked[0], "White")
			second := w.asksAgain(fork)
			w.must("answer", second, "Green")
			w.exits(0, "wait", fork, "--timeout", "60s")
			w.untouched(run, before)
			if n := len(requests.all) - held; n != 4 && inPlace {
				t.Errorf("the fork made %d requests", n)
			}
			first := requests.plain(t, w, held)
			if !strings.Contains(first, "White") || inPlace && !strings.Contains(first, `\"Which ground?\"=\"White\"`) ||
				strings.Contains(first, `=\"Black`) || strings.Contains(first, "Which accent?") {
				t.Errorf("the fork began with:\n%s", first)
			}
			r := w.forkOf(fork)
			if r.Status != "succeeded" || r.Forked == nil || r.Forked.Run != run || r.Forked.Question != asked[0] {
				t.Errorf("the fork is %+v", r)
			}
			tree := r.Agents[0].Cwd
			for file, want := range map[string]string{"mine": "at Black", "effects": "beside\nafter\n"} {
				got, err := os.ReadFile(filepath.Join(tree, file))
				noError(t, err)
				if string(got) != want {
					t.Errorf("%s has %q", file, got)
				}
			}
			if shown := w.must("show", fork); !strings.Contains(shown, asked[0]+" of "+run) {
				t.Errorf("show does not say where it comes from:\n%s", shown)
			}
			if shown := w.must("show", fork, "--json"); inPlace == (strings.Count(shown, "told as the result of its call") == 0) {
				t.Errorf("the answer was not told in place:\n%s", shown)
			}
		})
	}
}

// A fork comes to the same end wherever its supervisor is killed, once somebody resumes it: it reads the other answer
// once, in its own worktree, and the run from which it goes on stays as it was. Once it works, it is a run as any other.
func TestAForkComesToItsEndWhereverItIsKilled(t *testing.T) {
	t.Parallel()
	real := sample.Pick(t.Name(), []string{"real CLI", "real CLI, no git"})
	for kind, points := range map[string][]string{
		"stand-in": sample.Part(t.Name(), []string{"before save created", "after save created", "before place", "after place",
			"after save placed", "before launch", "after launch", "before deliver", "after deliver"}, 3),
		"real CLI":         sample.Pick(t.Name(), []string{"after place", "after deliver"}),
		"without git":      {"after place", "after save placed"},
		"real CLI, no git": {"after place"},
	} {
		if strings.HasPrefix(kind, "real CLI") && !slices.Contains(real, kind) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := load(t, w.scenario(placed))
			if w.agent = []string{"--demo", w.scenario(placed), "--cwd", "."}; strings.HasPrefix(kind, "real CLI") {
				placing(t)
				w.real(s, func(messagesapi.Request) {})
			}
			if !strings.HasSuffix(kind, "git") {
				w.inGit()
			}
			run, asked := w.playsForks("--hold", "forever")
			before := w.left(run)
			var dies atomic.Value
			w.watches(func(pid int, p pass) {
				if dies.CompareAndSwap(p.point, "dies") {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					dies.Store("")
				}
			})
			known := map[string]bool{run: true}
			for _, point := range points {
				dies.Store(point)
				w.run("answer", "--again", asked[0], "White") // it says whether its supervisor has died before it was under way
				waitUntil(t, "one has died "+point, func() bool { return dies.Load() == "" })
				fork := ""
				for _, r := range parse[[]view.RunView](t, w.must("ps", "-a", "--json")) {
					if !known[r.ID] {
						fork, known[r.ID] = r.ID, true
					}
				}
				if fork == "" { // it died before there was a run
					fork = w.again(asked[0], "White")
					known[fork] = true
				} else {
					waitUntil(t, "nobody supervises "+fork, func() bool { return w.forkOf(fork).Status == "orphaned" })
					resumed := w.start("resume", fork, "--on-question", "ask")
					defer resumed.exits(0)
				}
				w.must("answer", w.asksAgain(fork), "Green")
				w.must("wait", fork, "--timeout", "60s")
				tree := w.forkOf(fork).Agents[0].Cwd
				effects, err := os.ReadFile(filepath.Join(tree, "effects"))
				noError(t, err)
				if point == "after deliver" { // what it does as it dies neither its transcript nor a log may have: it does it again
					effects = bytes.Replace(effects, []byte("beside\nbeside\n"), []byte("beside\n"), 1)
				}
				if string(effects) != "beside\nafter\n" {
					t.Errorf("killed %s: the effects are %q", point, effects)
				}
			}
			w.untouched(run, before)
		})
	}
}

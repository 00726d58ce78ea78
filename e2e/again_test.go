package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	w.inGit()
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
	placing(t)
	for name, flags := range map[string][]string{"held": {"--hold", "forever"}, "parked": {"--hold", "0"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests bodies
			w := newWorld(t)
			w.real(load(t, w.scenario(placed)), requests.take)
			run, asked := w.playsForks(flags...)
			before := w.left(run)
			held := len(requests.all)
			fork := w.again(asked[0], "White")
			second := w.asksAgain(fork)
			w.must("answer", second, "Green")
			w.exits(0, "wait", fork, "--timeout", "60s")
			w.untouched(run, before)
			if n := len(requests.all) - held; n != 4 {
				t.Errorf("the fork made %d requests", n)
			}
			first := requests.plain(t, w, held)
			if !strings.Contains(first, `\"Which ground?\"=\"White\"`) || strings.Contains(first, "Black\\\"") ||
				strings.Contains(first, "Which accent?") {
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
			if shown := w.must("show", fork, "--json"); strings.Count(shown, "told as the result of its call") == 0 {
				t.Errorf("the answer was not told in place:\n%s", shown)
			}
		})
	}
}

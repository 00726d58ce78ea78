package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// Whatever a person answers to a question of a demo, it comes to an end that makes sense, and says nothing that is not
// so: each answer that the form offers to each question, and words of the person's own.
func TestEveryAnswerToAScenarioComesToATrueEnd(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Part("answers", asking(t), 12) {
		s := load(t, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := playAnswering(newWorld(t).standIn(s), s, -1, "")
			if slices.ContainsFunc(asked, func(q questionView) bool { return q.Kind == "permission" }) {
				t.Run("nobody is asked/stand-in", func(t *testing.T) {
					t.Parallel()
					playAnswering(newWorld(t).standIn(s), s, -1, "", "--permissions", "deny")
				})
			}
			for at, q := range asked {
				for _, answer := range answersTo(q) {
					t.Run(strconv.Itoa(at+1)+" "+answer+"/stand-in", func(t *testing.T) {
						t.Parallel()
						playAnswering(newWorld(t).standIn(s), s, at, answer)
					})
				}
			}
		})
	}
	real := map[string]string{"permission-edit": "deny", "delegate-asked": "approve", "stop": "skip"}
	for _, name := range sample.Pick("real answers", slices.Sorted(maps.Keys(real))) {
		s, answer := load(t, name), real[name]
		t.Run(name+"/1 "+answer+"/real CLI", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			playAnswering(w.real(s, func(r messagesapi.Request) { w.crash(r) }), s, 0, answer)
		})
	}
}

// asking returns the scenarios in which a person is asked.
func asking(t *testing.T) []string {
	return slices.DeleteFunc(examples.Names(), func(name string) bool { return len(load(t, name).Answers) == 0 })
}

// answersTo returns what can be answered to a question without a terminal.
func answersTo(q questionView) []string {
	switch q.Kind {
	case "permission":
		return []string{"allow", "allow-run", "deny", "deny not here", "deny-stop"}
	case "delegation":
		return []string{"approve", "approve do less", "deny it is not needed"}
	case "budget":
		return []string{"raise 5", "finish", "stop"}
	}
	var answers []string
	for _, o := range q.Options {
		if !strings.HasPrefix(o.Label, "run: ") { // a command of the agent's wants a terminal
			answers = append(answers, o.Label)
		}
	}
	if q.Kind != "elicitation" {
		answers = append(answers, "I do not know")
	}
	if q.Optional {
		answers = append(answers, "--skip")
	}
	return answers
}

// playAnswering plays a scenario with another answer to the question that is asked as the at-th, and returns the
// questions of the play. Where that leads to a question for which the scenario has no answer, it gets the first that is
// offered.
func playAnswering(w *world, s examples.Scenario, at int, instead string, flags ...string) (asked []questionView) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.Cwd, "go"), nil, 0o600); err != nil { // what long work waits for
		w.t.Fatal(err)
	}
	run := w.start(w.runArgs(s, append(flags, "--hold", "forever", "--on-question", "ask")...)...)
	var done, report event
	for e := range run.events {
		switch e.Type {
		case "text":
			if strings.Contains(e.Text, "scenario "+s.Name+":") {
				w.t.Error(e.Text)
			}
		case "report":
			report = e
		case "run_done":
			done = e
		case "question":
			answer, found := scriptedAnswer(s, e.Question.Question)
			if len(asked) == at {
				answer = instead
			} else if !found {
				answer = answersTo(*e.Question)[0]
			}
			if answer == "--skip" {
				w.must("answer", e.Question.ID, answer)
			} else if code, _, stderr := w.run("answer", e.Question.ID, "--", answer); code != 0 {
				if answer != "I do not know" || code != 2 { // it wants one of its options, or a number
					w.t.Fatalf("%q is refused: %s", answer, stderr)
				}
				w.must("answer", e.Question.ID, answerTo(w.t, s, e.Question.Question))
			}
			asked = append(asked, *e.Question)
		}
	}
	code := run.wait()
	if !slices.Contains([]int{0, 1, 3, 4, 5}, code) {
		w.t.Errorf("exit %d, status %q (%s), summary %q; events: %s", code, done.Status, done.Reason, report.Summary,
			run.types())
	}
	if report.Summary != s.Expect.Summary || report.Summary == "" {
		return asked
	}
	for name, want := range s.Expect.Files { // what it says it has done
		got, err := os.ReadFile(filepath.Join(w.Cwd, name))
		other := at >= 0 && slices.Contains([]string{"clarification", "elicitation", "delegation"}, asked[at].Kind)
		if err != nil || string(got) != want && !other { // what is answered may stand in it
			w.t.Errorf("it says %q, and %s holds %q (%v)", report.Summary, name, got, err)
		}
	}
	return asked
}

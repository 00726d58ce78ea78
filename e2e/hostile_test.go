package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever a child says on its stream, in whatever order: who watches is told, what can be answered is answered, once,
// and the run comes to its end.
func TestAHostileChildIsAnsweredAndItsRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, plainProgram)
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+absolute(t, "testdata/hostile/claude.sh"))
	run := w.start("run", "--hold", "forever", "--on-question", "ask", "--retries", "0", "Say it all.")
	asked, floods := map[string]string{}, 0
	for e := run.next(); e.Text != "all is said"; e = run.next() {
		switch {
		case e.Type == "question":
			asked[e.Question.Question] = e.Question.ID
		case strings.Contains(e.Text, "more than is let wait"):
			floods++
		}
	}
	if floods != 1 {
		t.Errorf("the flood is told %d times", floods)
	}
	if code, _, stderr := w.run("answer", asked["Who waits for this?"], "I do"); code != 1 ||
		!strings.Contains(stderr, "withdrawn") {
		t.Errorf("what was withdrawn takes an answer: exit %d, %s", code, stderr)
	}
	var open []string
	for _, q := range w.questions() {
		open = append(open, q.Question)
	}
	if !slices.Equal(open, []string{"Which way?"}) {
		t.Errorf("%q are open", open)
	}
	w.must("answer", asked["Which way?"], "1")
	run.exits(0)

	answers := map[string][]string{} // what the child was told, by request
	heard, err := os.ReadFile(filepath.Join(w.Cwd, "heard"))
	noError(t, err)
	for line := range strings.Lines(string(heard)) {
		var m struct {
			Response struct {
				RequestID any `json:"request_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("it is told %q: %v", line, err)
		}
		id := fmt.Sprint(m.Response.RequestID)
		answers[id] = append(answers[id], line)
	}
	for id, want := range map[string]string{
		"bare": `"error"`, "odd": `"error"`, "early": "error", "elsewhere": "error", "text": "error",
		"bare-rpc": "error", "breach-1": `"isError":true`,
		"breach-2": `"isError":true`, "breach-3": "error", "huge": "put what is long into a file",
		"good": `"text":"way"`, "flood-399": "too many", "done": "recorded",
	} {
		if got := answers[id]; len(got) == 0 || !strings.Contains(got[0], want) {
			t.Errorf("%s is answered %.300q, without %q", id, got, want)
		}
	}
	for _, id := range []string{"gone", "flood-100", "never said"} {
		if got := answers[id]; len(got) > 0 {
			t.Errorf("%s was withdrawn, and is answered %.300q", id, got)
		}
	}
}

// next reads one event.
func (s *supervised) next() event {
	s.t.Helper()
	e, ok := <-s.events
	if !ok {
		s.t.Fatalf("it ended after %s\nstderr:\n%s", s.types(), s.stderr)
	}
	s.seen = append(s.seen, e)
	return e
}

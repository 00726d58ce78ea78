package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/examples"
)

// While the lowest of three levels asks the person, the process of an agent beside it is killed. Nothing of that is
// lost, and ps --tree shows each step.
func TestInATreeOneAsksAndAnotherIsKilled(t *testing.T) {
	t.Parallel()
	agents(t, absolute(t, "testdata/tree/levels.yaml"), func(t *testing.T, w *world, s examples.Scenario) {
		run := w.start(w.runArgs(s, "--delegate", "auto", "--hold", "forever", "--on-question", "ask")...)
		begun, asked := "", event{}
		for begun == "" || asked.Question == nil {
			switch e := <-run.events; {
			case e.Type == "":
				t.Fatalf("it ends before that\n%s", run.stderr)
			case e.Type == "question":
				asked = e
			case e.Type == "progress" && strings.Contains(e.Text, "echo packed"):
				begun = e.Agent
			}
		}
		w.shows("asks and works", `(?m)^.*waiting .*Find out the day`, `(?m)^.*running .*Pack the parcels`)
		w.killsProcessOf(begun)
		for e := run.until("progress"); e.Agent != begun || !strings.Contains(e.Text, "echo packed"); {
			e = run.until("progress")
		}
		w.shows("is killed and at work again", `(?m)^.*waiting .*Find out the day`, `(?m)^.*running .*Pack the parcels`)
		w.must("answer", asked.Question.ID, "Monday")
		w.letsGo()
		if summary := run.endsWith(s.Expect.ExitCode); summary != s.Expect.Summary {
			t.Errorf("it ends with %q", summary)
		}
		w.shows("has ended", `(?m)^.*succeeded .*Find out the day`, `(?m)^.*succeeded .*Pack the parcels`)
		for name, want := range s.Expect.Files {
			w.written(name, want)
		}
		w.toldOnceEach()
		for _, a := range w.agents() {
			if a.ID == begun && a.Launches != 2 {
				t.Errorf("the killed one took %d processes", a.Launches)
			}
		}
	})
}

// killsProcessOf kills an agent's process.
func (w *world) killsProcessOf(agent string) {
	w.t.Helper()
	for _, a := range w.ps().Agents {
		if a.ID == agent && a.PID > 0 {
			noError(w.t, syscall.Kill(a.PID, syscall.SIGKILL))
			return
		}
	}
	w.t.Fatalf("agent %s has no process", agent)
}

// shows wants lines of ps --tree that match, and logs it all under a title.
func (w *world) shows(title string, patterns ...string) {
	w.t.Helper()
	tree := w.must("ps", "-a", "--tree")
	w.t.Logf("%s:\n%s", title, tree)
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(tree) {
			w.t.Errorf("where one %s ps --tree shows nothing like %s:\n%s", title, p, tree)
		}
	}
}

// A treeAgent is an agent of a run as `ps --json` shows where it stands.
type treeAgent struct {
	ID, Parent, Status string
	SessionID          string `json:"session_id"`
	Launches           int
}

// agents returns those of the only run.
func (w *world) agents() []treeAgent {
	w.t.Helper()
	runs := parse[[]struct{ Agents []treeAgent }](w.t, w.must("ps", "-a", "--json"))
	if len(runs) != 1 {
		w.t.Fatalf("there are %d runs", len(runs))
	}
	return runs[0].Agents
}

var endTold = regexp.MustCompile(`## DELEGATED WORK ENDED\\n\\nAgent: (a-[0-9A-Za-z]{12})\b`)

// toldOnceEach checks that the end of each agent stands once in its parent's conversation, and in no other. What was
// said again under its uuid, since the process died before the model had replied, was said once.
func (w *world) toldOnceEach() {
	w.t.Helper()
	type said struct{ session, child, uuid string }
	seen, told := map[said]bool{}, map[said]int{}
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		for line := range strings.Lines(string(text)) {
			var e struct {
				Type, UUID string
				Attachment struct {
					Source string `json:"source_uuid"`
				}
			}
			ends := endTold.FindAllStringSubmatch(line, -1)
			if ends == nil || json.Unmarshal([]byte(line), &e) != nil || e.Type != "user" && e.Attachment.Source == "" {
				continue
			}
			for _, m := range ends {
				one := said{strings.TrimSuffix(filepath.Base(path), ".jsonl"), m[1], cmp.Or(e.Attachment.Source, e.UUID)}
				if !seen[one] {
					seen[one] = true
					told[said{session: one.session, child: one.child}]++
				}
			}
		}
	}
	agents := w.agents()
	sessions := map[string]string{}
	for _, a := range agents {
		sessions[a.ID] = a.SessionID
	}
	for _, a := range agents {
		if n := told[said{session: sessions[a.Parent], child: a.ID}]; a.Parent != "" && n != 1 {
			w.t.Errorf("the end of %s is told to its parent %d times", a.ID, n)
		}
	}
	if len(told) != len(agents)-1 {
		w.t.Errorf("of %d agents below the first these ends are told: %v", len(agents)-1, told)
	}
}

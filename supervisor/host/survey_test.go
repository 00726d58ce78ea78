package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
)

// surveyLog writes the log of an agent as procs does, a message to a line.
func surveyLog(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.jsonl")
	var text strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&text, `{"launch":1,"time":"2026-11-21T10:00:00Z","line":%s}`+"\n", line)
	}
	gittest.Put(t, path, text.String())
	return path
}

func assistant(parent, block string) string {
	return fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%s,"message":{"content":[%s]}}`, parent, block)
}

func worked(t *testing.T, path string) work {
	t.Helper()
	w, err := workOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTheSurveyTellsTheStepsOfTheAgentsOwnList(t *testing.T) {
	todo := func(parent, todos string) string {
		return assistant(parent, `{"type":"tool_use","name":"TodoWrite","input":{"todos":`+todos+`}}`)
	}
	w := worked(t, surveyLog(t,
		todo("null", `[{"content":"old","status":"pending"}]`),
		todo("null",
			`[{"content":"read\nall","status":"completed","activeForm":"Reading"},{"content":"write","status":"in_progress"},`+
				`{"content":"test","status":"pending"},{"content":" ","status":"pending"}]`),
		todo(`"t1"`, `[{"content":"of a subagent","status":"completed"}]`),
	))
	want := "Steps you have done:\n- read�all\n\nSteps you have not done:\n- write\n- test"
	if diff := cmp.Diff(want, w.text(t.TempDir(), nil)); diff != "" {
		t.Error(diff)
	}
	c := w.checkpoint(&supervisor.Agent{Run: "r-1"}, "/work", nil, "told")
	if diff := cmp.Diff([][]string{{"read�all"}, {"write", "test"}, {"write"}},
		[][]string{c.CompletedSteps, c.PendingSteps, {c.CurrentStep}}); diff != "" {
		t.Error(diff)
	}
}

func TestAListOfStepsThatIsNoneChangesNothingElse(t *testing.T) {
	w := worked(t, surveyLog(t,
		assistant("null", `{"type":"tool_use","name":"Bash","input":{"command":"make\ntest"}}`),
		assistant("null", `{"type":"tool_use","name":"TodoWrite","input":{"todos":"none"}}`),
		assistant("null", `{"type":"tool_use","name":"TodoWrite","input":[]}`),
		assistant("null", `{"type":"tool_use","name":"Write","input":{"file_path":"a.go"}}`),
	))
	if w.steps != nil || len(w.commands) != 1 || len(w.files) != 1 {
		t.Errorf("%+v", w)
	}
}

func TestTheSurveyOfACommandTellsTheEndOfItsOutput(t *testing.T) {
	raw := func(launch int, text string) string {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"launch":%d,"line":{"type":"raw","text":%s}}`, launch, quoted)
	}
	long := strings.Repeat("all work and no play\n", 10_000)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"as it was printed":       {[]string{raw(1, "one\r\n"), raw(1, "two "), raw(1, "words\n\n")}, "one\ntwo words"},
		"of the last launch only": {[]string{raw(1, "first\n"), raw(2, "second\n")}, "second"},
		"as a terminal shows it":  {[]string{raw(1, "\x1b[31mred\x1b[0m 10%\r 50%\rdone\r\n\x1b[?25h")}, "done"},
		"after what was a message": {
			[]string{`{"launch":1,"line":` + assistant("null", `{"type":"text","text":"hello"}`) + "}", raw(2, "bye\n")}, "bye",
		},
		"before what is a message": {
			[]string{raw(1, "bye\n"), `{"launch":2,"line":` + assistant("null", `{"type":"text","text":"hello"}`) + "}"},
			"hello",
		},
		"in bounds": {[]string{raw(1, long), raw(1, long), raw(1, "the end ü")},
			(long + "the end ü")[len(long)+10-maxSurveyText:]},
		"nothing": {[]string{raw(1, " \r\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.jsonl")
			gittest.Put(t, path, strings.Join(c.lines, "\n")+"\n")
			if diff := cmp.Diff(c.want, worked(t, path).lastSaid()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheAgentsOwnCheckpointIsToldFirst(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kept")
	gittest.Put(t, file,
		`{"workflow_id":"w","current_step":"choose","completed_steps":["a"],"pending_steps":["b"],"state_variables":{"n":3}}`)
	w := work{said: "I am waiting."}
	w.takeOver(checkpoints.Kept{Path: "/tmp/c.json", Copy: "kept"}, file)
	want := "The checkpoint that you left in /tmp/c.json:\n\n" +
		w.from.Text() + "\n\nThe last thing you said:\nI am waiting."
	if diff := cmp.Diff(want, w.text(dir, nil)); diff != "" {
		t.Error(diff)
	}
	c := w.checkpoint(&supervisor.Agent{Run: "r-1"}, dir, nil, "told")
	wantC := &checkpoints.Checkpoint{
		WorkflowID: "r-1", WorkflowType: "claude-supervise", CurrentStep: "choose", CompletedSteps: []string{"a"},
		PendingSteps:   []string{"b"},
		StateVariables: map[string]json.RawMessage{"n": json.RawMessage("3")}, Files: map[string]string{},
		Context: "told", NextAction: "continue with the task",
	}
	if diff := cmp.Diff(wantC, c); diff != "" {
		t.Error(diff)
	}
	w.steps = []step{{"own", stepDone}}
	if c = w.checkpoint(&supervisor.Agent{}, dir, nil, ""); len(c.CompletedSteps) != 1 ||
		c.CompletedSteps[0] != "own" || c.PendingSteps != nil {
		t.Errorf("its list is newer, and the steps are %q and %q", c.CompletedSteps, c.PendingSteps)
	}
}

func TestAnOwnCheckpointThatCannotBeReadIsSaidToBe(t *testing.T) {
	dir := t.TempDir()
	gittest.Put(t, filepath.Join(dir, "bad"), "{")
	for name, c := range map[string]struct {
		kept checkpoints.Kept
		want string
	}{
		"when it was named": {checkpoints.Kept{Path: "/tmp/\x1bc.json", Problem: "no such file"},
			"The checkpoint that you left in /tmp/�c.json could not be kept: no such file"},
		"when its copy is bad":  {checkpoints.Kept{Path: "c", Copy: "bad"}, "half written"},
		"when its copy is gone": {checkpoints.Kept{Path: "c", Copy: "gone"}, "no such file"},
	} {
		var w work
		w.takeOver(c.kept, filepath.Join(dir, c.kept.Copy))
		if text := w.text(dir, nil); !strings.Contains(text, c.want) || w.from != nil {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestFilesOfOneNameAreAllInTheCheckpoint(t *testing.T) {
	w := work{files: []string{"/work/a/main.go", "b/main.go", "/tmp/main.go"}}
	want := map[string]string{"a/main.go": "/work/a/main.go", "b/main.go": "/work/b/main.go",
		"/tmp/main.go": "/tmp/main.go"}
	if diff := cmp.Diff(want, w.checkpoint(&supervisor.Agent{}, "/work", nil, "").Files); diff != "" {
		t.Error(diff)
	}
}

func TestAnAgentThatPrintedNothingHasASurvey(t *testing.T) {
	w, err := workOf(filepath.Join(t.TempDir(), "gone.jsonl"))
	if err != nil || w.text(t.TempDir(), nil) != "" {
		t.Errorf("%+v, %v", w, err)
	}
	if c := w.checkpoint(&supervisor.Agent{}, "/work", nil, ""); c.CurrentStep != "at work" {
		t.Errorf("%+v", c)
	}
	dir := t.TempDir()
	if _, err := workOf(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "log"),
		[]byte("{\"line\":{\"type\":\"raw\"\nnot \"raw\" at all\n[\"assistant\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := worked(t, filepath.Join(dir, "log")); w.said != "" {
		t.Errorf("%+v", w)
	}
}

package supervisor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// editing is a run in which three agents are at work.
func editing(folder string) State {
	s := State{Run: &Run{Cwd: folder}, Agents: map[string]*Agent{}, Launches: map[string][]*Launch{}}
	for _, id := range []string{"a-one", "a-two", "a-three"} {
		s.Agents[id] = &Agent{ID: id, Status: checkpoints.Running}
		s.Launches[id] = []*Launch{{Agent: id, N: 1, State: checkpoints.LaunchStarted}}
	}
	return s
}

func editCall(tool, path string) procs.ToolUse {
	field := "file_path"
	if tool == "NotebookEdit" {
		field = "notebook_path"
	}
	input, _ := json.Marshal(map[string]string{field: path})
	return procs.ToolUse{Name: tool, Input: input}
}

func TestTwoAgentsThatEditOneFileAreToldOfOncePerPairAndFile(t *testing.T) {
	folder, own := t.TempDir(), t.TempDir()
	put(t, filepath.Join(folder, "real", "a.go"), "")
	if err := os.Symlink("real", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	s, e := editing(folder), edits{}
	s.Agents["a-three"].Cwd = own
	for _, step := range []struct {
		agent, tool, path string
		with              string // the agent that is named; "": nothing is told
	}{
		{"a-one", "Edit", "real/a.go", ""},
		{"a-one", "Write", "real/a.go", ""},
		{"a-two", "Read", "real/a.go", ""},
		{"a-two", "Edit", "b.go", ""},
		{"a-three", "Edit", "real/a.go", ""}, // in a worktree of its own
		{"a-two", "MultiEdit", "link/a.go", "a-one"},
		{"a-one", "Edit", "real/a.go", ""},
		{"a-two", "Edit", filepath.Join(folder, "real/a.go"), ""},
		{"a-one", "Write", "./b.go", "a-two"},
		{"a-three", "NotebookEdit", filepath.Join(folder, "real/a.go"), "a-two"},
		{"a-one", "Edit", "", ""},
	} {
		told := e.edited(s, &child{agent: step.agent, launch: 1}, editCall(step.tool, step.path))
		if (told != "") != (step.with != "") || !strings.Contains(told, step.with) {
			t.Errorf("after %v it is told %q", step, told)
		}
	}
}

func TestWhoeverHasEndedOrWaitsForItsChildrenEditsNothing(t *testing.T) {
	for name, over := range map[string]func(State){
		"ended":            func(s State) { s.Launches["a-one"][0].State = checkpoints.LaunchEnded },
		"launched again":   func(s State) { s.Launches["a-one"] = append(s.Launches["a-one"], &Launch{Agent: "a-one", N: 2}) },
		"waits for others": func(s State) { s.Agents["a-one"].Status = checkpoints.Blocked },
	} {
		t.Run(name, func(t *testing.T) {
			s, e := editing(t.TempDir()), edits{}
			e.edited(s, &child{agent: "a-one", launch: 1}, editCall("Edit", "a"))
			over(s)
			if told := e.edited(s, &child{agent: "a-two", launch: 1}, editCall("Edit", "a")); told != "" {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestTheMemoryOfEditsIsBounded(t *testing.T) {
	s, e := editing(t.TempDir()), edits{}
	for i := range maxEdited + 100 {
		e.edited(s, &child{agent: "a-one", launch: 1}, editCall("Write", fmt.Sprint(i)))
	}
	if len(e.by) > maxEdited {
		t.Errorf("%d files are remembered", len(e.by))
	}
	s.Launches["a-one"][0].State = checkpoints.LaunchEnded
	e.edited(s, &child{agent: "a-two", launch: 1}, editCall("Write", "one"))
	if told := e.edited(s, &child{agent: "a-three", launch: 1}, editCall("Write", "one")); told == "" || len(e.by) != 1 {
		t.Errorf("with room again %q is told, and %d files are remembered", told, len(e.by))
	}
}

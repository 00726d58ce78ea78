package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/records"
)

// located returns a path as its links lead.
func located(path, cwd string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// editing is a run in which three agents are at work.
func editing(folder string) supervisor.State {
	s := supervisor.State{Records: records.Records{Run: &supervisor.Run{Cwd: folder}}}
	for _, id := range []string{"a-one", "a-two", "a-three"} {
		s.Agents.Put(id, &supervisor.Agent{ID: id, Status: checkpoints.Running})
		s.Launches.Put(id, []*supervisor.Launch{{Agent: id, N: 1, Phase: checkpoints.LaunchIdle}})
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
	gittest.Put(t, filepath.Join(folder, "real", "a.go"), "")
	if err := os.Symlink("real", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	s, e := editing(folder), edits{}
	s.Agents.Get("a-three").Cwd = own
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
		told := e.edited(s, &listen.Listener{Agent: step.agent, Launch: 1}, editCall(step.tool, step.path), located)
		if (told != "") != (step.with != "") || !strings.Contains(told, step.with) {
			t.Errorf("after %v it is told %q", step, told)
		}
	}
}

func TestWhoeverHasEndedOrWaitsForItsChildrenEditsNothing(t *testing.T) {
	for name, over := range map[string]func(*supervisor.State){
		"ended": func(s *supervisor.State) { s.Launches.Get("a-one")[0].Phase = checkpoints.LaunchEnded },
		"launched again": func(s *supervisor.State) {
			s.Launches.Put("a-one", append(s.Launches.Get("a-one"), &supervisor.Launch{Agent: "a-one", N: 2}))
		},
		"waits for others": func(s *supervisor.State) { s.Agents.Get("a-one").Status = checkpoints.Blocked },
	} {
		t.Run(name, func(t *testing.T) {
			s, e := editing(t.TempDir()), edits{}
			e.edited(s, &listen.Listener{Agent: "a-one", Launch: 1}, editCall("Edit", "a"), located)
			over(&s)
			if told := e.edited(s, &listen.Listener{Agent: "a-two", Launch: 1}, editCall("Edit", "a"), located); told != "" {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestTheMemoryOfEditsIsBounded(t *testing.T) {
	s, e := editing(t.TempDir()), edits{}
	for i := range maxEdited + 100 {
		e.edited(s, &listen.Listener{Agent: "a-one", Launch: 1}, editCall("Write", fmt.Sprint(i)), located)
	}
	if len(e.by) > maxEdited {
		t.Errorf("%d files are remembered", len(e.by))
	}
	s.Launches.Get("a-one")[0].Phase = checkpoints.LaunchEnded
	e.edited(s, &listen.Listener{Agent: "a-two", Launch: 1}, editCall("Write", "one"), located)
	if told := e.edited(s, &listen.Listener{Agent: "a-three", Launch: 1}, editCall("Write", "one"),
		located); told == "" ||
		len(e.by) != 1 {
		t.Errorf("with room again %q is told, and %d files are remembered", told, len(e.by))
	}
}

package e2e

import (
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the program's own database, for a test that turns its clock

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/view"
)

// treeScenarios are of several agents: in worktrees of their own, and at an API that has too little room for all of
// them.
var treeScenarios = []killScenario{
	{name: "worktrees", scenario: "testdata/kill/worktrees.yaml", flags: []string{
		"-f", inTestdata("kill/worktrees.task.yaml"), "--hold", "forever", "--on-question", "ask",
	}, begins: (*world).inGit, ends: (*world).leftInWorktrees},
	{name: "a look at a child", scenario: "delegate-checked"},
	{name: "a pressed API", scenario: "testdata/kill/pressed.yaml", flags: pressing, presses: true},
	{name: "a pressed API that has been calm since", scenario: "testdata/kill/pressed.yaml", flags: pressing,
		presses: true,
		prelude: &pass{1, "after save pressed", 1}, between: (*world).pressedLongAgo},
}

var pressing = []string{"-f", inTestdata("kill/pressed.task.yaml")}

// inGit makes the folder to work in a git work tree.
func (w *world) inGit() {
	w.t.Helper()
	git(w.t, w.Cwd, "init", "--quiet")
	git(w.t, w.Cwd, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--allow-empty", "--message",
		"begin")
}

// leftInWorktrees checks that one agent's worktree is kept with its change, that the other's is gone, and that the
// findings of both are merged.
func (w *world) leftInWorktrees(int) {
	w.t.Helper()
	var d view.Details
	noError(w.t, json.Unmarshal([]byte(w.must("show", w.ps().ID, "--json")), &d))
	states := map[checkpoints.WorktreeState]int{}
	for _, tree := range d.Worktrees {
		states[tree.State]++
		if tree.State != checkpoints.WorktreeKept {
			continue
		}
		if got := w.found(filepath.Join(tree.Path, "counted.txt")); len(got) != 1 || tree.Left != "1 change not committed" {
			w.t.Errorf("what is left in a worktree: %s, %v", tree.Left, got)
		}
	}
	if states[checkpoints.WorktreeKept] != 1 || states[checkpoints.WorktreeRemoved] != 1 {
		w.t.Errorf("the worktrees are left as %v: %+v", states, d.Worktrees)
	}
	if branches := strings.Fields(git(w.t, w.Cwd, "branch", "--list", "--format=%(refname:short)",
		"claude-supervise/*")); len(branches) != 1 {
		w.t.Errorf("the branches %v are left", branches)
	}
	m := d.Merged
	if m == nil || !m.Done || len(m.Files) != 1 || m.Files[0].Lines != 2 || m.Files[0].Broken != 0 {
		w.t.Errorf("the findings are merged so: %+v\n%q",
			m, w.found(filepath.Join(w.Home, ".local/state/claude-supervise/runs", w.ps().ID, "shared/findings.jsonl")))
	}
}

// pressedLongAgo has the only run's agents be few for an hour already, as if nobody had supervised it meanwhile.
func (w *world) pressedLongAgo() {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.Home, ".local/state/claude-supervise/state.db"))
	noError(w.t, err)
	_, err = db.Exec(
		`UPDATE runs SET doc = json_set(doc, '$.pressure.at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-1 hour'))
		WHERE doc ->> '$.pressure' IS NOT NULL`)
	noError(w.t, errors.Join(err, db.Close()))
}

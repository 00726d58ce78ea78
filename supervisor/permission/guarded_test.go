package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/rules"
)

// guardedHome is a home with a config that is a link into a repository, and links to both.
func guardedHome(t *testing.T) (home string, g Guarded) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, ".config", "claude-supervise")
	for _, dir := range []string{folder, filepath.Join(home, "dotfiles"), filepath.Join(home, "work")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "dotfiles", "c.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{".config/claude-supervise/config.yaml": "dotfiles/c.yaml",
		"work/link": ".config/claude-supervise"} {
		if err := os.Symlink(filepath.Join(home, to), filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	return home, NewGuarded(home, folder)
}

func TestACallThatNamesThePersonsConfigIsFound(t *testing.T) {
	home, g := guardedHome(t)
	work := filepath.Join(home, "work")
	for _, c := range []struct {
		tool, name, what string
		cwd              string
		touches          bool
	}{
		{"Write", "file_path", "~H/.config/claude-supervise/config.yaml", work, true},
		{"Write", "file_path", "~H/.CONFIG/Claude-Supervise/config.yaml", work, true},
		{"Edit", "file_path", "../.config/claude-supervise/x", work, true},
		{"Edit", "file_path", "link/new", work, true},
		{"MultiEdit", "file_path", "~H/dotfiles/c.yaml", work, true},
		{"NotebookEdit", "notebook_path", "link/x.ipynb", work, true},
		{"mcp__files__write", "path", "~/.config/claude-supervise/config.yaml", work, true},
		{"mcp__files__write", "path", "notes.md", work, false},
		{"Write", "file_path", "~H/.config/other/config.yaml", work, false},
		{"Write", "file_path", "~H/dotfiles/d.yaml", work, false},
		{"Read", "file_path", "~H/.config/claude-supervise/config.yaml", work, false},
		{"Bash", "command", "echo x > link/config.yaml", work, true},
		{"Bash", "command", "echo x >> ~/.config/claude-supervise/config.yaml", work, true},
		{"Bash", "command", `sed -i s/a/b/ "$HOME"/.config/claude-supervise/config.yaml`, work, true},
		{"Bash", "command", "cp x ${XDG_CONFIG_HOME}/claude-supervise/", work, true},
		{"Bash", "command", "cd .config && cp x claude-supervise/config.yaml", home, true},
		{"Bash", "command", "echo x > config.yaml", filepath.Join(home, ".config/claude-supervise"), true},
		{"Bash", "command", "touch .config/c*/x", home, true},
		{"Bash", "command", "c=.config/; d=$c; tee ${d}claude-supervise/x", home, true},
		{"Bash", "command", "sh -c 'echo > .config/claude-supervise/config.yaml'", home, true},
		{"Bash", "command", "dd of=link/config.yaml", work, true},
		{"Bash", "command", "if true; then (echo x) 2> link/x; fi", work, true},
		{"Bash", "command", "mv ~/.config ~/x", work, true},
		{"Bash", "command", "ln -sfn /tmp/x ../.config", work, true},
		{"Bash", "command", "cp -r evil/.config ~", work, true},
		{"Bash", "command", "rm -rf ~/.config", work, true},
		{"Bash", "command", "echo x > ../dotfiles/c.yaml", work, true},
		{"Bash", "command", "ls ~; cat ~/.bashrc; go test ./cmd/internal/config", work, false},
		{"Bash", "command", "cp a ~; mv b ..; rm -rf build .cache", work, false},
		{"Bash", "command", "touch .config/other/c* *.txt", home, false},
		{"Bash", "command", "git commit -m 'the config of claude-supervise'", work, false},
		{"Bash", "command", strings.Repeat("{a,b}", 400), work, false},
		{"Bash", "command", "echo {1..999999999}", work, false},
		{"Bash", "command", "a=xxxxxxxx; " + strings.Repeat("a=$a$a; ", 200), work, false},
		{"Bash", "command", "echo $(cat x) <(cat y) $((1 << 3)) ${a//b/c} @(a|b) ${!x}; declare $y", work, false},
		{"Bash", "command", "'", work, false},
	} {
		what := strings.ReplaceAll(c.what, "~H", home)
		input, err := json.Marshal(map[string]any{c.name: what})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Touches(c.tool, input, c.cwd); got != c.touches {
			t.Errorf("%s %.80s: %v", c.tool, c.what, got)
		}
		shown := g.Look(supervisor.CallView{Rule: rules.Rule{Tool: c.tool}, Preview: "x"}, c.tool, input, c.cwd)
		if said := strings.HasPrefix(shown.Preview, WhyAsked+"\n"); said != c.touches || (shown.Rule.Tool == "") != c.touches {
			t.Errorf("%s %.80s is shown as %+v", c.tool, c.what, shown)
		}
	}
	if (Guarded{}).Touches("Bash", json.RawMessage(`{"command":"x"}`), home) {
		t.Error("nothing is guarded, and found")
	}
}

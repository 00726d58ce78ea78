package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/supervisor/ask"
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
	up := filepath.Dir(home) // a folder to work in may have the home in it
	work, src, bare := filepath.Join(home, "work"), filepath.Join(home, "src"), filepath.Join(home, "bare")
	for _, dir := range []string{src, bare} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": "../.config", "later": "../.config/claude-supervise/later"} {
		if err := os.Symlink(to, filepath.Join(src, link)); err != nil {
			t.Fatal(err)
		}
	}
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
		{"Bash", "command", strings.Repeat("{a,b}", 400), bare, false},
		{"Bash", "command", "echo {1..999999999}", bare, false},
		{"Bash", "command", "a=xxxxxxxx; " + strings.Repeat("a=$a$a; ", 200), bare, false},
		{"Bash", "command", "echo $(cat x) <(cat y) $((1 << 3)) ${a//b/c} @(a|b) ${!x}; declare $y", bare, false},
		{"Bash", "command", "ls *; for f in **/*.go; do echo $f > /dev/null 2> /dev/stderr; done; cat /proc/mounts", bare, false},
		{"Bash", "command", "for f in *; do echo $f; done; ls .. ~", home, false},
		{"Bash", "command", "cat > new <<E\n" + strings.Repeat("some text of a file\n", 2000) + "E", bare, false},
		{"Bash", "command", strings.Repeat("go test ./a ./b && ", 1000) + "true", bare, false},

		{"Bash", "command", "echo x >> x; while [ ! -e go ] && [[ -n $a ]] && [ $((i+=1)) -lt 600 ]; do sleep 0.1; done; " +
			"echo w > w.txt; test -e a[0] || a[i]=1 && { touch *; } && echo ${b[0]} ] [ [] a] $(ls) ?", up, false},
		{"Bash", "command", "cd .[c]onfig; touch [!x]laude-supervise/x", home, true},

		// What cannot be taken apart.
		{"Bash", "command", "'", src, true},
		{"Bash", "command", "echo x; )", src, true},
		{"Bash", "command", ": " + strings.Repeat("x", 128<<10), src, true},
		{"Bash", "command", strings.Repeat("(", 3000), src, true},
		{"Bash", "command", "shopt -s dotglob; cd *; cd c*; touch x", home, true},

		// A folder or link on the way, and then the rest.
		{"Bash", "command", "cd ~/.config; echo x > claude-*/config.yaml", src, true},
		{"Bash", "command", "cd; cd ..; cd */.conf*; cd ./claude-supervise* && touch x", src, true},
		{"Bash", "command", "cd ~; cd .c* && cd cl*; tee 9", src, true},
		{"Bash", "command", "git -C ~/.config clone -q x claude-supervise", src, true},
		{"Bash", "command", "tar xf x -C~/.config", src, true},
		{"Bash", "command", "cp x in/claude-supervise/new", src, true},
		{"Bash", "command", "cp x i[n]/claude*/new", src, true},
		{"Bash", "command", "echo x > later/autostart/x", src, true},
		{"Bash", "command", "echo x > later/config.yaml", src, true},
		{"Bash", "command", "cp x in/../.config/claude-supervise", src, true},
		{"Bash", "command", "cp x /proc/self/cwd/../.config/claude-supervise", src, true},
		{"Bash", "command", "rm -rf ~/.conf*", src, true},
		{"Bash", "command", "find ~/.config -delete", src, true},
		{"Bash", "command", "find ~/.config -name '*.go'", src, false},
		{"Bash", "command", "bash -c 'cd ~/.config; touch claude*/x'", src, true},
		{"Bash", "command", "eval 'cd ~/.config && touch claude*/x'", src, true},
		{"Bash", "command", "echo {,,,}{,,,}{,,,}{,,,} > ~/.config/{claude-supervise,b}/x", src, true},
		{"Bash", "command", "echo x > ~/.config/$(echo claude)-supervise/y", src, true},
		{"Bash", "command", "cat > ~/.config/claude*/y <<E\n" + strings.Repeat("x\n", 4<<10) + "E", src, true},
		{"Bash", "command", "echo x > ~/.conﬁg/other", src, false},
		{"Bash", "command", "echo x > ~/.CONFIG/Claude-\u212aupervise/y; echo > ~/.Config/cLaude\u200c-ſupervise/y", src, true},
		{"Monitor", "command", "echo x > link/config.yaml", work, true},
		{"Write", "file_path", "later/x", src, true},
		{"Write", "file_path", "in/../in/claude-supervise/x", src, true},
		{"Write", "file_path", strings.Repeat("./", 4000) + "later/x", src, true},
		{"Write", "file_path", "in/autostart/x", src, false},
		// A schedule of later sessions, in any folder.
		{"Write", "file_path", ".claude/Scheduled_Tasks.json", src, true},
		{"Write", "file_path", "made/scheduled_tasks.json", src, true},
		{"Write", "file_path", ".claude/tasks.json", src, false},
		{"Bash", "command", "cd .claude && cp ../x sched*", src, true},
		{"Bash", "command", "echo x >> elsewhere/.claude/scheduled_tasks.json", src, true},
		{"Bash", "command", `mkdir -p .claude; echo '{"tasks":[]}' > .claude/sched"uled"_tasks.json`, src, true},
		{"Bash", "command", "cd .claude/x; cp y ../sched*", src, true},
		{"Bash", "command", "cp made/* other", src, false},
		{"Bash", "command", "cat x > ~/.claude/questions/pending/${ID}.json", src, false},
		{"Agent", "prompt", "~H/.config/claude-supervise/config.yaml", src, false},
	} {
		what := strings.ReplaceAll(c.what, "~H", home)
		input, err := json.Marshal(map[string]any{c.name: what})
		if err != nil {
			t.Fatal(err)
		}
		why := g.Why(c.tool, input, c.cwd)
		if got := why != ""; got != c.touches {
			t.Errorf("%s %.80s: %v", c.tool, c.what, got)
		}
		shown := g.Look(ask.CallView{Rule: rules.Rule{Tool: c.tool}, Preview: "x"}, c.tool, input,
			ask.CallSite{Folder: home, Cwd: c.cwd})
		if said := why != "" && strings.HasPrefix(shown.Preview, why+"\n"); said != c.touches || (shown.Rule.Tool == "") != c.touches {
			t.Errorf("%s %.80s is shown as %+v", c.tool, c.what, shown)
		}
	}
	if (Guarded{}).Why("Bash", json.RawMessage(`{"command":"x"}`), home) != "" {
		t.Error("nothing is guarded, and found")
	}
}

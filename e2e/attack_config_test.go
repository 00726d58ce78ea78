package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/examples"
	"claude-supervise/supervisor/permission"
)

// The ways by which an agent that works in the home may write to the person's config. Each leaves a file of its own in
// the folder CWD/.config/claude-supervise; the last moves that away.
var configWrites = []examples.ToolCall{
	{Name: "Write", Input: map[string]any{"file_path": "CWD/.config/claude-supervise/1", "content": "x"}},
	bashCall("echo x > .config/claude-supervise/2"),
	bashCall("cp other ~/.config/claude-supervise/3"),
	bashCall(`mv another "$HOME/.config/claude-supervise/4"`),
	bashCall("cd .config/claude-*; echo x | tee 5"),
	bashCall("for d in .config/{x,claude-supervise}; do ln -s CWD/other $d/6; done"),
	bashCall("d=.config; cd $d/claude-supervise && echo x > 7"),
	bashCall("cd ..; echo x > CWD/link/8"),
	{Name: "Write", Input: map[string]any{"file_path": "CWD/link/new/x", "content": "x"}},
	bashCall("cd CWD; cd .con*; cd claude-*; touch 10; cd CWD"),
	bashCall(": " + strings.Repeat("x", 5000) + "; (cd .config/claude-*; touch 11)"),
	bashCall("mkdir -p later/x; touch later/x/y"),
	bashCall("rm -rf ~/.config"),
}

// configSite is a home with a config.
func configSite(s *site) {
	s.Cwd = s.Home
	s.put(".config/claude-supervise/config.yaml", "hold: 10m\n")
	s.put(".config/x/y", "")
	s.put("other", "x")
	s.put("another", "x")
	for link, to := range map[string]string{"link": ".config/claude-supervise", "later": ".config/claude-supervise/12"} {
		noError(s.t, os.Symlink(filepath.Join(s.Home, to), filepath.Join(s.Home, link)))
	}
}

// configDir lists what lies in the folder of the config; "gone" if nothing does.
func configDir(home string) string {
	entries, err := os.ReadDir(filepath.Join(home, ".config/claude-supervise"))
	if err != nil {
		return "gone"
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// No rule and no mode lets an agent write to the person's own config unasked, in a run in the home itself.
func TestAnAgentIsAskedAboutBeforeItWritesToThePersonsConfig(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	for name, flags := range playedAttacks(t, map[string][]string{
		"allowed": {"--allowedTools=Bash", "--allowedTools=Edit", "--allowedTools=Write", "--permission-mode=acceptEdits"},
		"bypass":  {"--permission-mode=bypassPermissions"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var home string
			a := attack{lay: func(s *site) {
				configSite(s)
				home, s.flags = s.Home, flags
			}}
			a.calls = configWrites[:len(configWrites)-1]
			a.bare(t, program)
			for _, left := range []string{"1", "2", "3", "4", "5", "8", "new", "10", "11"} { // 6 and 7 on newer releases only
				if got := configDir(home); !slices.Contains(strings.Fields(got), left) {
					t.Errorf("bare claude leaves %s", got)
				}
			}
			a.calls = configWrites
			a.supervised(t, program)
			if got := configDir(home); got != "config.yaml" {
				t.Errorf("a run leaves %s", got)
			}
		})
	}
}

// What `help trust` says of --permission-mode auto: what agents ask reaches the person, and so does such a write.
func TestInAutoModeAPersonIsStillAsked(t *testing.T) {
	t.Parallel()
	config, err := filepath.Abs(filepath.Join("testdata", "permission", "config.yaml"))
	noError(t, err)
	for scenario, asked := range map[string]string{"ask": "Which way of login", config: permission.WhyAsked} {
		t.Run(filepath.Base(scenario), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).real(load(t, scenario), nil)
			w.Cwd = w.Home
			w.configure("hold: 10m\n")
			run := w.start(append(append([]string{"run", "--on-question", "ask"}, w.agent...), "--", "--permission-mode=auto")...)
			run.until("question")
			lacksNone(t, "the question", w.must("questions"), asked)
			run.interrupt()
		})
	}
}

// The person can let it happen, once; no rule can stand for it.
func TestAWriteToTheConfigIsAllowedOnceOnly(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs(filepath.Join("testdata", "permission", "config.yaml"))
	noError(t, err)
	agents(t, path, func(t *testing.T, w *world, _ examples.Scenario) {
		w.Cwd = w.Home
		w.configure("hold: 10m\n")
		run := w.starts("--allow", "Bash(echo *)")
		for range 2 {
			q := run.until("question").Question
			lacksNone(t, "the question", w.must("questions"), permission.WhyAsked)
			if code, _, stderr := w.run("answer", q.ID, "allow-run"); code != 2 || !strings.Contains(stderr, "not one of the decisions") {
				t.Errorf("allow-run exits %d, says %s", code, stderr)
			}
			w.must("answer", q.ID, "allow")
		}
		w.ends(run, 6)
		if got := configDir(w.Home); got != "2 config.yaml" {
			t.Errorf("the folder holds %s", got)
		}
	})
}

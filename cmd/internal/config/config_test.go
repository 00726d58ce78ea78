package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// home makes a home with a config of this text, and gives it with its environment.
func home(t *testing.T, text string) (dir string, env []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".config", "claude-supervise"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"HOME=" + dir}
}

func file(home string) string {
	return filepath.Join(home, ".config", "claude-supervise", "config.yaml")
}

// flags returns the defaults of a run in a folder below the home as NAME=VALUE.
func flags(t *testing.T, c Config, cwd string) (all []string) {
	t.Helper()
	if err := os.MkdirAll(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	defaults, err := c.For(cwd)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defaults {
		all = append(all, d.Flag+"="+d.Value)
	}
	return all
}

func TestTheEnvironmentGoesBeforeTheFileAndTheFolderFurtherDownBeforeOthers(t *testing.T) {
	dir, env := home(t, `
hold: 10m
max_cost_usd: 5
allow: [Bash(make test)]
folders:
  ~/work/api/: {hold: 1h, allow: [Bash(go vet)]}
  ~/work: {hold: forever, max_cost_usd: 0.5}
  ~/other: {plain: true}
`)
	c, err := Load(append(env, "CLAUDE_SUPERVISE_MAX_COST_USD=7", "CLAUDE_SUPERVISE_QUIET=true"))
	if err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string][]string{
		"elsewhere": {"hold=10m", "allow=Bash(make test)", "max-cost-usd=7", "quiet=true"},
		"work":      {"allow=Bash(make test)", "hold=forever", "max-cost-usd=7", "quiet=true"},
		"work/api":  {"allow=Bash(make test)", "hold=1h", "allow=Bash(go vet)", "max-cost-usd=7", "quiet=true"},
		"work/apis": {"allow=Bash(make test)", "hold=forever", "max-cost-usd=7", "quiet=true"},
		"other/x":   {"hold=10m", "allow=Bash(make test)", "plain=true", "max-cost-usd=7", "quiet=true"},
	} {
		if diff := cmp.Diff(want, flags(t, c, filepath.Join(dir, cwd))); diff != "" {
			t.Errorf("in %s (-want +got):\n%s", cwd, diff)
		}
	}
	defaults, err := c.For(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"hold": "config.yaml:7", "quiet": "CLAUDE_SUPERVISE_QUIET"} {
		if i := slices.IndexFunc(defaults, func(d Default) bool { return d.Flag == flag }); defaults[i].From != want {
			t.Errorf("%s comes from %s, want %s", flag, defaults[i].From, want)
		}
	}
}

func TestWhatIsSaidOfThePageAndOfNoticesIsRead(t *testing.T) {
	dir, env := home(t, `
serve: {folders: [~/work, /srv], host: desk, listen: "127.0.0.1:7000", url: "https://desk.example.org/"}
notify:
  command: notify-me
  ntfy: {url: "https://ntfy.sh/topic", token_file: ~/.ntfy}
  webhook: {url: "http://localhost:80/x", secret_file: /key}
  permissions: true
  terminal: false
`)
	c, err := Load(env)
	if err != nil {
		t.Fatal(err)
	}
	serve := Serve{Folders: []string{dir + "/work", "/srv"}, Hosts: []string{"desk"}, Listen: "127.0.0.1:7000",
		URL: "https://desk.example.org"}
	if diff := cmp.Diff(serve, c.Serve); diff != "" {
		t.Error(diff)
	}
	notify := Notify{Command: "notify-me", Permissions: true, Unmarked: true, Receivers: map[string]Receiver{
		"ntfy": {"https://ntfy.sh/topic", dir + "/.ntfy"}, "webhook": {"http://localhost:80/x", "/key"}}}
	if diff := cmp.Diff(notify, c.Notify); diff != "" {
		t.Error(diff)
	}
}

// No file, and one that says nothing, say nothing.
func TestWhereNothingIsSaidNothingIsInForce(t *testing.T) {
	dir, env := home(t, "# to do\n")
	for _, env := range [][]string{env, {"HOME=/nonexistent"}, nil, {"HOME=" + dir, "XDG_CONFIG_HOME=/nonexistent"},
		{"HOME=" + dir, "XDG_CONFIG_HOME=relative"}} {
		c, err := Load(append(env, "PATH=/bin"))
		if err != nil {
			t.Fatal(err)
		}
		if got := flags(t, c, t.TempDir()); got != nil {
			t.Errorf("with %v: %v", env, got)
		}
	}
}

func TestAFileThatCannotBeUsedIsRefusedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"hold: 10m\nmax_cost: 5":             "line 2: there is no key \"max_cost\"; did you mean max_cost_usd?",
		"Max-Parallel: 2":                    "did you mean max_parallel?",
		"hold: soon":                         "line 1: hold takes a duration such as 90s, 10m or 2h, 0 or forever",
		"allow: [project]":                   "project is given for one run: --allow project",
		"folders: {work: {}}":                "a folder takes an absolute path, or one that begins with ~/, not \"work\"",
		"folders: {/x: {serve: {}}}":         `there is no key "serve"`,
		"serve: {folder: [/x]}":              "did you mean folders?",
		"notify: {ntfy: {token_file: /x}}":   "notify.ntfy has no url",
		"serve: {url: https://a.b/agents/}":  "takes an address without a path",
		"notify: {ntfy: {url: http://a.b/}}": "takes https beyond this machine",
		"[":                                  "line 2: it is not YAML",
		"x: &a [*a]":                         `there is no key "x"`,
		"exec: rm -rf /":                     "`claude-supervise doctor --config-schema` prints the keys that there are",
		"a: \xff":                            "it is not UTF-8 text",
		"model: \"\\e[31mx\"":                "model takes one line of text",
		strings.Repeat("#\n", 1<<20):         "it is larger than 1 MiB",
	} {
		dir, env := home(t, text)
		if _, err := Load(env); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), file(dir)+" cannot be used; nothing was done\n  ") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	_, env := home(t, "")
	if _, err := Load(append(env, "CLAUDE_SUPERVISE_HOLD=soon")); err == nil ||
		!strings.HasPrefix(err.Error(), "CLAUDE_SUPERVISE_HOLD takes a duration") {
		t.Errorf("of the environment: %v", err)
	}
}

func TestAFileThatOthersCouldHaveWrittenIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"writable by all":       {func(p string) error { return os.Chmod(p, 0o602) }, "writable by others; run: chmod go-w "},
		"writable by the group": {func(p string) error { return os.Chmod(p, 0o620) }, "writable by others"},
		"in an open folder":     {func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) }, "writable by others"},
		"not to be read": {func(p string) error {
			if os.Geteuid() == 0 { // who may read all
				return os.Remove(p)
			}
			return os.Chmod(p, 0)
		}, "permission denied"},
		"a folder": {func(p string) error { _ = os.Remove(p); return os.Mkdir(p, 0o700) }, "not a regular file"},
		"a pipe":   {func(p string) error { _ = os.Remove(p); return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"a loop":   {func(p string) error { _ = os.Remove(p); return os.Symlink("config.yaml", p) }, "too many links"},
		"a device": {func(p string) error { _ = os.Remove(p); return os.Symlink("/dev/zero", p) }, "not a regular file"},
		"another user's": {func(p string) error {
			if os.Geteuid() != 0 {
				_ = os.Remove(p)
				return os.WriteFile(p, nil, 0o606) // the other rule: only root can give it away
			}
			return os.Chown(p, 12345, 12345)
		}, "others could have written it"},
	} {
		dir, env := home(t, "hold: 1h")
		if err := c.do(file(dir)); err != nil {
			t.Fatal(err)
		}
		_, err := Load(env)
		if what == "not to be read" && os.Geteuid() == 0 {
			c.want = "" // there is none then
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// A link that a person has made is followed; not into the folder of the run, where its agents write.
func TestAFileThatTheAgentsOfTheRunCouldWriteIsRefused(t *testing.T) {
	dir, env := home(t, "hold: 1h")
	repo := filepath.Join(dir, "dotfiles")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(repo, "supervise.yaml")
	if err := os.Rename(file(dir), kept); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, file(dir)); err != nil {
		t.Fatal(err)
	}
	c, err := Load(env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.For(repo); err == nil || !strings.Contains(err.Error(), "in the folder of the run") {
		t.Errorf("a run in the repository that the link leads to: %v", err)
	}
	for _, cwd := range []string{dir, filepath.Join(dir, "elsewhere"), "/"} { // what holds the home holds the file
		if got := flags(t, c, cwd); !slices.Equal(got, []string{"hold=1h"}) {
			t.Errorf("in %s: %v", cwd, got)
		}
	}
	// A variable that something in the repository has set.
	own := filepath.Join(repo, ".config", "claude-supervise")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "config.yaml"), []byte("allow: [Bash]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = Load(append(env, "XDG_CONFIG_HOME="+filepath.Join(repo, ".config"))); err != nil {
		t.Fatal(err)
	}
	if got, err := c.For(repo); err == nil {
		t.Errorf("a repository has set %v", got)
	}
}

// Whatever an agent sets, what it starts has no config.
func TestInsideAnAgentNoConfigIsRead(t *testing.T) {
	_, env := home(t, "allow: [Bash]")
	inside := append(env, "CLAUDE_SUPERVISE_RUN=r-12345678", "CLAUDE_SUPERVISE_AGENT=a-123456789012",
		"CLAUDE_SUPERVISE_LAUNCH=1", "CLAUDE_SUPERVISE_HOLD=1h")
	c, err := Load(inside)
	if err != nil {
		t.Fatal(err)
	}
	if got := flags(t, c, t.TempDir()); got != nil || c.Path != "" {
		t.Errorf("an agent has set %v by %s", got, c.Path)
	}
}

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// parked makes a run that waits for an answer in a clone with uncommitted work, and gives its id and its question's.
func (w *world) parked(s examples.Scenario) (run, question string) {
	w.t.Helper()
	code, stdout, stderr := w.run(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
	if code != 75 {
		w.t.Fatalf("it exits %d:\n%s%s", code, stdout, stderr)
	}
	return w.ps().ID, w.questions()[0].ID
}

// inClone lets the world work in a clone of a repository, with work of every kind that is not committed there.
func (w *world) inClone(origin string) *world {
	w.t.Helper()
	w.Cwd = filepath.Join(w.t.TempDir(), "clone")
	git(w.t, "", "clone", "--quiet", origin, w.Cwd)
	return w
}

// muddle leaves work of every kind uncommitted: a commit that no remote has, and files added, changed, new, gone,
// executable and linked.
func (w *world) muddle() {
	w.t.Helper()
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(w.Cwd, name)
		noError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
		noError(w.t, os.WriteFile(path, []byte(text), mode))
	}
	write("local", "committed here only\n", 0o600)
	commitAll(w.t, w.Cwd, "local")
	write("staged", "staged\n", 0o600)
	git(w.t, w.Cwd, "add", "staged")
	write("staged", "staged, then changed\r\n", 0o600)
	write("deep/er/new", "new\x00\n", 0o600)
	write("run", "#!/bin/sh\n", 0o700)
	noError(w.t, os.Symlink("deep/er/new", filepath.Join(w.Cwd, "link")))
	noError(w.t, os.Remove(filepath.Join(w.Cwd, "README")))
}

// state is all that git tells of a clone, and what its files hold.
func (w *world) state() string {
	w.t.Helper()
	state := git(w.t, w.Cwd, "rev-parse", "HEAD") +
		"\n" + git(w.t, w.Cwd, "status", "--porcelain", "--untracked-files=all") + "\n" +
		git(w.t, w.Cwd, "ls-files", "--stage") + "\n" + git(w.t, w.Cwd, "diff", "--no-ext-diff", "--binary")
	for _, name := range []string{"staged", "deep/er/new", "run", "link"} {
		text, err := os.ReadFile(filepath.Join(w.Cwd, name))
		if err != nil {
			w.t.Error(err)
		}
		state += name + ": " + string(text)
	}
	return state
}

// elsewhere is another machine with the same agent.
func (w *world) elsewhere() *world {
	other := newWorld(w.t)
	other.API, other.agent = w.API, w.agent
	if w.API != nil {
		for _, v := range w.Env { // a later HOME goes before an earlier one
			if !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "TMPDIR=") {
				other.Env = append([]string{v}, other.Env...)
			}
		}
	}
	return other
}

// eachThatMoves tells a story with the stand-in, which asks once, and with the real CLI, whose model asks twice.
func eachThatMoves(t *testing.T, story func(t *testing.T, agent func(*world) (*world, examples.Scenario))) {
	twice, err := examples.Load("testdata/ci/scenario.yaml")
	noError(t, err)
	once := load(t, "ask")
	eachAgent(t, map[string]func(*world) (*world, examples.Scenario){
		"stand-in": func(w *world) (*world, examples.Scenario) { return w.standIn(once), once },
		"real CLI": func(w *world) (*world, examples.Scenario) {
			return w.real(twice, func(messagesapi.Request) {}), twice
		},
	}, story)
}

func TestARunGoesOnElsewhereWithItsConversationAndItsWork(t *testing.T) {
	t.Parallel()
	eachThatMoves(t, func(t *testing.T, agent func(*world) (*world, examples.Scenario)) {
		origin := newOrigin(t)
		here, s := agent(newWorld(t).inClone(origin))
		here.muddle()
		run, question := here.parked(s)
		here.must("pack", run)
		there := here.elsewhere().inClone(origin)
		there.must("unpack", filepath.Join(here.Cwd, run+".tar.gz"))
		if got, want := there.state(), strings.ReplaceAll(here.state(), "?? "+run+".tar.gz\n", ""); got != want {
			t.Errorf("the work is\n%s\nand was\n%s", got, want)
		}
		noError(t, os.RemoveAll(here.Home))
		there.must("answer", question, "JWT")
		code, stdout, stderr := there.run(append([]string{"resume", run, "--on-question", "park", "--"}, s.ClaudeFlags...)...)
		if want := map[bool]int{false: 0, true: 75}[here.API != nil]; code != want {
			t.Fatalf("it exits %d:\n%s%s", code, stdout, stderr)
		}
		told, err := os.ReadFile(filepath.Join(there.Home, ".local/state/claude-supervise/runs",
			run, there.ps().Agents[0].ID+".jsonl"))
		if err != nil || !strings.Contains(string(told), "## MOVED") ||
			!strings.Contains(string(told), "New folder: "+there.Cwd) {
			t.Errorf("the agent is not told that it was moved (%v)", err)
		}
	})
}

func (w *world) runs() []runView {
	w.t.Helper()
	return parse[[]runView](w.t, w.must("ps", "-a", "--json"))
}

// Whatever a repository's configuration names is not run by packing in it, nor by unpacking into it.
func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	origin := newOrigin(t)
	here := newWorld(t).standIn(s).inClone(origin)
	there := newWorld(t).standIn(s).inClone(origin)
	canary := filepath.Join(t.TempDir(), "sang")
	trap := filepath.Join(t.TempDir(), "trap")
	noError(t, os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+canary+"'\nexit 1\n"), 0o700))
	here.muddle()
	run, _ := here.parked(s)
	for _, w := range []*world{here, there} {
		arm(t, w.Cwd, trap)
		module := filepath.Join(w.Cwd, "module")
		git(t, "", "clone", "--quiet", origin, module)
		arm(t, module, trap)
		if w == here {
			git(t, w.Cwd, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "filter.trap.clean=cat",
				"-c", "filter.trap.process=", "-c", "filter.trap.required=false", "add", "module")
		}
	}
	if err := os.RemoveAll(canary); err != nil { // what git itself ran above
		t.Fatal(err)
	}
	out := here.must("pack", run)
	if !strings.Contains(out, "submodules are not packed: module") {
		t.Errorf("it does not say that the submodule stays: %s", out)
	}
	there.must("unpack", filepath.Join(here.Cwd, run+".tar.gz"), "--dry-run")
	there.must("unpack", filepath.Join(here.Cwd, run+".tar.gz"))
	if song, err := os.ReadFile(canary); err == nil {
		t.Errorf("it ran %s", song)
	}
}

// arm sets each trap in a repository that a git command could step into.
func arm(t *testing.T, dir, trap string) {
	t.Helper()
	hooks := filepath.Join(dir, ".git", "hooks")
	noError(t, os.MkdirAll(hooks, 0o700))
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout",
		"pre-commit", "fsmonitor-watchman"} {
		noError(t, os.Symlink(trap, filepath.Join(hooks, hook)))
	}
	config := "[core]\n\tfsmonitor = " + trap + "\n\tpager = " + trap + "\n\tsshCommand = " +
		trap + "\n\talternateRefsCommand = " + trap +
		"\n\teditor = " + trap + "\n[filter \"trap\"]\n\tclean = " + trap + "\n\tsmudge = " + trap + "\n\tprocess = " + trap +
		"\n\trequired = true\n" +
		"[diff]\n\texternal = " + trap + "\n[diff \"trap\"]\n\ttextconv = " + trap + "\n\tcommand = " +
		trap + "\n[merge \"trap\"]\n\tdriver = " + trap +
		"\n[credential]\n\thelper = " + trap + "\n[gpg]\n\tprogram = " +
		trap + "\n[commit]\n\tgpgSign = true\n[uploadpack]\n\tpackObjectsHook = " + trap + "\n"
	for path, text := range map[string]string{
		filepath.Join(dir, ".git", "config"):             config,
		filepath.Join(dir, ".git", "info", "attributes"): "* filter=trap diff=trap merge=trap\n",
	} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		noError(t, err)
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		noError(t, f.Close())
	}
}

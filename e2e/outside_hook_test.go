package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/machinetest"
	outside "claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// A called is a hook that a session has called. In place of claude stands timeout(1).
type called struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

// hooked calls the hook with an input.
func (w *world) hooked(in string, env ...string) *called {
	w.t.Helper()
	if why := outside.Below(w.t.Context()); why != "" {
		machinetest.Lacks(w.t, "these tests answer as a person does, and cannot below a claude: %s", why)
	}
	c := &called{cmd: exec.Command("timeout", "300", w.Program, "hook")}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = w.Cwd, append(env, w.Env...), strings.NewReader(in),
		&c.out, &c.out
	noError(w.t, c.cmd.Start())
	return c
}

// says waits for the end of the hook, which is always a good one, and gives what it has said.
func (c *called) says(t *testing.T) string {
	t.Helper()
	noError(t, c.cmd.Wait())
	return c.out.String()
}

// permits is the input of a hook that asks whether a command may run.
func (w *world) permits(command string) string {
	return fmt.Sprintf(`{"hook_event_name":"PermissionRequest","session_id":"s-1","transcript_path":"%s/t.jsonl","cwd":%q,`+
		`"tool_name":"Bash","tool_input":{"command":%q}}`, w.Home, w.Cwd, command)
}

func TestWhatAHookCannotAskTheScreenDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	says := func(name, in string, env ...string) {
		t.Helper()
		if said := w.hooked(in, env...).says(t); said != "" {
			t.Errorf("%s: it says %s", name, said)
		}
	}
	says("nobody has asked for it", w.permits("ls"))
	w.must("init", "--sessions", "--user", "--yes")
	says("nothing", "")
	says("garbage", "\x00\xff{")
	says("10 MB", strings.Repeat("x", 10<<20))
	says("a call of 10 MB", w.permits(strings.Repeat("x", 10<<20)))
	says("no folder", strings.Replace(w.permits("ls"), w.Cwd, "", 1))
	says("inside a run", w.permits("ls"), "CLAUDE_SUPERVISE_RUN=r-aaaaaaaa", "CLAUDE_SUPERVISE_AGENT=a-aaaaaaaaaaaa")
	says("the start of a session", `{"hook_event_name":"SessionStart","session_id":"s-1","cwd":"`+w.Cwd+`"}`)
	w.must("init", "--sessions=off", "--yes")
	says("the folder is off", w.permits("ls"))
	w.must("init", "--sessions=ask", "--yes")
	noError(t, os.RemoveAll(filepath.Join(w.Dirs.State, "sessions")))
	noError(t, os.WriteFile(filepath.Join(w.Dirs.State, "sessions"), nil, 0o600))
	says("the state cannot be written", w.permits("ls"))
	if open := w.must("questions"); !strings.Contains(open, "No question is open") {
		t.Errorf("open are\n%s", open)
	}
}

func TestAHookThatWaitsLeavesAtOnceWhenItIsTurnedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	c := w.hooked(w.permits("ls"))
	q := w.asksHere("ls")
	w.must("init", "--sessions=off", "--yes")
	if said := c.says(t); said != "" {
		t.Errorf("it says %s", said)
	}
	if shown := w.must("show", q.ID); !strings.Contains(shown, "State: withdrawn") {
		t.Errorf("it is shown as\n%s", shown)
	}
	w.must("init", "--sessions=notify", "--yes")
	c = w.hooked(w.permits("pwd"))
	q = w.asksHere("pwd")
	if code, _, said := w.run("answer", q.ID, "allow"); code == 0 || !strings.Contains(said, "where it is asked alone") {
		t.Errorf("exit %d: %s", code, said)
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
	w.becomesOf(q.ID)
}

// A hook that is killed leaves the dialog, which readers see.
func TestAHookThatIsKilledLeavesTheScreen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	c := w.hooked(w.permits("ls"))
	q := w.asksHere("ls")
	noError(t, os.WriteFile(filepath.Join(w.Home, "t.jsonl"), []byte(`{"type":"assistant","uuid":"u","message":{"content":`+
		`[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`+"\n"), 0o600))
	waitUntil(t, "its call is found", func() bool { return strings.Contains(w.askFile(q.ID), `"call":"t1"`) })
	noError(t, machine.StandStill(c.cmd.Process.Pid)) // claude lives on
	for _, pid := range machine.With(machine.InHome(w.Home)) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasPrefix(string(line), w.Program) {
			noError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	if shown := w.becomesOf(q.ID); !strings.Contains(shown, "its screen decides") {
		t.Errorf("it is shown as\n%s", shown)
	}
	noError(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	if shown := w.must("show", q.ID); !strings.Contains(shown, "its session ended while it asked") {
		t.Errorf("once claude has gone it is shown as\n%s", shown)
	}
}

func TestThePageAnswersASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	p := w.serve()
	c := w.hooked(w.permits("ls"))
	q := w.asksHere("ls")
	if status, text := p.send("GET", "/api/questions", ""); status != http.StatusOK || !strings.Contains(text, q.ID) {
		t.Errorf("the page lists %d %s", status, text)
	}
	answer := "/api/questions/" + q.ID + "/answer"
	if status, text := p.send("POST", answer, `{"value":"allow-run Bash(*)"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("what was not offered is taken: %d %s", status, text)
	}
	if status, text := p.send("POST", answer, `{"value":"deny not today"}`); status != http.StatusOK {
		t.Errorf("the page has %d %s", status, text)
	}
	if said := c.says(t); !strings.Contains(said, `"behavior":"deny"`) || !strings.Contains(said, "not today") {
		t.Errorf("it says %s", said)
	}
	if status, text := p.send("POST", answer, `{"value":"allow"}`); status != http.StatusConflict ||
		!strings.Contains(text, "deny not today") {
		t.Errorf("whoever is late has %d %s", status, text)
	}
}

// Another user who has found the program asks nothing here, and sees nothing of what others ask.
func TestAHookOfAnotherUserAsksNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user") // in CI, too
	}
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	mine := w.hooked(w.permits("ls"))
	q := w.asksHere("ls")
	dir := t.TempDir()
	noError(t, os.Chmod(filepath.Dir(dir), 0o711))
	other := filepath.Join(dir, "claude-supervise")
	noError(t, os.Link(w.Program, other))
	for _, args := range [][]string{{"hook"}, {"answer", q.ID, "allow"}, {"questions"}, {"show", q.ID}} {
		cmd := exec.Command("timeout", append([]string{"60", other}, args...)...)
		cmd.Dir, cmd.Env, cmd.Stdin = "/", w.Env, strings.NewReader(w.permits("pwd"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if args[0] == "hook" && (len(out) > 0 || err != nil) || args[0] != "hook" && err == nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	if open := w.must("questions"); strings.Contains(open, "pwd") || !strings.Contains(open, q.ID) {
		t.Errorf("open are\n%s", open)
	}
	w.must("answer", q.ID, "deny")
	mine.says(t)
}

// Fifty sessions ask at once, and each gets its own answer.
func TestFiftySessionsAskAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	all := make([]*called, 50)
	for i := range all {
		all[i] = w.hooked(strings.Replace(w.permits(fmt.Sprintf("run-%02d", i)), "s-1", fmt.Sprintf("s-%d", i), 1))
	}
	var open []view.QuestionView
	waitUntil(t, "all are asked", func() bool {
		open = parse[[]view.QuestionView](t, w.must("questions", "--json"))
		return len(open) == len(all)
	})
	for _, q := range open {
		var i int
		_, err := fmt.Sscanf(q.Question, "Allow Bash: run-%d?", &i)
		noError(t, err)
		w.must("answer", q.ID, fmt.Sprintf("deny number %d", i))
		if said := all[i].says(t); !strings.Contains(said, fmt.Sprintf("number %d\"", i)) {
			t.Errorf("%d is told %s", i, said)
		}
	}
}

func TestTheHooksOfSessionsAreWrittenWithCare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE=/nonexistent") // of which nobody knows what hooks it takes
	const own = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"
	w.personSettings(own)
	path := filepath.Join(w.Home, ".claude", "settings.json")
	is := func() string { text, _ := os.ReadFile(path); return string(text) }
	if said := w.must("init", "--sessions", "--user", "--dry-run"); !strings.Contains(said, "PermissionRequest") || is() != own {
		t.Errorf("it would do\n%s\nand has written %s", said, is())
	}
	if code, _, said := w.run("init", "--sessions", "--user"); code == 0 || is() != own {
		t.Errorf("nobody was asked: exit %d, %s", code, said)
	}
	w.must("init", "--sessions", "--user", "--yes")
	if strings.Count(is(), "claude-supervise hook") != 2 {
		t.Errorf("it is %s", is())
	}
	w.must("init", "--sessions=notify", "--yes")
	w.must("init", "--sessions", "--undo", "--yes")
	if strings.Count(is(), "claude-supervise hook") != 2 {
		t.Errorf("the hooks of the other folders are gone: %s", is())
	}
	w.must("init", "--sessions", "--user", "--undo", "--yes")
	if is() != own {
		t.Errorf("left is %s", is())
	}
	for name, lay := range map[string]func(){
		"no JSON":  func() { w.personSettings("// mine\n{}") },
		"no hooks": func() { w.personSettings(`{"hooks":3}`) },
		"a link": func() {
			w.personSettings(own)
			noError(t, os.Rename(path, path+".real"))
			noError(t, os.Symlink(path+".real", path))
		},
	} {
		lay()
		before := is()
		if code, _, said := w.run("init", "--sessions", "--user", "--yes"); code == 0 || is() != before ||
			!strings.Contains(said, "nothing was changed") {
			t.Errorf("%s: exit %d, %s", name, code, said)
		}
		if _, err := os.Stat(filepath.Join(w.Dirs.State, "sessions.json")); err == nil {
			t.Errorf("%s: it is on all the same", name)
		}
		_ = os.Remove(path)
	}
	if code, _, said := w.run("init", "--sessions=always", "--user", "--yes"); code != 2 {
		t.Errorf("exit %d, %s", code, said)
	}
}

// What a phone was told is taken back, whoever is killed: the hook, or claude.
func TestAPhoneIsToldThatASessionAsksNoMore(t *testing.T) {
	t.Parallel()
	w, n := newWorld(t), newNtfyServer(t)
	w.withPhone(n, "http://127.0.0.1:1", "  permissions: true\n")
	w.must("init", "--sessions", "--user", "--yes")
	for says, end := range map[string]func(*called){
		"screen decides": func(c *called) { // which is there until the hook was looked for
			for _, pid := range machine.With(machine.InHome(w.Home)) {
				if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasSuffix(string(line), "\x00hook\x00") &&
					strings.HasPrefix(string(line), w.Program) {
					noError(t, syscall.Kill(pid, syscall.SIGKILL))
				}
			}
		},
		"ended while it asked": func(c *called) { noError(t, c.cmd.Process.Kill()) },
	} {
		noError(t, os.WriteFile(filepath.Join(w.Home, "t.jsonl"), []byte(`{"type":"assistant","uuid":"u","message":{"content":`+
			`[{"type":"tool_use","id":"`+says[:5]+`","name":"Bash","input":{"command":"ls"}}]}}`+"\n"), 0o600))
		c := w.hooked(w.permits("ls"))
		asked := n.next(t)
		if len(asked.Actions) != 2 || asked.Actions[0].Label != "Allow once" {
			t.Errorf("it is told by %+v", asked)
		}
		waitUntil(t, "its call is found", func() bool { return strings.Contains(w.askFile(asked.SequenceID), `"call":"`+says[:5]) })
		if says == "screen decides" {
			noError(t, machine.StandStill(c.cmd.Process.Pid))
		}
		end(c)
		if closed := n.next(t); closed.SequenceID != asked.SequenceID || !strings.Contains(closed.Message, says) {
			t.Errorf("it is taken back by %+v", closed)
		}
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
	// Whoever tells is killed, too: then the next hook has it taken back.
	c := w.hooked(w.permits("true"))
	first := n.next(t).SequenceID
	waitForText(t, outside.Journal(w.Dirs, first))
	for _, pid := range telling(w.Home) {
		noError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	w.must("answer", first, "deny")
	c.says(t)
	c = w.hooked(w.permits("false"))
	second := n.next(t).SequenceID
	w.must("answer", second, "deny")
	c.says(t)
	back := []string{n.next(t).SequenceID, n.next(t).SequenceID}
	if !slices.Contains(back, first) || !slices.Contains(back, second) {
		t.Errorf("of %s and %s are taken back %v", first, second, back)
	}
	w.must("init", "--sessions=notify", "--yes")
	c = w.hooked(w.permits("pwd"))
	if asked := n.next(t); len(asked.Actions) != 0 || !strings.Contains(asked.Message, "pwd") {
		t.Errorf("what its screen alone answers is told by %+v", asked)
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
	n.next(t)
	waitUntil(t, "nobody tells any more", func() bool { return len(telling(w.Home)) == 0 })
}

// A desktop shows what a session asks, without buttons: who would answer by them is below a claude.
func TestADesktopShowsWhatASessionAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(filepath.Join(w.Home, "bin", "notify-send"), "#!/bin/sh\nfor word; do echo \"$word\"; done >> \"$HOME/banners\"\n")
	noError(t, os.Chmod(filepath.Join(w.Home, "bin", "notify-send"), 0o700))
	w.Env = append(w.Env, "PATH="+filepath.Join(w.Home, "bin")+":"+os.Getenv("PATH"), "DISPLAY=:0", "CI=", "SSH_CONNECTION=",
		"SSH_TTY=", "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(w.Home, "none"))
	w.must("init", "--sessions", "--user", "--yes")
	c := w.hooked(w.permits("ls"))
	q := w.asksHere("ls")
	waitForText(t, filepath.Join(w.Home, "banners"))
	w.must("answer", q.ID, "deny")
	c.says(t)
	waitUntil(t, "nobody tells any more", func() bool { return len(telling(w.Home)) == 0 })
	if said, _ := os.ReadFile(filepath.Join(w.Home, "banners")); strings.Count(string(said), q.ID) != 2 || // and in the command
		!strings.Contains(string(said), "May it run: ls?") || strings.Contains(string(said), "--action") {
		t.Errorf("the desktop shows\n%s", said)
	}
}

// A list that is watched has what a session asks as long as it asks it.
func TestAWatchedListHasTheSessionsThatAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.watch("ps", "--watch")
	s.shows(`No run is active\. Ended runs: claude-supervise ps -a\n` + listFoot)
	c := w.hooked(w.permits("ls"))
	s.shows(`No run is active.*\n\nAsked without a supervisor:\n  q-\w+ .*\n    asks: .*\n` + listFoot)
	w.must("answer", w.asksHere("ls").ID, "deny")
	c.says(t)
	s.shows(`No run is active\. Ended runs: claude-supervise ps -a\n` + listFoot)
}

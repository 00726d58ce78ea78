package e2e

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// defers is a hook of the person's own that puts a call off the first time, and has no opinion later.
const defers = `[ -e "$HOME/deferred" ] && exit 0
touch "$HOME/deferred"
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}'
`

// deferring lays the hook for calls of Bash.
func deferring(s *site) {
	s.put(filepath.Join(s.Home, "defer.sh"), defers)
	s.put(filepath.Join(s.Home, ".claude", "settings.json"), `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":`+
		`[{"type":"command","command":"sh $HOME/defer.sh"}]}]}}`)
}

// A call that a hook of the person's own has put off is not made when the conversation goes on, before and without what
// the agent is told then: it was not asked about, and its result is no part of what was told.
func TestACallThatWasPutOffIsNotMadeAtTheRelaunch(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	s := examples.Scenario{Name: "deferred", Prompt: "## WORK", Turns: []examples.Turn{
		{When: "## WORK", Replies: []examples.Reply{
			{Tools: []examples.ToolCall{bashCall("echo made >> made")}}, {Text: "It is made."}}},
		{When: "## NEXT", Replies: []examples.Reply{{Text: "Next."}, {Text: "Still next."}}},
		{When: "## GO ON", Replies: []examples.Reply{{Text: "On."}, {Text: "Still on."}}},
	}}
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		at := newSite(t)
		deferring(at)
		api := messagesapi.Serve(s, nil)
		defer api.Close()
		const id = "11111111-2222-4333-8444-555555555555"
		for _, args := range [][]string{{"## WORK", "--session-id", id}, {"## NEXT", "--resume", id}} {
			cmd := exec.Command(program, append([]string{"-p", "--allowedTools=Bash", "--output-format=stream-json", "--verbose"},
				args...)...)
			var out bytes.Buffer
			cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = at.Cwd, claude.Environment(at.Home, api.URL), &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
		}
		if made := at.got("made"); made != "made\n" {
			t.Errorf("bare claude makes it: %q", made)
		}
	})
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t).real(s, nil)
		deferring(&site{world: w})
		unreported := func(args ...string) {
			if code, stdout, stderr := w.run(args...); code != 6 {
				t.Fatalf("%q exits %d\n%s%s", args, code, stdout, stderr)
			}
		}
		unreported("run", "--allow", "Bash", "--check", "off", "--retries", "0", "## WORK")
		run := w.ps()
		unreported("run", "--allow", "Bash", "--check", "off", "--continue", run.Agents[0].ID, "## NEXT")
		unreported("resume", run.ID)
		if _, err := os.Stat(filepath.Join(w.Cwd, "made")); err == nil {
			t.Errorf("the call is made %q", w.got("made"))
		}
		if n := len(w.API.Requests()); n != 5 { // once, and twice for each that goes on
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// An agent leaves no schedule behind that starts prompts in later sessions of the person.
func TestNoScheduleOutlivesARun(t *testing.T) {
	t.Parallel()
	program := claude.Program(t)
	cron := examples.ToolCall{Name: "CronCreate", Input: map[string]any{
		"cron": "0 5 1 1 *", "prompt": "## LATER", "recurring": true, "durable": true}}
	var at *site
	a := attack{lay: func(s *site) { at = s }, calls: []examples.ToolCall{cron}}
	kept := func() bool { return at.made(".claude/scheduled_tasks.json") }
	if a.bare(t, program); !kept() {
		t.Error("bare claude keeps no schedule")
	}
	if a.supervised(t, program); kept() {
		t.Error("a run leaves a schedule behind")
	}
}

// refuses lays a hook of the person's own that refuses what is said while ~/refuse is there.
func refuses(w *world) (refuse, permit func()) {
	w.t.Helper()
	flag := filepath.Join(w.Home, "refuse")
	w.put(filepath.Join(w.Home, "hook.sh"), `[ -e "$HOME/refuse" ] || exit 0; echo "not now" >&2; exit 2`)
	w.put(filepath.Join(w.Home, ".claude", "settings.json"), `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command",`+
		`"command":"sh $HOME/hook.sh"}]}]}}`)
	return func() { w.put(flag, "") }, func() { _ = os.Remove(flag) }
}

// What a hook of the person's own refuses is not lost: they are told, and resume says it again.
func TestWhatTheHookOfThePersonRefusesIsSaidAgain(t *testing.T) {
	t.Parallel()
	const told = "your UserPromptSubmit hook refused what the agent was told: [sh $HOME/hook.sh]: not now"
	claude.Program(t)
	cases := map[string]func(*testing.T){}
	cases["a task"] = func(t *testing.T) {
		s := load(t, "ask")
		w := newWorld(t).real(s, nil)
		refuse, permit := refuses(w)
		refuse()
		code, _, stderr := w.run(w.runArgs(s, "--hold", "0", "--on-question", "park")...)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
		lacksNone(t, "the run", stderr, told)
		permit()
		code, _, stderr = w.run("resume", w.ps().ID, "--on-question", "park")
		if code != 75 {
			t.Errorf("it goes on with exit %d", code)
		}
		lacksNone(t, "resume", stderr, "in a new conversation: its task had not reached it yet")
	}
	cases["an answer"] = func(t *testing.T) {
		s := load(t, "ask")
		w := newWorld(t).real(s, nil)
		refuse, permit := refuses(w)
		w.exits(75, w.runArgs(s, "--hold", "0", "--on-question", "park")...)
		run := w.ps().ID
		refuse()
		w.must("answer", w.questions()[0].ID, "Sessions")
		code, _, stderr := w.run("resume", run)
		if code != 1 {
			t.Errorf("exit %d", code)
		}
		lacksNone(t, "the run", stderr, told)
		permit()
		w.must("resume", run)
		w.written("auth.txt", "login by Sessions\n")
	}
	cases["a message in a turn"] = func(t *testing.T) {
		s, err := examples.Parse([]byte(toldAtWork))
		noError(t, err)
		w := newWorld(t).real(s, nil)
		refuse, permit := refuses(w)
		gate := filepath.Join(w.Cwd, "go")
		noError(t, unix.Mkfifo(gate, 0o600))
		run := w.start(w.runArgs(s)...)
		waitFor(t, filepath.Join(w.Cwd, "started"))
		refuse()
		id := w.ps().ID
		w.must("attach", id, "make it two")
		for strings.Count(w.must("logs", id, "--raw"), `"state":"queued"`) < 2 {
		}
		w.put(gate, "go\n")
		run.waitsFor("your UserPromptSubmit hook refused a message")
		if code := run.wait(); code != 1 {
			t.Errorf("exit %d", code)
		}
		permit()
		w.must("resume", id)
		w.written("second.txt", "two\n")
	}
	for _, name := range sample.Pick(t.Name(), slices.Sorted(maps.Keys(cases))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases[name](t)
		})
	}
}

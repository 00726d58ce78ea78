package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/machinetest"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/procs"
	cli "claude-supervise/procs/claude"
	"claude-supervise/supervisor/ask"
)

// hostileSettings are a person's own, in which nearly all that could break a promise of a run does. A call that waits
// for a person ends after a second.
const hostileSettings = `{"permissions":{"defaultMode":"dontAsk","ask":["mcp__supervise"]},"disableAllHooks":true,` +
	`"askUserQuestionTimeout":"60s","cleanupPeriodDays":1,"deniedMcpServers":[{"serverName":"supervise"}],` +
	`"env":{"MCP_TOOL_TIMEOUT":"1000","MCP_TIMEOUT":"1","CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT":"1000",` +
	`"CLAUDE_AFK_TIMEOUT_MS":"1000","CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS":"1000","CLAUDE_AGENT_SDK_MCP_NO_PREFIX":"1",` +
	`"CLAUDE_CODE_SIMPLE":"1","CLAUDE_CODE_COORDINATOR_MODE":"1","CLAUDE_CODE_BRIEF":"1",` +
	`"CLAUDE_CODE_SKIP_PROMPT_HISTORY":"1","CLAUDE_CODE_RESUME_INTERRUPTED_TURN":"1",` +
	`"CLAUDE_CODE_DISABLE_DEFERRED_TOOL_RESUME":"0"}}`

// afterTheTimeOut is longer than the time-outs of hostileSettings.
const afterTheTimeOut = 2 * time.Second

// personSettings lays the settings of the person.
func (w *world) personSettings(doc string) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".claude")
	noError(w.t, os.MkdirAll(dir, 0o700))
	noError(w.t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(doc), 0o600))
}

// Every question waits for its answer, whatever the person's own settings say of it; the same settings given by
// --settings, too. Without ours claude refuses the one question unseen, and has no tool for the other.
func TestQuestionsOutliveAHostileSetUp(t *testing.T) {
	t.Parallel()
	s := load(t, filepath.Join("testdata", "permission", "questions.yaml"))
	for name, lay := range playedAttacks(t, map[string]func(w *world) []string{
		"the person's settings": func(w *world) []string { w.personSettings(hostileSettings); return nil },
		"a --settings of theirs": func(w *world) []string {
			path := filepath.Join(w.Home, "own.json")
			noError(t, os.WriteFile(path, []byte(hostileSettings), 0o600))
			return []string{"--", "--settings", path}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).real(s, nil)
			run := w.start(append(w.runArgs(s, "--hold", "forever"), lay(w)...)...)
			for _, answer := range []string{"Black", "Blue"} {
				q := run.until("question").Question
				argv := ""
				for _, pid := range machine.Marked(run.seen[0].Run) {
					line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
					argv += string(line)
				}
				if strings.Contains(argv, "MCP_TOOL_TIMEOUT") ||
					strings.Contains(argv, "--settings") && !strings.Contains(argv, ".settings.json") { // 2.1.7 hides its arguments
					t.Errorf("the settings are among the arguments, for all to see: %q", argv)
				}
				time.Sleep(afterTheTimeOut)
				w.must("answer", q.ID, answer)
			}
			run.exits(0)
			if got := run.count("question"); got != 2 {
				t.Errorf("%d questions were asked", got)
			}
			if _, err := cli.Transcript(w.Env, w.ps().Agents[0].SessionID); err != nil {
				t.Errorf("the conversation is not kept: %v", err)
			}
		})
	}
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t).real(s, nil)
		w.personSettings(`{"permissions":{"defaultMode":"dontAsk"},"env":{"MCP_TOOL_TIMEOUT":"1000"}}`)
		said := w.withoutOurSettings()
		for _, want := range []string{"AskUserQuestion has been", "timed out after 1s"} {
			if !strings.Contains(said, want) {
				t.Errorf("of claude without our settings the calls came to:\n%s", said)
			}
		}
	})
}

// withoutOurSettings plays a scenario to claude as a run starts it, but for our settings, answers no question, and
// returns what the calls came to.
func (w *world) withoutOurSettings() string {
	var p *procs.Process
	var results []string
	started, ended := make(chan struct{}), make(chan struct{})
	p, err := procs.Start(cli.Agent{}, procs.Spec{Path: claude.Program(w.t), Flags: []string{"--setting-sources", "user"}, Dir: w.Cwd,
		Env: w.Env, Tools: ask.Served(), SessionID: "6f9619ff-8b86-4011-b42d-00c04fc964ff",
		Marker: procs.Marker{Run: "r-bare", Agent: "a-7Qm2xK9fWb4T", Launch: 1}}, func(m procs.Message) {
		<-started
		switch m := m.(type) {
		case procs.ToolResult:
			results = append(results, m.Text)
		case procs.StopHook:
			_ = p.Gate(m.Request, "")
		case procs.Result:
			_ = p.CloseInput()
		case procs.Exit:
			close(ended)
		}
	})
	noError(w.t, err)
	close(started)
	if err := p.Send("9f9619ff-8b86-4011-b42d-00c04fc964ff",
		"Your agent id: a-7Qm2xK9fWb4T\n\n## YOUR TASK\n\nChoose."); err != nil {
		w.t.Error(err)
	}
	<-ended
	return strings.Join(results, "\n")
}

// Where our tools are kept from agents, the statement does not name them, the agent asks and reports by text, and the
// person is told by what. (From 2.1.200 on: before, a definition's tools and a rule about all servers change nothing.)
func TestToolsThatThePersonDeniesAreNotNamed(t *testing.T) {
	t.Parallel()
	for name, c := range playedAttacks(t, map[string]struct {
		lay  func(w *world)
		told string
	}{
		"all servers": {func(w *world) { w.personSettings(`{"permissions":{"deny":["mcp__*"]}}`) },
			"your own settings: the denied rule mcp__* in HOME/.claude/settings.json"},
		"ours": {func(w *world) { w.personSettings(`{"permissions":{"deny":["mcp__supervise"]}}`) },
			"your own settings: the denied rule mcp__supervise in HOME/.claude/settings.json"},
		"a definition": {func(w *world) {
			w.personSettings(`{"agent":"narrow"}`)
			w.put(filepath.Join(w.Home, ".claude", "agents", "narrow.md"),
				"---\nname: narrow\ndescription: d\ntools: Read, Write, Bash\n---\nDo what you are told.\n"+
					"Working directory: "+w.Cwd+"\n") // which 2.1.200 does not say beside a definition
		}, "your own settings: agent narrow in HOME/.claude/settings.json"},
		"an administrator's list": {func(w *world) { w.administered("managed-mcp.json", `{"mcpServers":{}}`) },
			"your administrator's settings: the list of MCP servers in /etc/claude-code/managed-mcp.json"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, said := load(t, "ask"), ""
			w := newWorld(t).real(s, func(r messagesapi.Request) {
				if !r.Side && said == "" {
					said = fmt.Sprint(r.Conversation)
				}
			})
			c.lay(w)
			run := w.start(w.runArgs(s, "--hold", "forever")...)
			w.must("answer", run.until("question").Question.ID, "JWT")
			run.exits(0)
			if strings.Contains(said, "mcp__supervise__") || !strings.Contains(said, "[CLARIFICATION_NEEDED]") {
				t.Errorf("the agent is told:\n%s", said)
			}
			told := strings.ReplaceAll(c.told, "HOME", w.Home)
			if !slices.ContainsFunc(run.seen, func(e event) bool { return strings.Contains(e.Text, told) }) {
				t.Errorf("nobody is told %q:\n%s", told, run.stderr)
			}
		})
	}
}

// administered has the commands of the world find a file in the folder of an administrator's settings: they have mounts
// of their own, so that no other test and no other user reads it. Where that cannot be the test is skipped, in CI it
// fails.
func (w *world) administered(name, doc string) {
	w.t.Helper()
	unshare := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		machinetest.Lacks(w.t, "no mounts of its own: %v\n%s", err, out)
	}
	dir := w.t.TempDir()
	w.put(filepath.Join(dir, name), doc)
	enter := filepath.Join(w.t.TempDir(), "enter")
	w.put(enter, fmt.Sprintf(`#!/bin/sh
exec %s /bin/sh -c '
	at=$1; settings=$2; shift 2
	mount -t tmpfs none "$at" && mkdir "$at/was" "$at/etc" && mount --bind /etc "$at/was" || exit 97
	for file in "$at"/was/*; do ln -s "$file" "$at/etc/"; done
	rm -f "$at/etc/claude-code" && ln -s "$settings" "$at/etc/claude-code" && mount --bind "$at/etc" /etc || exit 97
	exec "$@"
' enter %s %s %s "$@"
`, strings.Join(unshare, " "), w.t.TempDir(), dir, w.Program))
	noError(w.t, os.Chmod(enter, 0o700))
	w.Program = enter
}

// An administrator's settings win over ours: where they break a promise, run and doctor say so, by whom and how.
func TestAnAdministratorsSettingsThatBreakAPromiseAreNamed(t *testing.T) {
	t.Parallel()
	s := load(t, filepath.Join("testdata", "permission", "questions.yaml"))
	for name, c := range playedAttacks(t, map[string]struct {
		doc, told string
		questions []string // that still come to the person
		result    string   // of a call
	}{
		"a time-out": {`{"env":{"MCP_TOOL_TIMEOUT":"1000"}}`, "env.MCP_TOOL_TIMEOUT 1000 in FILE ends a question of ask_user",
			[]string{"Which ground?", "Which accent?"}, "timed out after 1s"},
		"nobody asked": {`{"permissions":{"denyInsteadOfPrompting":true}}`,
			"permissions.denyInsteadOfPrompting true in FILE refuses permissions without asking",
			[]string{"Which accent?"}, "AskUserQuestion"},
		"a mode": {`{"permissions":{"defaultMode":"dontAsk"}}`,
			"permissions.defaultMode dontAsk in FILE refuses questions and permissions without asking\n",
			[]string{"Which accent?"}, "Permission to use AskUserQuestion has been denied"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).real(s, nil)
			w.administered("managed-settings.json", c.doc)
			told := strings.ReplaceAll(c.told, "FILE", "/etc/claude-code/managed-settings.json")
			_, stdout, stderr := w.run("doctor")
			lacksNone(t, "doctor", stdout+stderr, strings.TrimSpace(told))
			run := w.start(w.runArgs(s, "--hold", "forever")...)
			for _, question := range c.questions {
				q := run.until("question").Question
				if q.Question != question {
					t.Errorf("it asks %q, want %q", q.Question, question)
				}
				if question == "Which accent?" {
					time.Sleep(afterTheTimeOut)
				}
				w.run("answer", q.ID, "1") // too late for one that timed out
			}
			run.wait()
			lacksNone(t, "the run", run.stderr.String(), "your administrator's settings: "+told)
			lacksNone(t, "the log", w.must("logs", run.seen[0].Run, "--raw"), c.result)
		})
	}
}

// Settings of which claude would take nothing, and with them none of ours, start no agent.
func TestSettingsThatWouldVoidOursAreRefused(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	w := newWorld(t).real(s, nil)
	code, _, stderr := w.run(append(w.runArgs(s), "--settings", `{"model":5,"hooks":{"SessionStart":[{"hooks":[`+
		`{"type":"command","command":"touch `+filepath.Join(w.Home, "PROOF")+`"}]}]}}`)...)
	if code != 69 || !strings.Contains(stderr, "nothing of your --settings would be in force: model: ") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(w.Home, "PROOF")); err == nil {
		t.Error("a hook of theirs has run")
	}
}

// doctor names each setting that breaks a promise, and each that would.
func TestDoctorNamesAHostileSetUp(t *testing.T) {
	t.Parallel()
	s := load(t, "ask")
	w := newWorld(t).real(s, nil)
	_, stdout, _ := w.run("doctor")
	lacksNone(t, "doctor", stdout, "none of your settings breaks a promise of runs")
	w.personSettings(strings.Replace(hostileSettings, `"ask":["mcp__supervise"]`, `"deny":["mcp__*"]`, 1))
	code, stdout, stderr := w.run("doctor")
	t.Log(stdout + stderr)
	if code == 0 {
		t.Error("doctor finds nothing")
	}
	for _, name := range []string{"env.MCP_TOOL_TIMEOUT", "env.MCP_TIMEOUT", "permissions.defaultMode dontAsk",
		"env.CLAUDE_CODE_SIMPLE", "env.CLAUDE_CODE_SKIP_PROMPT_HISTORY", "the denied rule mcp__*"} {
		lacksNone(t, "doctor", stdout+stderr, name)
	}
}

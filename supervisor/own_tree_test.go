package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
)

const ownProgram = "/opt/claude-supervise"

// ownTree returns a story of a root with a child, under a supervisor that knows its own path.
func ownTree(t *testing.T, program string) *Story {
	s := delegatedWork(t, func(c *conf.Config) { c.Permissions = conf.AskPermissions })
	s.Do(Opened{PID: 2, Policy: conf.Ask, Program: program})
	s.Do(Ended{Agent: Root, Launch: 1, Outcome: "lost with its supervisor"})
	s.Rests(true)
	s.Launches(2)
	s.Do(TurnBegun{Agent: Root, Launch: 2})
	return s
}

func TestAnAgentReadsOfItsOwnRunUnasked(t *testing.T) {
	for _, command := range []string{
		"logs " + childOne, "logs --tail 20 " + childOne, "logs --since=5m '" + childOne + "'", "show --json " + Root,
		"show --findings " + RunID,
		"show " + RunID, "wait " + childOne + " --timeout 5m", "ps --tree --json", "questions",
	} {
		t.Run(command, func(t *testing.T) {
			s := ownTree(t, ownProgram)
			s.wants("q-1", ownProgram+" "+command, nil)
			if r := s.replied("q-1"); !strings.Contains(r, `"behavior":"allow"`) {
				t.Errorf("it is answered %q", r)
			}
		})
	}
}

func TestNothingButReadingOnesOwnRunRunsUnasked(t *testing.T) {
	logs := ownProgram + " logs " + childOne
	for _, command := range []string{
		"claude-supervise logs " + childOne, "./claude-supervise logs " + childOne, "/tmp/claude-supervise logs " + childOne,
		logs + "; id", logs + " && id", logs + " | sh", logs + " > ~/.bashrc", logs + " 2>&1", logs + " &", logs + "\nid",
		"! " + logs, "PATH=. " + logs, "(" + logs + ")", "{ " + logs + "; }", "time " + logs, "exec " + logs, logs + " # x",
		ownProgram + " logs $(id)", ownProgram + " logs `id`", ownProgram + " logs $X", ownProgram + " logs ~",
		ownProgram + " logs *", ownProgram + " logs " + `a\-x`, ownProgram + " logs {" + childOne + ",x}",
		ownProgram + " logs", ownProgram + " logs a-other000000", ownProgram + " show r-other", ownProgram + " show --findings r-other", ownProgram + " show --",
		logs + " --log /tmp/x", ownProgram + " --log=/tmp/x logs " + childOne, logs + " --tail", logs + " --tail --log",
		ownProgram + " ps " + RunID, ownProgram + " ps --cwd /", ownProgram + " answer q-1 yes", ownProgram + " stop " + childOne,
		ownProgram + " resume " + RunID, ownProgram + " prune", ownProgram, "",
	} {
		t.Run(command, func(t *testing.T) {
			s := ownTree(t, ownProgram)
			s.wants("q-1", command, nil)
			if r := s.replied("q-1"); r != "" {
				t.Errorf("nobody is asked: %s", r)
			}
		})
	}
}

func TestAProgramThatAnAgentMayHaveWrittenRunsAskedOnly(t *testing.T) {
	for _, program := range []string{"", "/work/bin/claude-supervise"} {
		s := ownTree(t, program)
		s.wants("q-1", "/work/bin/claude-supervise logs "+childOne, nil)
		if r := s.replied("q-1"); r != "" {
			t.Errorf("as %q it runs unasked", program)
		}
	}
	s := ownTree(t, ownProgram)
	in := raw(map[string]any{"command": ownProgram + " ps", "dangerouslyDisableSandbox": true})
	if s.State.readsOwnRun(Root, checkpoints.ToolCall{Name: "Bash", Input: in}) {
		t.Error("it leaves the sandbox")
	}
}

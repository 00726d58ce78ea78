package supervisor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// wants lets an agent, or a subagent in it, make a call that needs permission, as the engine hears it.
func (s *story) wants(id, command string, from *checkpoints.Subagent) {
	s.t.Helper()
	l := s.state.launch(root)
	asked, err := asking(procs.Ask{Name: "Bash", Input: raw(map[string]string{"command": command})}, "/work")
	if err != nil {
		s.t.Fatal(err)
	}
	asked.Agent, asked.Launch, asked.Naming = root, l.N, Naming{IDs: []string{id}}
	asked.Call = checkpoints.ToolCall{
		Launch: l.N, Request: "r-" + id, ToolUse: "toolu_" + id, Name: "Bash", Input: raw(map[string]string{"command": command}), From: from,
	}
	s.do(asked)
}

// replied gives what a call was answered without anybody being asked, and "" if somebody is.
func (s *story) replied(id string) string {
	s.t.Helper()
	for _, v := range s.state.deliveries(root, func(v *Delivery) bool { return v.Tool != nil && v.Tool.Request == "r-"+id }) {
		return string(v.Reply)
	}
	if s.state.Questions[id] == nil {
		s.t.Fatalf("the call of %s is neither answered nor asked about", id)
	}
	return ""
}

func (s *story) revokes(rule string) {
	s.t.Helper()
	s.notes(Note{Kind: noteRevoke, Value: rule})
}

func TestARuleGivenAsAnAnswerHoldsForTheRunUntilItIsRevoked(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm test", nil)
	if q := s.state.Questions["q-1"]; q.Rule != "Bash(npm test)" || !strings.HasSuffix(q.Options[1].Description, "Bash(npm test)") {
		t.Fatalf("offered is %q, by %+v", q.Rule, q.Options)
	}
	s.answers("q-1", allowRun)
	if reply := s.replied("q-1"); !strings.Contains(reply, `"behavior":"allow"`) {
		t.Fatalf("the call that was asked about gets %s", reply)
	}
	s.wants("q-2", "npm test", &checkpoints.Subagent{ID: "sub", Task: "test"})
	if reply := s.replied("q-2"); !strings.Contains(reply, `"behavior":"allow"`) || !strings.Contains(reply, "npm test") {
		t.Fatalf("a subagent's same call gets %q", reply)
	}
	s.wants("q-3", "npm test && rm -rf /", nil)
	if s.replied("q-3") != "" {
		t.Fatal("more than the rule says runs unasked")
	}
	s.revokes("Bash(npm test)")
	s.wants("q-4", "npm test", nil)
	if s.replied("q-4") != "" {
		t.Fatal("a rule that was revoked permits still")
	}
	if by := s.state.Questions["q-1"].Revoked; by == "" {
		t.Fatal("nobody has revoked it")
	}
}

func TestARuleHoldsInTheNextProcess(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm test", nil)
	s.answers("q-1", allowRun)
	d := s.delivers(1)
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.dies(crash())
	for _, v := range s.state.deliveries(root, waitsForReceipt) {
		s.do(Confirmed{UUID: v.UUID, Found: true})
	}
	s.rests(true)
	s.do(RetryDue{Agent: root})
	s.launches(2)
	s.wants("q-2", "npm test", nil)
	if reply := s.replied("q-2"); !strings.Contains(reply, `"behavior":"allow"`) {
		t.Fatalf("after a relaunch the same call gets %q", reply)
	}
}

func TestARuleAnswersWhatElseWaitsForTheSame(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm test", nil)
	s.wants("q-2", "npm test", &checkpoints.Subagent{ID: "sub", Task: "test"})
	s.wants("q-3", "npm install", nil)
	s.answers("q-1", allowRun)
	if q := s.state.Questions["q-2"]; q.Answer != allow || q.AnsweredBy != "the rule Bash(npm test)" {
		t.Fatalf("the same question is answered %q by %q", q.Answer, q.AnsweredBy)
	}
	if q := s.state.Questions["q-3"]; q.State != checkpoints.QuestionOpen {
		t.Fatalf("another question is %s", q.State)
	}
}

func TestWhatARuleAnsweredIsAskedAgainWhenTheRuleGoes(t *testing.T) {
	for name, goes := range map[string]func(*story){
		"revoked":    func(s *story) { s.revokes("Bash(npm test)") },
		"taken back": func(s *story) { s.notes(Note{Kind: noteChange, Question: "q-1", Value: deny}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, func(c *Config) { c.Hold = 0 })
			s.do(Besides{Agent: root, Launch: 1, AtWork: true})
			for _, id := range []string{"q-1", "q-2", "q-3"} {
				command := "npm test"
				if id == "q-3" {
					command = "make" // which keeps the agent parked
				}
				s.wants(id, command, &checkpoints.Subagent{ID: "sub-" + id, ToolUse: "toolu_" + id, Task: "test"})
			}
			s.do(Besides{Agent: root, Launch: 1})
			s.ends()
			s.rests(true)
			s.answers("q-1", allowRun)
			if q := s.state.Questions["q-2"]; q.State != checkpoints.QuestionAnswered {
				t.Fatalf("the same question is %s", q.State)
			}
			goes(s)
			if q := s.state.Questions["q-2"]; q.State != checkpoints.QuestionOpen || q.AnsweredAt != nil {
				t.Fatalf("it is %s, by %q", q.State, q.AnsweredBy)
			}
			s.is(checkpoints.Parked)
		})
	}
}

func TestThePersonMayGiveAWiderRuleThanTheOneOffered(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm run build", nil)
	s.answers("q-1", "allow-run Bash(npm run:*)")
	s.wants("q-2", "npm run lint", nil)
	if s.replied("q-2") == "" {
		t.Fatal("the rule that was typed does not hold")
	}
	s.revokes("Bash(npm run:*)")
	s.wants("q-3", "npm run lint", nil)
	if s.replied("q-3") != "" {
		t.Fatal("the rule that was typed cannot be revoked")
	}
}

func TestWhatIsNotExactlyAPermissionPermitsNothing(t *testing.T) {
	for _, answer := range []string{
		"allow if you must", "allowed", "Allow", "allow-run Bash(npm run:*", "allow-run Bash(make)", "allow-run for today", "yes", "",
		"deny-stopped", "deny allow",
	} {
		s := begin(t, nil)
		s.wants("q-1", "npm test", nil)
		s.answers("q-1", answer)
		if reply := s.replied("q-1"); !strings.Contains(reply, `"behavior":"deny"`) {
			t.Errorf("%q gets %s", answer, reply)
		}
		s.wants("q-2", "npm test", nil)
		if s.replied("q-2") != "" {
			t.Errorf("%q is a rule", answer)
		}
	}
}

func TestADecisionIsCheckedBeforeItIsTaken(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm test", nil)
	s.wants("q-2", "echo a\necho b", nil)
	for _, c := range []struct{ question, answer, says string }{
		{"q-1", allow, ""}, {"q-1", allowRun, ""}, {"q-1", "deny not now", ""}, {"q-1", "deny-stop enough", ""},
		{"q-1", "allow-run Bash(npm:*)", ""}, {"q-1", "allow-run Bash", ""},
		{"q-1", "allow please", "nothing after it"}, {"q-1", "allow-run Bash(make)", "does not permit what is asked"},
		{"q-1", "allow-run make", "did you mean Bash(make)?"}, {"q-2", allowRun, "this once only"}, {"q-2", allow, ""},
	} {
		err := CheckDecision(s.state.Questions[c.question], c.answer, "/work")
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q is %v, want %q", c.question, c.answer, err, c.says)
		}
	}
	if len(s.state.Questions["q-2"].Options) != 3 {
		t.Error("a rule is offered that nobody could read")
	}
}

func TestADenialIsReadWithItsReason(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "npm test", nil)
	s.answers("q-1", "deny use make test")
	if reply := s.replied("q-1"); !strings.Contains(reply, `"behavior":"deny"`) || !strings.Contains(reply, "Reason: use make test") {
		t.Fatalf("the model reads %s", reply)
	}
}

func TestDenyStopStopsTheAgentAndSaysWhy(t *testing.T) {
	s := begin(t, nil)
	s.wants("q-1", "curl evil", nil)
	s.answers("q-1", "deny-stop it is led astray")
	s.plans("end " + root)
	s.ends()
	s.rests(true)
	for _, v := range s.state.deliveries(root, waitsForReceipt) {
		s.do(Confirmed{UUID: v.UUID})
	}
	s.is(checkpoints.Stopped)
	s.exits(ExitStopped)
	if reason := s.state.Agents[root].Reason; !strings.HasSuffix(reason, ": it is led astray") {
		t.Fatalf("the reason is %q", reason)
	}
}

func TestDenyStopEndsAParkedAgentToo(t *testing.T) {
	s := begin(t, func(c *Config) { c.Hold = 0 })
	s.wants("q-1", "curl evil", nil)
	s.ends()
	s.rests(true)
	s.answers("q-1", denyStop)
	s.plansNot("launch")
	s.is(checkpoints.Stopped)
}

// The agent must not learn from a prompt what it was not permitted to read.
func TestARelaunchTellsTheCallAndNotWhatThePersonWasShown(t *testing.T) {
	q := &Question{
		Kind: checkpoints.AskPermission, Answer: deny, Context: "-secret of the file",
		Tool: &checkpoints.ToolCall{Name: "Bash", Input: raw(map[string]string{"command": "npm test"})},
	}
	for who, text := range map[string]string{
		"the agent": permissionDecided(q), "its subagent": State{}.forSubagent([]*Question{q}),
	} {
		if strings.Contains(text, "secret") || !strings.Contains(text, "command: npm test") {
			t.Errorf("%s reads:\n%s", who, text)
		}
	}
}

// A file that has become a link to another one is not the file that the person has seen.
func TestAPermissionGivenWhileParkedIsNotForAnotherFileOfTheSameName(t *testing.T) {
	cwd := t.TempDir()
	path := filepath.Join(cwd, "notes")
	input := raw(map[string]string{"file_path": path, "content": "x"})
	s := begin(t, func(c *Config) { c.Hold = 0 })
	writes := func(id string) {
		asked, err := asking(procs.Ask{Name: "Write", Input: input}, cwd)
		if err != nil {
			t.Fatal(err)
		}
		l := s.state.launch(root)
		asked.Agent, asked.Launch, asked.Naming = root, l.N, Naming{IDs: []string{id}}
		asked.Call = checkpoints.ToolCall{Launch: l.N, Request: "r-" + id, ToolUse: "toolu_" + id, Name: "Write", Input: input}
		s.do(asked)
	}
	writes("q-1")
	s.ends()
	s.rests(true)
	s.answers("q-1", allow)
	s.delivered(2)
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	writes("q-2")
	if reply := s.replied("q-2"); reply != "" {
		t.Fatalf("it gets %q, and nobody is asked", reply)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.do(AskCancelled{Agent: root, Launch: 2, Request: "r-q-2"})
	writes("q-3")
	if reply := s.replied("q-3"); !strings.Contains(reply, `"behavior":"allow"`) {
		t.Fatalf("the call that was permitted gets %q", reply)
	}
}

func TestWithPermissionsDeniedNoRuleIsAsked(t *testing.T) {
	s := begin(t, func(c *Config) { c.Permissions = DenyPermissions })
	s.wants("q-1", "npm test", nil)
	if reply := s.replied("q-1"); !strings.Contains(reply, `"behavior":"deny"`) {
		t.Fatalf("it gets %q", reply)
	}
}

func TestARuleOfAllowIsRevokedForTheNextProcess(t *testing.T) {
	s := begin(t, func(c *Config) { c.Allow = []string{"Bash(make)", "Read"} })
	s.revokes("Bash(make)")
	var cfg Config
	if err := json.Unmarshal(s.state.Run.Config, &cfg); err != nil || len(cfg.Allow) != 1 || cfg.Allow[0] != "Read" {
		t.Fatalf("kept is %q (%v)", cfg.Allow, err)
	}
}

func TestRulesDoNotComeOutOfAFileFromElsewhere(t *testing.T) {
	s := begin(t, func(c *Config) { c.Allow, c.AllowProject = []string{"Bash"}, true })
	s.wants("q-1", "npm test", nil)
	s.answers("q-1", allowRun)
	d := s.delivers(1)
	s.do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.wants("q-2", "make", nil)
	s.answers("q-2", allowRun)
	s.do(Unpacked{From: "/a", Cwd: "/b", Config: harmless(s.state.Config)})
	if rules := s.state.rules(); len(rules) != 0 || s.state.Config.Allow != nil || s.state.Config.AllowProject {
		t.Fatalf("in force are %v and %+v", rules, s.state.Config)
	}
	if !allowed(s.state.Questions["q-2"]) {
		t.Fatal("an answer that the agent has yet to hear is lost")
	}
}

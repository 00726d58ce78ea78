package supervisor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
)

// seen shows a call as the engine does, without what lies on disk.
func seen(tool string, input json.RawMessage) ask.CallView {
	var in struct{ Command string }
	_ = json.Unmarshal(input, &in)
	rule, _ := rules.Exactly(tool, in.Command)
	return ask.CallView{Headline: calls.Of(tool).Headline(input), Preview: "command: " + in.Command, Rule: rule}
}

// wants lets an agent, or a subagent in it, make a call that needs permission, as the engine hears it.
func (s *Story) wants(id, command string, from *checkpoints.Subagent) {
	s.T.Helper()
	s.wantsIn("", id, command, from)
}

// wantsIn is wants for a call that is made in a folder, as a checkpoints.ToolCall has it.
func (s *Story) wantsIn(cwd, id, command string, from *checkpoints.Subagent) {
	s.T.Helper()
	l := s.State.Launch(Root)
	asked, err := ParseAsk(procs.Ask{Name: "Bash", Input: raw(map[string]string{"command": command})}, seen)
	if err != nil {
		s.T.Fatal(err)
	}
	asked.Agent, asked.Launch, asked.Naming = Root, l.N, Naming{IDs: []string{id}}
	asked.Call = checkpoints.ToolCall{
		Launch: l.N, Request: "r-" + id, ToolUse: "toolu_" + id, Name: "Bash",
		Input: raw(map[string]string{"command": command}), From: from, Cwd: cwd,
	}
	s.Do(asked)
}

// replied returns what a call was answered without anybody being asked, and "" if somebody is.
func (s *Story) replied(id string) string {
	s.T.Helper()
	for _, v := range s.State.FindDeliveries(Root,
		func(v *Delivery) bool { return v.Tool != nil && v.Tool.Request == "r-"+id }) {
		return string(v.Reply)
	}
	if s.State.Questions.Get(id) == nil {
		s.T.Fatalf("the call of %s is neither answered nor asked about", id)
	}
	return ""
}

func (s *Story) revokes(rule string) {
	s.T.Helper()
	s.Notes(InboxEntry{Kind: EntryRevoke, Value: rule})
}

// What a command does depends on the folder in which it runs: a rule about it holds where it was given.
func TestARuleAboutACommandHoldsInItsFolderOnly(t *testing.T) {
	const sub, unknown = "/work/sub", checkpoints.ElsewhereUnknown
	type call struct{ cwd, command string }
	for name, c := range map[string]struct {
		given  call
		answer string
		covers []call
		not    []call
	}{
		"in the agent's own": {call{"", "./x"}, AllowRun, []call{{"", "./x"}},
			[]call{{sub, "./x"}, {unknown, "./x"}, {sub, "./x && ./x"}}},
		"elsewhere": {call{sub, "./x"}, AllowRun, []call{{sub, "./x"}, {sub, "./x && ./x"}},
			[]call{{"", "./x"}, {"/work/sub2", "./x"}, {unknown, "./x"}}},
		"with a wildcard": {call{sub, "./x"}, AllowRun + " Bash(./x *)", []call{{sub, "./x y"}},
			[]call{{"", "./x y"}, {"", "./x"}}},
		"about all commands": {call{sub, "./x"}, AllowRun + " Bash", []call{{"", "./y"}, {unknown, "./y"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.wantsIn(c.given.cwd, "q-0", c.given.command, nil)
			s.Answers("q-0", c.answer)
			for i, covered := range c.covers {
				id := fmt.Sprint("q-c", i)
				if s.wantsIn(covered.cwd, id, covered.command, nil); !strings.Contains(s.replied(id), `"behavior":"allow"`) {
					t.Errorf("%+v is asked about", covered)
				}
			}
			for i, other := range c.not {
				id := fmt.Sprint("q-n", i)
				if s.wantsIn(other.cwd, id, other.command, nil); s.replied(id) != "" {
					t.Errorf("%+v is answered %s", other, s.replied(id))
				}
			}
		})
	}
	// A rule of an earlier build says no folder: the agent's own.
	s := Begin(t, nil)
	s.wants("q-1", "./x", nil)
	s.Answers("q-1", AllowRun)
	if got := s.State.permitted("Bash(./x)", Root, ""); got != "Bash(./x)" {
		t.Errorf("it is permitted by %q", got)
	}
	if got := s.State.permitted("Bash(./x)", Root, sub); got != "" {
		t.Errorf("elsewhere it is permitted by %q", got)
	}
	// --allow is for the agent's own folder, too, where claude leaves it to us.
	s = Begin(t, func(c *conf.Config) { c.Allow = []string{"Bash(./x)"} })
	if s.State.permitted("Bash(./x)", Root, "") == "" || s.State.permitted("Bash(./x)", Root, sub) != "" {
		t.Error("a rule of --allow holds elsewhere")
	}
}

func TestAPermissionIsForTheFolderThatWasShown(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	s.wantsIn("/work/sub", "q-1", "./x", nil)
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", Allow)
	s.delivered(2)
	s.wants("q-2", "./x", nil)
	if reply := s.replied("q-2"); reply != "" {
		t.Fatalf("in another folder it gets %q", reply)
	}
	if s.State.SameQuestion(s.State.Questions.Get("q-1"), s.State.Questions.Get("q-2")) {
		t.Error("the same call in two folders is taken for one")
	}
	s.Do(AskCancelled{Agent: Root, Launch: 2, Request: "r-q-2"})
	s.wantsIn("/work/sub", "q-3", "./x", nil)
	if reply := s.replied("q-3"); !strings.Contains(reply, `"behavior":"allow"`) {
		t.Fatalf("where it was permitted it gets %q", reply)
	}
}

func TestWhatIsNotExactlyAPermissionPermitsNothing(t *testing.T) {
	for _, answer := range []string{
		"allow if you must", "allowed", "Allow", "allow-run Bash(npm run:*", "allow-run Bash(make)",
		"allow-run for today", "yes", "",
		"deny-stopped", "deny allow",
	} {
		s := Begin(t, nil)
		s.wants("q-1", "npm test", nil)
		s.Answers("q-1", answer)
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
	s := Begin(t, nil)
	s.wants("q-1", "npm test", nil)
	s.wants("q-2", "echo a\necho b", nil)
	for _, c := range []struct{ question, answer, says string }{
		{"q-1", Allow, ""}, {"q-1", AllowRun, ""}, {"q-1", "deny not now", ""}, {"q-1", "deny-stop enough", ""},
		{"q-1", "allow-run Bash(npm:*)", ""}, {"q-1", "allow-run Bash", ""},
		{"q-1", "allow please", "nothing after it"}, {"q-1", "allow-run Bash(make)", "does not permit what is asked"},
		{"q-1", "allow-run make", "did you mean Bash(make)?"}, {"q-2", AllowRun, "only be allowed once"}, {"q-2", Allow, ""},
	} {
		err := questions.Check(s.State.Questions.Get(c.question), c.answer, "/work")
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q is %v, want %q", c.question, c.answer, err, c.says)
		}
	}
	if len(s.State.Questions.Get("q-2").Options) != 3 {
		t.Error("a rule is offered that nobody could read")
	}
}

// The agent must not learn from a prompt what it was not permitted to read.
func TestARelaunchTellsTheCallAndNotWhatThePersonWasShown(t *testing.T) {
	q := &Question{
		Kind: questions.AskPermission, Response: checkpoints.Response{Answer: Deny},
		Wording: checkpoints.Wording{Context: "-secret of the file"},
		Origin: checkpoints.Origin{Tool: &checkpoints.ToolCall{Name: "Bash",
			Input: raw(map[string]string{"command": "npm test"})}},
	}
	for who, text := range map[string]string{
		"the agent": prompts.PermissionDecided(q, false), "its subagent": State{}.forSubagent([]*Question{q}),
	} {
		if strings.Contains(text, "secret") || !strings.Contains(text, "command: npm test") {
			t.Errorf("%s reads:\n%s", who, text)
		}
	}
}

// A file that has become a link to another one is not the file that the person has seen, nor is one that has changed.
func TestAPermissionGivenWhileParkedIsNotForAnotherFileOfTheSameName(t *testing.T) {
	input := raw(map[string]string{"file_path": "/work/notes", "content": "x"})
	plain, ok := rules.Exactly("Edit", "/notes")
	if !ok {
		t.Fatal("no rule is for the file alone")
	}
	shown := ask.CallView{Headline: calls.AtPath("notes"), Rule: plain, Preview: "+x"}
	s := Begin(t, func(c *conf.Config) { c.Hold = 0 })
	writes := func(id string) {
		asked, err := ParseAsk(procs.Ask{Name: "Write", Input: input},
			func(string, json.RawMessage) ask.CallView { return shown })
		if err != nil {
			t.Fatal(err)
		}
		l := s.State.Launch(Root)
		asked.Agent, asked.Launch, asked.Naming = Root, l.N, Naming{IDs: []string{id}}
		asked.Call = checkpoints.ToolCall{Launch: l.N, Request: "r-" + id, ToolUse: "toolu_" + id,
			Name: "Write", Input: input}
		s.Do(asked)
	}
	writes("q-1")
	s.Ends()
	s.Rests(true)
	s.Answers("q-1", Allow)
	s.delivered(2)
	shown.Rule = rules.Rule{} // it has become a link to another file
	writes("q-2")
	if reply := s.replied("q-2"); reply != "" {
		t.Fatalf("it gets %q, and nobody is asked", reply)
	}
	shown.Rule, shown.Preview = plain, "-y\n+x"
	s.Do(AskCancelled{Agent: Root, Launch: 2, Request: "r-q-2"})
	writes("q-4")
	if reply := s.replied("q-4"); reply != "" {
		t.Fatalf("of a file that has changed it gets %q, and nobody is asked", reply)
	}
	shown.Preview = "+x"
	s.Do(AskCancelled{Agent: Root, Launch: 2, Request: "r-q-4"})
	writes("q-3")
	if reply := s.replied("q-3"); !strings.Contains(reply, `"behavior":"allow"`) {
		t.Fatalf("the call that was permitted gets %q", reply)
	}
}

func TestARuleOfAllowIsRevokedForTheNextProcess(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Allow = []string{"Bash(make)", "Read"} })
	s.revokes("Bash(make)")
	var cfg conf.Config
	if err := json.Unmarshal(s.State.Run.Config, &cfg); err != nil || len(cfg.Allow) != 1 || cfg.Allow[0] != "Read" {
		t.Fatalf("kept is %q (%v)", cfg.Allow, err)
	}
}

func TestRulesDoNotComeOutOfAFileFromElsewhere(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.Allow, c.AllowProject = []string{"Bash"}, true })
	s.wants("q-1", "npm test", nil)
	s.Answers("q-1", AllowRun)
	d := s.Delivers(1)
	s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
	s.wants("q-2", "make", nil)
	s.Answers("q-2", AllowRun)
	harmless := s.State.Config
	harmless.Allow, harmless.AllowProject = nil, false
	s.Do(Unpacked{
		From: "/a", Cwd: "/b", Config: harmless,
		Conversations: []string{s.State.Agents.Get(Root).SessionID},
	})
	if rules := s.State.Rules(); len(rules) != 0 {
		t.Fatalf("in force are %v", rules)
	}
	q := s.State.Questions.Get("q-2")
	read := handlers[q.Kind].prompt(s.State, []*Question{q})
	if questions.Allowed(q) || !strings.Contains(read, "nobody has decided it here") {
		t.Fatalf("an answer that the agent has yet to hear is %q", read)
	}
}

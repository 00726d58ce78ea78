package sessions

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/questions"
)

// seen shows a call.
func seen(_ string, input json.RawMessage, _ ask.CallSite) ask.CallView {
	return ask.CallView{Headline: calls.OfCommand(string(input)), Preview: string(input)}
}

// asks makes the ask of a tool's call.
func asks(t *testing.T, tool, in, offered string) *Ask {
	t.Helper()
	a, err := newAsk(input{Event: "PermissionRequest", Session: "s", Cwd: "/work", Tool: tool, Input: json.RawMessage(in),
		Offered: json.RawMessage(offered)}, seen, time.Unix(1, 0), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.Mode = ModeAsk
	return a
}

const twoQuestions = `{"questions":[{"question":"Which?","header":"A","multiSelect":false,"options":[{"label":"x","description":` +
	`"1"},{"label":"y","description":"2"}]},{"question":"How many?","header":"B","multiSelect":true,"options":[{"label":"one",` +
	`"description":"1"},{"label":"two","description":"2"}]}]}`

// decided is what a hook says.
type decided struct {
	Out struct {
		Event    string   `json:"hookEventName"`
		Decision decision `json:"decision"`
	} `json:"hookSpecificOutput"`
}

func decidedBy(t *testing.T, a *Ask) decision {
	t.Helper()
	var d decided
	if err := json.Unmarshal(a.decision(), &d); err != nil || d.Out.Event != "PermissionRequest" {
		t.Fatalf("%s: %v", a.decision(), err)
	}
	return d.Out.Decision
}

func TestTheAnswersOfACallAreOneDecision(t *testing.T) {
	a := asks(t, "AskUserQuestion", twoQuestions, "")
	if len(a.Questions) != 2 || a.ID != a.Questions[0].ID || a.Questions[1].Group != a.ID {
		t.Fatalf("it asks %+v", a.Questions)
	}
	for i, answer := range []string{"y", "one, two"} {
		if a.complete() {
			t.Error("it has its answers before they are given")
		}
		if err := a.answer(given{Question: a.Questions[i].ID, Given: Given{Answer: answer, By: "ann"}}, time.Unix(2, 0)); err != nil {
			t.Fatal(err)
		}
	}
	d := decidedBy(t, a)
	var in struct{ Answers map[string]string }
	if err := json.Unmarshal(d.Input, &in); err != nil || d.Behavior != "allow" || in.Answers["Which?"] != "y" ||
		in.Answers["How many?"] != "one, two" {
		t.Errorf("it is %+v of %s", d, d.Input)
	}
	var taken *TakenError
	if err := a.answer(given{Question: a.ID, Given: Given{Answer: "x", By: "bob"}}, time.Unix(3, 0)); !errors.As(err, &taken) ||
		taken.By != "ann" {
		t.Errorf("whoever is late is told %v", err)
	}
}

func TestOneQuestionThatIsDeclinedDeclinesTheCall(t *testing.T) {
	a := asks(t, "AskUserQuestion", twoQuestions, "")
	if err := a.answer(given{Question: a.Questions[1].ID, Given: Given{Answer: "not today", Decline: true}}, time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
	if d := decidedBy(t, a); !a.complete() || d.Behavior != "deny" || !strings.Contains(d.Message, "not today") {
		t.Errorf("it is %+v", d)
	}
}

const npmRule = `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow",` +
	`"destination":"localSettings"}]`

func TestAPermissionIsDecidedInTheWordsOfThePerson(t *testing.T) {
	for name, c := range map[string]struct {
		offered, answer, behavior, says string // behavior "": it is none
	}{
		"allow":                    {"", "allow", "allow", ""},
		"deny":                     {"", "deny", "deny", "refused"},
		"deny with words":          {"", "deny use the other one", "deny", "use the other one"},
		"what claude suggests":     {npmRule, "allow-run", "allow", ""},
		"nothing is suggested":     {"", "allow-run", "", "can only be allowed once"},
		"another rule":             {npmRule, "allow-run Bash(*)", "", ""},
		"that very rule":           {npmRule, "allow-run Bash(npm test)", "", ""},
		"a stop":                   {"", "deny-stop", "", "on its screen"},
		"allow with words":         {"", "allow this", "", "takes nothing after it"},
		"a suggestion of no known": {`[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]`, "allow-run", "", ""},
	} {
		a := asks(t, "Bash", `{"command":"npm test"}`, c.offered)
		err := a.answer(given{Question: a.ID, Given: Given{Answer: c.answer}}, time.Unix(2, 0))
		if c.behavior == "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || a.Questions[0].State != checkpoints.QuestionOpen {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := decidedBy(t, a)
		if d.Behavior != c.behavior || !strings.Contains(d.Message, c.says) ||
			(string(d.Grants) == npmRule) != (c.answer == "allow-run") {
			t.Errorf("%s: it is %+v", name, d)
		}
	}
}

// What is allowed for good is what the person has read, all of it, or nothing.
func TestWhatClaudeSuggestsIsToldOrNotOffered(t *testing.T) {
	for offered, says := range map[string]string{
		"": "", "null": "", "[]": "", "garbage": "", `{"a":1}`: "",
		npmRule: "Bash(npm test:*) in this project, for you",
		`[{"type":"setMode","mode":"acceptEdits","destination":"session"},{"type":"addDirectories","directories":["/a\u001b[2J"],` +
			`"destination":"session"}]`: `all edits in the folder in this session; the folder /a\x1b[2J in this session`,
		`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"deny","destination":"session"}]`:           "",
		`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"elsewhere"}]`:        "",
		`[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]`:                                 "",
		`[{"type":"replaceRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"userSettings"}]`: "",
		npmRule[:len(npmRule)-1] + `,{"type":"unknown","destination":"session"}]`:                                 "",
	} {
		if said := suggested(json.RawMessage(offered)); said != says {
			t.Errorf("of %s is said %q", offered, said)
		}
	}
}

func TestWhatIsNoCallIsNotAsked(t *testing.T) {
	for name, in := range map[string]input{
		"nothing":             {},
		"another event":       {Event: "PreToolUse", Session: "s", Tool: "Bash", Input: json.RawMessage(`{}`)},
		"no session":          {Event: "PermissionRequest", Tool: "Bash", Input: json.RawMessage(`{}`)},
		"no questions":        {Event: "PermissionRequest", Session: "s", Tool: "AskUserQuestion", Input: json.RawMessage(`{}`)},
		"questions of no use": {Event: "PermissionRequest", Session: "s", Tool: "AskUserQuestion", Input: json.RawMessage(`[1]`)},
	} {
		if a, err := newAsk(in, seen, time.Unix(1, 0), rand.Reader); !errors.Is(err, errNotAsked) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestWhatIsOnlyShownTakesNoAnswer(t *testing.T) {
	a := asks(t, "Bash", `{"command":"ls"}`, "")
	a.Mode = ModeNotify
	if err := a.answer(given{Question: a.ID, Given: Given{Answer: "allow"}}, time.Unix(2, 0)); err == nil {
		t.Error("it is taken")
	}
}

func TestReadersConcludeWhatAHookCouldNotWrite(t *testing.T) {
	for _, c := range []struct {
		state State
		facts Facts
		is    State
	}{
		{Open, Facts{Waits: true, Claude: true}, Open},
		{Open, Facts{Claude: true}, Withdrawn}, // the hook was killed: the dialog is there
		{Open, Facts{Claude: true, Call: ByScreen}, OnScreen},
		{Open, Facts{}, Ended},                    // both were
		{Open, Facts{Call: ByScreen}, OnScreen},   // answered, then ended
		{Answered, Facts{Claude: true}, Answered}, // the tool still runs
		{Answered, Facts{Claude: true, Call: ByHook}, Answered},
		{Answered, Facts{Call: ByHook}, Answered},
		{Answered, Facts{Claude: true, Call: ByScreen}, OnScreen}, // both at once
		{Answered, Facts{Call: Came}, Answered},
		{Open, Facts{Call: Came}, OnScreen},
		{Answered, Facts{}, Ended},                // gone before it read the answer
		{OnScreen, Facts{Claude: true}, OnScreen}, // Esc, and nothing is written yet
		{OnScreen, Facts{}, Ended},                // the session was ended by SIGTERM
		{OnScreen, Facts{Call: ByScreen}, OnScreen},
		{Withdrawn, Facts{Claude: true}, Withdrawn},
		{Withdrawn, Facts{}, Ended},
		{Ended, Facts{}, Ended},
		{Ended, Facts{Call: ByScreen}, OnScreen}, // it was continued on a terminal
	} {
		if is := (&Ask{State: c.state}).Conclude(c.facts); is != c.is {
			t.Errorf("%s with %+v is %s, not %s", c.state, c.facts, is, c.is)
		}
	}
}

// transcript is a file of these lines.
func transcript(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	callOne  = `{"type":"assistant","uuid":"u1","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1,"b":2}}]}}`
	callTwo  = `{"type":"assistant","uuid":"u2","message":{"content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"b":2,"a":1}}]}}`
	other    = `{"type":"assistant","uuid":"u3","message":{"content":[{"type":"tool_use","id":"t3","name":"Bash","input":{}}]}}`
	result   = `{"type":"user","uuid":"u4","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	byHook   = `{"permissionDecision":{"decision":"accept","source":"hook"},"type":"user","uuid":"u4","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
	moved    = `{"type":"user","uuid":"u5","message":{"content":"go on"}}`
	reminder = `{"type":"user","isMeta":true,"uuid":"u6","message":{"content":"a reminder"}}`
)

func TestACallIsFoundInItsTranscript(t *testing.T) {
	never := func(string) bool { return false }
	for name, c := range map[string]struct {
		lines []string
		taken string
		finds string
	}{
		"nothing":                         {nil, "", ""},
		"by its input, in whatever order": {[]string{callOne, other}, "", "t1"},
		"the last of two that are alike":  {[]string{callOne, callTwo}, "", "t2"},
		"not what another waits for":      {[]string{callOne, callTwo}, "t2", "t1"},
		"not what had its result before":  {[]string{callOne, at(result, 9)}, "", ""},
		"nor at a time that nobody knows": {[]string{callOne, result}, "", ""},
		"what had it since":               {[]string{callOne, at(result, 11)}, "", "t1"},
		"else the last of the tool":       {[]string{other}, "", "t3"},
		"among garbage":                   {[]string{"{", "null", `"x"`, callOne, `{"type":"user","message":{"content":[3]}}`}, "", "t1"},
	} {
		r := reading{path: transcript(t, c.lines...)}
		if err := r.more(); err != nil {
			t.Fatal(err)
		}
		is := never
		if c.taken != "" {
			is = func(id string) bool { return id == c.taken }
		}
		found := ""
		if f := r.find("Bash", json.RawMessage(`{"a":1,"b":2}`), time.Unix(10, 0), is); f != nil {
			found = f.id
		}
		if found != c.finds {
			t.Errorf("%s: %q is found", name, found)
		}
	}
}

// at is a line that was written at a second.
func at(line string, second int64) string {
	return strings.Replace(line, "{", `{"timestamp":"`+time.Unix(second, 5e8).UTC().Format("2006-01-02T15:04:05.000Z")+`",`, 1)
}

// What has its result at the second look had none when it was asked about.
func TestAResultThatComesWithItsCallIsSeen(t *testing.T) {
	path := transcript(t, other)
	r := reading{path: path}
	if err := r.more(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(other+"\n"+callOne+"\n"+result+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.more(); err != nil {
		t.Fatal(err)
	}
	c := r.find("Bash", json.RawMessage(`{"a":1,"b":2}`), time.Unix(10, 0), func(string) bool { return false })
	if c == nil || c.id != "t1" || c.outcome != Came {
		t.Errorf("found is %+v", c)
	}
}

// The call before, whose result is written late, is not the one that was asked about after it.
func TestAResultThatIsWrittenLateIsNoneOfTheNextCall(t *testing.T) {
	path := transcript(t, callOne)
	r := reading{path: path}
	if err := r.more(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(callOne+"\n"+at(result, 9)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.more(); err != nil {
		t.Fatal(err)
	}
	nobody := func(string) bool { return false }
	if c := r.find("Bash", json.RawMessage(`{"command":"another"}`), time.Unix(10, 0), nobody); c != nil {
		t.Errorf("found is %+v", c)
	}
	if c := r.find("Bash", json.RawMessage(`{"a":1,"b":2}`), time.Unix(10, 0), nobody); c == nil {
		t.Error("a call whose result was made while its hook began is not found")
	}
}

func TestATranscriptSaysWhatBecameOfACall(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		is    Outcome
	}{
		"open":                   {[]string{callOne, reminder}, None},
		"it has a result":        {[]string{callOne, result}, Came},
		"only others say whose":  {[]string{strings.Replace(byHook, "t1", "t3", 1), callOne, result}, ByScreen},
		"a hook has answered":    {[]string{callOne, byHook}, ByHook},
		"the screen has":         {[]string{callOne, strings.Replace(byHook, "hook", "user_temporary", 1)}, ByScreen},
		"it was left":            {[]string{callOne, moved}, ByScreen},
		"not there":              {[]string{other}, None},
		"only begun to be there": {[]string{callOne, result[:40]}, None},
	} {
		a := &Ask{Call: "t1", Tool: "Bash", Transcript: transcript(t, c.lines...)}
		if is := a.outcome(); is != c.is {
			t.Errorf("%s: it is %q", name, is)
		}
	}
	if is := (&Ask{Call: "t1", Transcript: "/nowhere"}).outcome(); is != ByScreen {
		t.Errorf("without a transcript there is nothing to go on with: %q", is)
	}
}

// A subagent has a conversation of its own, and its dialog on the screen if the main one waits for it.
func TestTheConversationOfASubagentSaysWhatBecameOfItsCall(t *testing.T) {
	main := transcript(t, strings.ReplaceAll(callOne, "t1", "t9"))
	a := &Ask{Call: "t1", Tool: "Bash", Transcript: main, Agent: "a7"}
	own := strings.TrimSuffix(main, ".jsonl") + "/subagents/agent-a7"
	if a.conversation() != own+".jsonl" {
		t.Errorf("it is %s", a.conversation())
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(own+".jsonl", callOne+"\n"+byHook+"\n")
	if is := a.outcome(); is != ByHook {
		t.Errorf("its outcome is %q", is)
	}
	in := func() bool {
		return (&waiting{ask: a, read: reading{path: a.conversation()}, main: reading{path: main}}).inFront()
	}
	if in() {
		t.Error("one of which nothing says who waits for it has a dialog")
	}
	write(own+".meta.json", `{"agentType":"x","toolUseId":"t9"}`)
	if !in() {
		t.Error("one that the main conversation waits for has no dialog")
	}
	write(main, strings.ReplaceAll(callOne+"\n"+result+"\n", "t1", "t9"))
	if in() {
		t.Error("one in the background has a dialog")
	}
}

func TestTheNearestFolderSaysTheMode(t *testing.T) {
	m := Modes{"": ModeNotify, "/home/ann": ModeAsk, "/home/ann/secret": ModeOff}
	for folder, is := range map[string]Mode{
		"/": ModeNotify, "/home/ann": ModeAsk, "/home/ann/x/y": ModeAsk, "/home/anna": ModeNotify, "/home/ann/secret/x": ModeOff,
	} {
		if of := m.Of(folder); of != is {
			t.Errorf("%s is %s", folder, of)
		}
	}
	if (Modes{}).Of("/x") != ModeOff || Modes(nil).Of("/x") != ModeOff {
		t.Error("nobody has asked for it")
	}
}

func FuzzInput(f *testing.F) {
	f.Add(`{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"/w","tool_name":"Bash","tool_input":{"command":"x"},` +
		`"permission_suggestions":` + npmRule + `}`)
	f.Add(`{"hook_event_name":"PermissionRequest","session_id":"s","tool_name":"AskUserQuestion","tool_input":` + twoQuestions + `}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in input
		if json.Unmarshal([]byte(text), &in) != nil {
			return
		}
		a, err := newAsk(in, seen, time.Unix(1, 0), rand.Reader)
		if err != nil {
			return
		}
		a.Mode = ModeAsk
		for _, q := range a.Questions {
			answer := "x"
			if questions.KindOf(q.Kind).Ruled {
				answer = "deny x"
			}
			if len(q.Options) > 0 && !questions.KindOf(q.Kind).Ruled {
				answer = q.Options[0].Label
			}
			if a.answer(given{Question: q.ID, Given: Given{Answer: answer}}, time.Unix(2, 0)) != nil {
				return
			}
		}
		if d := a.decision(); !json.Valid(d) {
			t.Errorf("it says %s", d)
		}
	})
}

func TestAnAskIsReadAsItWasKept(t *testing.T) {
	d := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	if err := os.Mkdir(Folder(d), 0o700); err != nil {
		t.Fatal(err)
	}
	a := asks(t, "AskUserQuestion", twoQuestions, "")
	a.Claude, a.Transcript = procs.This(), transcript(t, callOne)
	if err := a.save(d); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"q-aaaaaa": "{", "q-bbbbbb": `{"schema":9,"id":"q-bbbbbb","questions":[{}]}`,
		"q-cccccc": `{"schema":1,"id":"q-cccccc","questions":[null]}`} {
		if err := os.WriteFile(pathOf(d, name, ".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := All(d, nil)
	if err != nil || len(all) != 1 || all[0].ID != a.ID || all[0].State != Withdrawn { // its hook does not wait
		t.Fatalf("kept are %+v, %v", all, err)
	}
	if of, q := Find(d, strings.TrimPrefix(a.Questions[1].ID, "q-")); of == nil || q.Text != "How many?" {
		t.Errorf("found is %+v", q)
	}
	if of, _ := Find(d, "../../etc/passwd"); of != nil {
		t.Error("a path is no question")
	}
}

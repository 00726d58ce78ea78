package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/procs"
)

func hookOf(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":"r-%s","request":{"subtype":"hook_callback","callback_id":"call",`+
		`"input":{"tool_use_id":%q,"tool_name":%q,"tool_input":%s,"cwd":"/work"}}}`, id, id, tool, input)
}

func deniedOf(id, tool, by string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"permission_denied","tool_name":%q,"tool_use_id":%q,"decision_reason_type":%q}`,
		tool, id, by)
}

// What a refused call would do is told from the hook before it alone: a line that names another call tells nothing.
func TestARefusedCallIsToldWithWhatItWouldDo(t *testing.T) {
	for name, c := range map[string]struct {
		asks                bool
		tool, input, denied string
		want                string // its input; "": it is told of no call
		fixed               bool
	}{
		"by the check": {true, "Bash", `{"command":"x"}`, deniedOf("t1", "Bash", "classifier"), `{"command":"x"}`, false},
		"by a rule":    {true, "Bash", `{"command":"x"}`, deniedOf("t1", "Bash", "subcommandResults"), `{"command":"x"}`, true},
		"unwanted":     {false, "Bash", `{"command":"x"}`, deniedOf("t1", "Bash", "classifier"), "", false},
		"forged":       {true, "Bash", `{"command":"x"}`, deniedOf("t2", "Bash", "classifier"), "", false},
		"without an id": {true, "Bash", `{"command":"x"}`,
			`{"type":"system","subtype":"permission_denied","tool_name":"Bash","decision_reason_type":"mode"}`, "", false},
		"too large": {true, "Bash", `{"command":"` + strings.Repeat("x", 1<<20) + `"}`, deniedOf("t1", "Bash", "classifier"), "",
			false},
		"a question": {true, noAnswers, `{"questions":[]}`, deniedOf("t1", noAnswers, "mode"), "", false},
	} {
		d := decoder{asksRefused: c.asks}
		if _, isJSON := d.decode([]byte(hookOf("t1", c.tool, c.input))); !isJSON {
			t.Fatalf("%s: not JSON", name)
		}
		for twice, want := range []string{c.want, ""} {
			m, _ := d.decode([]byte(c.denied))
			refused := m[0].(procs.Refused)
			got := ""
			if refused.Call != nil {
				got = string(refused.Call.Input)
				if refused.Call.Cwd != "/work" || !refused.Call.Refused || refused.Call.Request != "" {
					t.Errorf("%s: the call is %+v", name, refused.Call)
				}
			}
			if got != want || refused.Fixed != c.fixed {
				t.Errorf("%s, %d: told is %q, fixed %v", name, twice, got, refused.Fixed)
			}
		}
	}
}

// The same input is the same whatever the order of its members, and no other is.
func TestAnExpectedCallIsTheSameToTheByte(t *testing.T) {
	const of = `{"command":"rm \ud800 a","description":"1"}`
	key := func(input string) string { return procs.CallKey("Bash", canonical(json.RawMessage(input))) }
	if key(of) != key(`{ "description":"1", "command":"rm \ud800 a" }`) {
		t.Error("another order is another call")
	}
	for _, other := range []string{`{"command":"rm \ud801 a","description":"1"}`, `{"command":"rm \ud800 a","description":1}`,
		`{"command":"rm \ud800  a","description":"1"}`, `{"command":"rm \ud800 a","description":"1","x":null}`, `[]`, `null`, `{`,
		`{"command":"rm \ufffd a","description":"1"}`} {
		if key(of) == key(other) {
			t.Errorf("%s is the same", other)
		}
	}
	if key(`{"\ud800":1}`) == key(`{"\ud801":1}`) {
		t.Error("members of two names are the same")
	}
}

func TestTheHookAsksAboutAnExpectedCallAlone(t *testing.T) {
	d := dialogue{}
	call := func(tool, input string) *procs.Ask { return &procs.Ask{Name: tool, Input: json.RawMessage(input)} }
	if d.expects(call("Bash", `{"command":"x"}`)) {
		t.Error("before anything is expected, something is")
	}
	d.Expect([]string{procs.CallKey("Bash", json.RawMessage(`{"command":"x"}`))})
	if !d.expects(call("Bash", `{"command":"x"}`)) {
		t.Error("it is not expected")
	}
	if d.expects(call("Bash", `{"command":"y"}`)) || d.expects(call("Sh", `{"command":"x"}`)) {
		t.Error("another is expected")
	}
	d.Expect(nil)
	if d.expects(call("Bash", `{"command":"x"}`)) {
		t.Error("it is expected for ever")
	}
}

// What a person has allowed is let through, though a person is to be asked about it otherwise; what is never to run is
// not.
func TestWhatTheHookSaysOfACallThatIsAllowed(t *testing.T) {
	never := ""
	s := launch{Briefing: "BRIEF ", CheckCall: func(procs.BeforeCall) procs.CallCheck {
		return procs.CallCheck{Ask: "it is so", Deny: never}
	}}
	hook := json.RawMessage(`{"tool_name":"Agent","tool_use_id":"t","tool_input":{"prompt":"x"}}`)
	said := func(decided procs.CallCheck) string {
		answer, _ := s.checked(hook, true, decided)
		out, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := said(procs.CallCheck{Allow: true}); !strings.Contains(got, `"permissionDecision":"allow"`) ||
		!strings.Contains(got, "BRIEF x") {
		t.Errorf("an allowed call: %s", got)
	}
	if got := said(procs.CallCheck{}); !strings.Contains(got, `"permissionDecision":"ask"`) {
		t.Errorf("one that is left alone: %s", got)
	}
	if got := said(procs.CallCheck{Deny: "changed"}); !strings.Contains(got, `"permissionDecision":"deny"`) {
		t.Errorf("a refused one: %s", got)
	}
	never = "never"
	if got := said(procs.CallCheck{Allow: true}); !strings.Contains(got, `"permissionDecision":"deny"`) {
		t.Errorf("one that never runs: %s", got)
	}
}

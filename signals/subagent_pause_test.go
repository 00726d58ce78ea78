package signals

import (
	"fmt"
	"testing"
)

const (
	awaits   = "AWAITING_USER_INPUT\n{\"questions\": [{\"id\": \"q1\", \"question\": \"Which?\"}]}\n"
	asksAs   = "[CLARIFICATION_NEEDED]\nagent_id: %s\nquestions:\n  - text: Which?\n[/CLARIFICATION_NEEDED]\n"
	goesOn   = "\nI look further.\n\nAnd further still.\n"
	inBash   = "echo 'PAUSED_FOR_INPUT: /tmp/state.json'; echo 'Question: Which?'"
	bashSays = "PAUSED_FOR_INPUT: /tmp/state.json\nQuestion: Which?\n"
)

// What a subagent ends with is heard though it does not know the agent's id; what is not certain is kept for the gate.
func TestAPauseAtTheEndOfASubagentIsHeard(t *testing.T) {
	says := func(text string) func(*Scanner) []Signal {
		return func(s *Scanner) []Signal {
			s.BeginMessage("t1", "")
			return append(s.Text(text), s.EndBlock()...)
		}
	}
	call := func(name string) func(*Scanner) []Signal {
		return func(s *Scanner) []Signal { return s.SubagentToolCall("t1", name, []byte(`{}`)) }
	}
	bash := func(command, output string) func(*Scanner) []Signal {
		return func(s *Scanner) []Signal {
			s.SubagentToolCall("t1", "Bash", []byte(`{}`))
			return s.SubagentBash("t1", command, output, false)
		}
	}
	for name, c := range map[string]struct {
		does    []func(*Scanner) []Signal
		want    string // "": nothing
		unheard bool
	}{
		"awaiting":                   {[]func(*Scanner) []Signal{says("Done so far.\n" + awaits)}, "awaiting", false},
		"an id that is made up":      {[]func(*Scanner) []Signal{says(fmt.Sprintf(asksAs, "bg-task-1"))}, "block", false},
		"no id":                      {[]func(*Scanner) []Signal{says(fmt.Sprintf(asksAs, `""`))}, "block", false},
		"the agent's own id":         {[]func(*Scanner) []Signal{says(fmt.Sprintf(asksAs, me))}, "block", false},
		"another agent's id":         {[]func(*Scanner) []Signal{says(fmt.Sprintf(asksAs, "a-000000000000"))}, "foreign", false},
		"a template":                 {[]func(*Scanner) []Signal{says(fmt.Sprintf(asksAs, "<agent-id>"))}, "foreign", false},
		"by Bash":                    {[]func(*Scanner) []Signal{bash(inBash, bashSays)}, "paused", false},
		"by Bash, then a last word":  {[]func(*Scanner) []Signal{bash(inBash, bashSays), says("I have paused.")}, "paused", false},
		"shown by Bash":              {[]func(*Scanner) []Signal{bash("cat notes.txt", bashSays)}, "", false},
		"by Bash, then it works on":  {[]func(*Scanner) []Signal{bash(inBash, bashSays), call("Edit")}, "", false},
		"then it works on":           {[]func(*Scanner) []Signal{says(awaits), call("Read"), says("Done.")}, "", false},
		"then it says something new": {[]func(*Scanner) []Signal{says(awaits), says("Done.")}, "", false},
		"in the middle of its last":  {[]func(*Scanner) []Signal{says(awaits + goesOn)}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me, Pauses: true})
			var found []Signal
			for _, do := range c.does {
				found = append(found, do(s)...)
			}
			s.EndTurn("") // the main conversation's, which a subagent in the background outlives
			s.BeginMessage(Main, "")
			found = append(found, s.EndSubagent("t1")...)
			got := ""
			for _, sig := range found {
				if got = string(sig.Dialect); sig.Foreign {
					got = "foreign"
				} else if !sig.Inside || sig.By != "t1" {
					t.Errorf("it is not said to be a subagent's: %+v", sig)
				}
			}
			if got != c.want || len(found) > 1 {
				t.Errorf("it is heard as %q, want %q: %+v", got, c.want, found)
			}
			if unheard := len(s.Unheard()) > 0; unheard != c.unheard {
				t.Errorf("unheard: %v", unheard)
			}
		})
	}
}

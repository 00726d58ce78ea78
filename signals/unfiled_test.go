package signals

import (
	"slices"
	"testing"
)

// The hybrid document's error: an escalation whose question file is missing asks nobody, and is named.
func TestAnEscalationWithoutItsFileIsNamedWhereItWouldCount(t *testing.T) {
	const marker = "QUESTION_ESCALATED:w_q1"
	filed := func(id string) bool { return id == "there" }
	say := func(texts ...string) func(*Scanner) {
		return func(s *Scanner) {
			for _, text := range texts {
				s.BeginMessage(Main, text)
				s.Text(text)
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(*Scanner)
		want []string
	}{
		"said at the end":      {say("Asked.\n" + marker), []string{"w_q1"}},
		"said and gone on":     {say(marker, "The work goes on."), nil},
		"talked about":         {say("I would print " + marker + " then."), nil},
		"a placeholder":        {say("QUESTION_ESCALATED:<question-id>"), nil},
		"its file is there":    {say("QUESTION_ESCALATED:there"), nil},
		"printed by a script":  {func(s *Scanner) { s.Bash("./ask.sh", marker+"\n", false) }, []string{"w_q1"}},
		"printed, and gone on": {func(s *Scanner) { s.Bash("./ask.sh", marker+"\n", false); s.ToolCall("Read", nil) }, nil},
		"printed by echo, which counts": {
			func(s *Scanner) { s.Bash("echo "+marker, marker+"\n", false) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me, Escalated: filed})
			c.do(s)
			for range 2 { // it changes nothing
				if got := s.Unfiled(); !slices.Equal(got, c.want) {
					t.Errorf("unfiled are %q", got)
				}
			}
			s.EndTurn("")
			if got := s.Unfiled(); len(got) > 0 {
				t.Errorf("after the turn %q", got)
			}
		})
	}
}

package supervisor

import (
	"testing"

	"claude-supervise/checkpoints"
)

// What a preset may be the answer to: all that grants nothing. Only the scripted agent's own may say more, in a run of
// that agent.
func TestAPresetGrantsNothing(t *testing.T) {
	command := []checkpoints.Option{{Label: "run: npm install"}, {Label: "take the old one"}}
	for name, c := range map[string]struct {
		kind   checkpoints.QuestionKind
		answer string
		file   bool
		may    bool
	}{
		"a clarification":                    {checkpoints.AskClarification, "allow", true, true},
		"a call for once":                    {checkpoints.AskPermission, Allow, false, false},
		"a call for the run":                 {checkpoints.AskPermission, AllowRun, false, false},
		"a call by another rule":             {checkpoints.AskPermission, AllowRun + " Bash", false, false},
		"a call that is refused":             {checkpoints.AskPermission, Deny + " not here", true, true},
		"a call that ends the agent":         {checkpoints.AskPermission, DenyStop, false, true},
		"an agent":                           {checkpoints.AskDelegation, Approve, false, false},
		"an agent with another task":         {checkpoints.AskDelegation, Approve + " less", false, false},
		"an agent that is refused":           {checkpoints.AskDelegation, Deny + " no", false, true},
		"a budget":                           {checkpoints.AskBudget, raise + " 1000", false, false},
		"a budget that is kept":              {checkpoints.AskBudget, finish, false, true},
		"a budget that ends it":              {checkpoints.AskBudget, stopIt, true, true},
		"a command":                          {checkpoints.AskCommand, RunIt, false, false},
		"a command that is left":             {checkpoints.AskCommand, leaveIt, false, true},
		"a blocker":                          {checkpoints.AskBlocker, "resolved: it is up again", true, true},
		"a blocker by the agent's proposal":  {checkpoints.AskBlocker, "take the old one", true, true},
		"a blocker by a command":             {checkpoints.AskBlocker, "run: make", false, false},
		"a blocker by the agent's command":   {checkpoints.AskBlocker, "run: npm install", false, false},
		"a blocker by another agent":         {checkpoints.AskBlocker, DelegateIt, false, true},
		"a blocker by a file's other agent":  {checkpoints.AskBlocker, DelegateIt, true, false},
		"a command in capitals and brackets": {checkpoints.AskBlocker, " RUN : make", false, false},
	} {
		q := &Question{Kind: c.kind, Response: checkpoints.Response{Answer: c.answer},
			Wording: checkpoints.Wording{Options: command}}
		p := Preset{Key: "x", Value: c.answer, FromFile: c.file}
		if why := p.Grants(q, Config{Demo: "ask"}); (why == "") != c.may {
			t.Errorf("%s: %q", name, why)
		}
		p.Demo = true
		if why := p.Grants(q, Config{}); (why == "") != c.may {
			t.Errorf("%s, of a demo in a run of another agent: %q", name, why)
		}
		if why := p.Grants(q, Config{Demo: "ask", Exec: []string{"sh"}}); (why == "") != c.may {
			t.Errorf("%s, of a demo in a run of a command: %q", name, why)
		}
		if why := p.Grants(q, Config{Demo: "ask"}); why != "" {
			t.Errorf("%s, of a demo: %q", name, why)
		}
	}
}

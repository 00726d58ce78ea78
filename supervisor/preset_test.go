package supervisor

import (
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
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
		"a clarification":                    {questions.AskClarification, "allow", true, true},
		"a call for once":                    {questions.AskPermission, Allow, false, false},
		"a call for the run":                 {questions.AskPermission, AllowRun, false, false},
		"a call by another rule":             {questions.AskPermission, AllowRun + " Bash", false, false},
		"a call that is refused":             {questions.AskPermission, Deny + " not here", true, true},
		"a call that ends the agent":         {questions.AskPermission, DenyStop, false, true},
		"an agent":                           {questions.AskDelegation, Approve, false, false},
		"an agent with another task":         {questions.AskDelegation, Approve + " less", false, false},
		"an agent that is refused":           {questions.AskDelegation, Deny + " no", false, true},
		"a budget":                           {questions.AskBudget, questions.Raise + " 1000", false, false},
		"a budget that is kept":              {questions.AskBudget, questions.Finish, false, true},
		"a budget that ends it":              {questions.AskBudget, questions.StopIt, true, true},
		"a command":                          {questions.AskCommand, questions.RunIt, false, false},
		"a command that is left":             {questions.AskCommand, questions.LeaveIt, false, true},
		"a blocker":                          {questions.AskBlocker, "resolved: it is up again", true, true},
		"a blocker by the agent's proposal":  {questions.AskBlocker, "take the old one", true, true},
		"a blocker by a command":             {questions.AskBlocker, "run: make", false, false},
		"a blocker by the agent's command":   {questions.AskBlocker, "run: npm install", false, false},
		"a blocker by another agent":         {questions.AskBlocker, questions.DelegateIt, false, true},
		"a blocker by a file's other agent":  {questions.AskBlocker, questions.DelegateIt, true, false},
		"a command in capitals and brackets": {questions.AskBlocker, " RUN : make", false, false},
	} {
		q := &Question{Kind: c.kind, Response: checkpoints.Response{Answer: c.answer},
			Wording: checkpoints.Wording{Options: command}}
		p := conf.Preset{Key: "x", Value: c.answer, FromFile: c.file}
		if why := p.Grants(q, conf.Config{Demo: "ask"}); (why == "") != c.may {
			t.Errorf("%s: %q", name, why)
		}
		p.Demo = true
		if why := p.Grants(q, conf.Config{}); (why == "") != c.may {
			t.Errorf("%s, of a demo in a run of another agent: %q", name, why)
		}
		if why := p.Grants(q, conf.Config{Demo: "ask", Exec: []string{"sh"}}); (why == "") != c.may {
			t.Errorf("%s, of a demo in a run of a command: %q", name, why)
		}
		if why := p.Grants(q, conf.Config{Demo: "ask"}); why != "" {
			t.Errorf("%s, of a demo: %q", name, why)
		}
	}
}

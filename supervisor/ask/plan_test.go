package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

func TestAPlanIsShownWholeAndAsText(t *testing.T) {
	long := strings.Repeat("a", text.MaxPreview+1)
	for name, c := range map[string]struct {
		input, text, context string
		approvable           bool
	}{
		"a plan": {`{"plan":"# Add\n\n1. a\n","planFilePath":"/h/p.md"}`, "Approve the plan: Add?",
			"file: /h/p.md\n\n# Add\n\n1. a", true},
		"of the oldest release": {`{"plan":"do it"}`, "Approve the plan: do it?", "do it", true},
		"with escapes": {`{"plan":"a\u001b[2Jb"}`, `Approve the plan: a\x1b[2Jb?`,
			"1 character cannot be seen; here as \\x1b, \\u202e and so on.\n\na\\x1b[2Jb", true},
		"that asks for more": {`{"plan":"p","allowedPrompts":[{"tool":"Bash","prompt":"run all"}]}`, "Approve the plan: p?",
			"It also asks to be allowed, which no plan is: [{\"tool\":\"Bash\",\"prompt\":\"run all\"}]\n\np", true},
		"of a newer release": {`{"plan":"p","apply":true}`, "Approve the plan: p?",
			"claude-supervise does not know what apply does here, and leaves it out.\n\np", true},
		"empty":     {`{"plan":" \n"}`, "Approve the plan?", "It is empty, so it can only be answered with words.", false},
		"no text":   {`{"plan":7}`, "Approve the plan?", "It is empty, so it can only be answered with words.", false},
		"no object": {`7`, "Approve the plan?", "It is empty, so it can only be answered with words.", false},
		"too long": {`{"plan":"` + long + `"}`, "", "It can only be answered with words: it has 61441 bytes, of which not all " +
			"can be shown.", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := Question(questions.AskPlan, Plan(json.RawMessage(c.input), ""))
			if c.text != "" && q.Text != c.text {
				t.Errorf("it asks %q", q.Text)
			}
			if !strings.HasPrefix(q.Context, c.context) || name != "too long" && q.Context != c.context {
				t.Errorf("it shows\n%.300s", q.Context)
			}
			if questions.Approvable(q) != c.approvable {
				t.Errorf("it can be approved: %v (%s)", !c.approvable, q.Truncated)
			}
		})
	}
	if q := Plan(json.RawMessage(`{"plan":"p"}`), "sub"); q.Context != "Asked by the subagent sub\n\np" {
		t.Errorf("a subagent's shows %q", q.Context)
	}
}

func TestWhatAPlanAsksForBesideIsNotApprovedWithIt(t *testing.T) {
	got := string(ApprovedPlan(json.RawMessage(`{"allowedPrompts":[{"tool":"Bash","prompt":"x"}],"plan":"p\u001b","x":1}`)))
	if got != `{"plan":"p\u001b"}` {
		t.Errorf("approved is %s", got)
	}
}

package terminal

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/questions"
)

func TestAFormIsHeadedInWords(t *testing.T) {
	for want, q := range map[string]Question{
		"Blocked: needs something from outside": {Terms: questions.Terms{Kind: questions.AskBlocker}, Header: "external_dependency"},
		"Blocked: it lacks information":         {Terms: questions.Terms{Kind: questions.AskBlocker}, Header: "missing_info"},
		"Blocked":                               {Terms: questions.Terms{Kind: questions.AskBlocker}, Header: "what nobody has listed"},
		"Start another agent?":                  {Terms: questions.Terms{Kind: questions.AskDelegation}, Header: "delegation"},
		"Budget used up":                        {Terms: questions.Terms{Kind: questions.AskBudget}, Header: "budget"},
		"Run a command as you?":                 {Terms: questions.Terms{Kind: questions.AskCommand}},
		"It takes longer than estimated":        {Terms: questions.Terms{Kind: questions.AskOverrun}},
		"Edit":                                  {Terms: questions.Terms{Kind: questions.AskPermission}, Header: "Edit"},
		"Login":                                 {Terms: questions.Terms{Kind: questions.AskClarification}, Header: "Login"},
		"Question":                              {Terms: questions.Terms{Kind: questions.AskClarification}},
	} {
		if got := heading(q); got != want {
			t.Errorf("%s %q is headed %q, want %q", q.Kind, q.Header, got, want)
		}
	}
}

func TestHowLongAgoAFormWasAskedGoesOn(t *testing.T) {
	q := question("q-1", "Red")
	q.Agent, q.Run, q.AskedAt = "a-x", "r-y", when.Add(-time.Minute)
	f := newForm(q, false, "", newStyles(false))
	for after, want := range map[time.Duration]string{0: "asked 1m ago", 4 * time.Minute: "asked 5m ago", 2 * time.Hour: "asked 2h ago"} {
		if shown := strings.Join(f.view(80, 24, 0, when.Add(after)), "\n"); !strings.Contains(shown, want) {
			t.Errorf("%v later it shows\n%s\nwant %q", after, shown, want)
		}
	}
}

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

func TestTheHelpOfAFormNamesItsKeysOnly(t *testing.T) {
	plain := question("q-1", "Red", "Green")
	full := changed(plain, func(q *Question) { q.Optional, q.Declinable = true, true })
	several := changed(plain, func(q *Question) { q.MultiSelect = true })
	words := question("q-1")
	decision := changed(plain, func(q *Question) { q.Kind = questions.AskPermission })
	for name, c := range map[string]struct {
		q        Question
		any      func(*form)
		has, not string // keys, with which rows of the help begin
	}{
		"options":    {plain, nil, "Up, Down|2, b|letters|Tab|Alt-Enter|Ctrl-D|Ctrl-C", "Space, 1, b|PgUp, PgDn|<|>|-|!"},
		"several":    {several, nil, "Space, 1, b|Enter", "Up, Down|2, b"},
		"own words":  {words, nil, "Alt-Enter|Ctrl-D", "Up, Down|2, b|letters|Tab|Esc"},
		"a decision": {decision, nil, "Tab|Alt-Enter", "-|!"},
		"all": {full, func(f *form) { f.canGoBack, f.canPutOff, f.canSay = true, true, true },
			"<|>|-|!|Esc", "PgUp, PgDn"},
		"on the board": {plain, func(f *form) { f.canLeave = true }, "Ctrl-D", "Ctrl-C"},
	} {
		f := newForm(c.q, false, "", newStyles(false))
		if c.any != nil {
			c.any(f)
		}
		f.help = true
		shown := "\n" + seen(f, 100, 60, 0)
		for key := range strings.SplitSeq(c.has, "|") {
			if !strings.Contains(shown, "\n  "+key+" ") {
				t.Errorf("%s: the help lacks %s:%s", name, key, shown)
			}
		}
		for key := range strings.SplitSeq(c.not, "|") {
			if strings.Contains(shown, "\n  "+key+" ") {
				t.Errorf("%s: the help has %s:%s", name, key, shown)
			}
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

package signals

import "testing"

func TestAQuestionNamesAnImage(t *testing.T) {
	block := func(fields, question string) string {
		return "[CLARIFICATION_NEEDED]\nagent_id: a-1\ntimestamp: 2026-01-11T12:00:00Z\n" + fields + "questions:\n" + question +
			"[/CLARIFICATION_NEEDED]\n"
	}
	for name, c := range map[string]struct {
		said string
		want []string // of each question
	}{
		"block":        {block("", "  - text: Which?\n    image: out/a.png\n  - text: When?\n"), []string{"out/a.png", ""}},
		"beside":       {block("image: a.png\n", "  - text: Which?\n  - text: When?\n"), []string{"a.png", ""}},
		"both":         {block("image: a.png\n", "  - text: Which?\n    image: b.png\n"), []string{"b.png"}},
		"a plain text": {block("image: a.png\n", "  - Which?\n"), []string{"a.png"}},
		"none":         {block("", "  - text: Which?\n    image:\n"), []string{""}},
		"json": {`{"signal_type": "clarification_needed", "agent_id": "a-1", "timestamp": "2026-01-11T12:00:00Z", ` +
			`"payload": {"questions": [{"text": "Which?", "image": "a.png"}]}}` + "\n", []string{"a.png"}},
		"awaiting": {"AWAITING_USER_INPUT\n" + `{"questions": [{"id": "q", "question": "Which?", "image": "a.png"}]}` + "\n",
			[]string{"a.png"}},
		"paused": {"PAUSED_FOR_INPUT: s.json\nQuestion: Which?\nImage: a.png\nA) one\nB) two\n", []string{"a.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := LintMessage(c.said, LintConfig{})
			if len(found.Signals) != 1 || len(found.Signals[0].Questions) != len(c.want) {
				t.Fatalf("found: %+v", found)
			}
			for i, q := range found.Signals[0].Questions {
				if q.Image != c.want[i] || q.Context != "" {
					t.Errorf("%q shows %q, with %q", q.Text, q.Image, q.Context)
				}
			}
		})
	}
	sig, ok := Served("ask_user", []byte(`{"questions": [{"text": "Which?", "image": "a.png"}]}`))
	if !ok || sig.Questions[0].Image != "a.png" {
		t.Errorf("the call shows %+v", sig.Questions)
	}
}

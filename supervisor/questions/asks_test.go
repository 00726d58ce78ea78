package questions

import "testing"

func TestAPermissionIsAskedByWhatWouldBeDone(t *testing.T) {
	for text, want := range map[string]string{
		"Allow Edit: version.txt?":      "May it edit version.txt?",
		"Allow Bash: ls -a | wc -l?":    "May it run: ls -a | wc -l?",
		"Allow Bash in sub: ./x?":       "May it run in sub: ./x?",
		"Allow mcp__shop__order: shoe?": "Allow mcp__shop__order: shoe?",
		"Allow Edit":                    "Allow Edit",
		"Allow Edit?":                   "Allow Edit?",
		"":                              "",
	} {
		if got := KindOf(AskPermission).Asks(text); got != want {
			t.Errorf("%q is asked as %q, want %q", text, got, want)
		}
		if got := KindOf(AskClarification).Asks(text); got != text {
			t.Errorf("an agent's own %q is asked as %q", text, got)
		}
	}
}

package terminal

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/text/texttest"
)

// evidences are texts that a person may be asked to permit, as they are before anything is made visible.
var evidences = []string{
	"echo done \"\x1b]0;\"; touch PWN; : \"\a\"", "rm -rf x\recho safe", "a\u202eb\u2066c", "pass\u200bword\U000e0061",
	`printf '\x1b'`, "\\\x1b\tx",
	"echo " + strings.Repeat("x", 75) + "  description: harmless", "echo a" + strings.Repeat(" ", 90) + "; touch PWN",
	"↳ x\n  ↳ y", "\xff\u0085\u2028",
	strings.Repeat("数据库", 40), "a\n\n\n  b\n", "-y\n--x", "❤\ufe0f" + strings.Repeat("e\u0301", 50),
}

// onScreen fails if a terminal would obey or hide something in a text, the looks of a form aside.
func onScreen(t *testing.T, shown string) {
	t.Helper()
	for _, r := range ansi.Strip(shown) {
		if r != '\n' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			t.Errorf("%U reaches the terminal in %q", r, shown)
		}
	}
}

// permissionOf asks about a call as the supervisor does: its value's later lines are set off, so that they pass for no
// line of ours.
func permissionOf(command string) Question {
	shown := strings.ReplaceAll(text.Visible(command), "\n", "\n    ")
	return Question{Terms: questions.Terms{Kind: "permission", Options: []Option{{Label: "allow"}, {Label: "deny"}}},
		ID: "q-1", Text: "Allow Bash: " + text.Line(command, 160) + "?", Context: "command: " + shown + "\nrun's folder: /work"}
}

// commandOn finds the command again in what a terminal shows of its question.
func commandOn(t *testing.T, shown string) string {
	t.Helper()
	_, rest, found := strings.Cut(shown, "  command: ")
	rows, _, whole := strings.Cut(rest, "\n  run's folder: ")
	if !found || !whole {
		t.Fatalf("the command is not shown whole:\n%s", shown)
	}
	// A row that goes on behind the first has the mark; a line of the command that looks so does not, for it is set off.
	value := strings.ReplaceAll(texttest.Unwrapped("  "+rows, "  ", wrapMark), "\n    ", "\n")
	original, err := texttest.Original(value)
	if err != nil {
		t.Error(err)
	}
	return original
}

func mustShowWhatRuns(t *testing.T, command string, width int) {
	t.Helper()
	q := permissionOf(command)
	plain := Whole(q, width, time.Now())
	onScreen(t, plain)
	if got := commandOn(t, plain); got != command {
		t.Errorf("in lines of %d cells %q is shown as\n%s\nwhich is %q", width, command, plain, got)
	}
	f := newForm(q, false, "", newStyles(false))
	_, details, _ := f.question(max(width, narrowestForm))
	drawn := strings.Join(details, "\n") + "\n"
	onScreen(t, drawn)
	if got := commandOn(t, drawn); got != command {
		t.Errorf("in a form of %d cells %q is shown as\n%s\nwhich is %q", width, command, drawn, got)
	}
	for _, row := range details {
		if ansi.StringWidth(row) > max(width, narrowestForm) {
			t.Errorf("%q is wider than %d", row, width)
		}
	}
}

func TestWhatIsShownOnATerminalIsWhatRuns(t *testing.T) {
	for _, command := range evidences {
		for _, width := range []int{20, 40, 80} {
			mustShowWhatRuns(t, command, width)
		}
	}
}

// What a record of an older release, or a pack, has raw in it is made visible where it is shown.
func TestRawEvidenceIsMadeVisibleWhereItIsShown(t *testing.T) {
	for _, kind := range []questions.Name{"permission", "command", "delegation"} {
		q := Question{Terms: questions.Terms{Kind: kind}, ID: "q-1", Text: "Run a\x1bb?", Context: "a\x1b[2Kb\u202e\r"}
		shown := Whole(q, 80, time.Now())
		onScreen(t, shown)
		if !strings.Contains(shown, `Run a\x1bb?`) || !strings.Contains(shown, `a\x1b[2Kb\u202e\x0d`) {
			t.Errorf("of a %s there is shown\n%s", kind, shown)
		}
	}
	if shown := Whole(Question{ID: "q-1", Text: "a\x1b[31mb?"}, 80, time.Now()); !strings.Contains(shown, "ab?") {
		t.Errorf("of talk there is shown\n%s", shown)
	}
}

func FuzzEvidence(f *testing.F) {
	for _, seed := range evidences {
		f.Add(seed, 40)
	}
	f.Fuzz(func(t *testing.T, command string, width int) {
		if width < 20 || width > 200 || len(command) > 4<<10 {
			return
		}
		mustShowWhatRuns(t, command, width)
	})
}

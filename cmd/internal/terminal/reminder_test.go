package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatWasAnsweredBeforeIsTakenByOneKey(t *testing.T) {
	t.Run("in a form", func(t *testing.T) {
		d := enterAble(t, question("q-again", "Red", "Green"), question("q-new", "Red", "Green"))
		d.sees("= takes Green, as you said on 3 Nov (r-1)")
		d.sees(formFoot) // keys count from now on
		d.types("=")
		d.answered(submitted{ID: "q-again", Answer: "Green"})
		d.sees("What about q-new?")
		d.sees(formFoot)
		d.types("=") // is typed, as any other letter
		d.types("\r")
		d.answered(submitted{ID: "q-new", Answer: "="})
	})
	t.Run("in lines", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-again", "Red", "Green"))
		d.sees("= takes Green, as you said on 3 Nov (r-1)")
		d.sees("q-again> ")
		d.types("=\n")
		d.answered(submitted{ID: "q-again", Answer: "Green"})
	})
}

// What permits something is at most selected, as by its own key; what runs a command, by nothing but its word.
func TestWhatWasPermittedBeforeIsNotPermittedByOneKey(t *testing.T) {
	for name, test := range map[string]struct {
		q      Question
		before string
		want   act
		shown  string
	}{
		"a permission": {permission(), "allow", act{kind: pick, picked: []int{0}}, "= takes allow"},
		"a denial":     {permission(), "deny too risky", act{}, "You answered before: deny too risky"},
		"a command":    {command(), "run it", act{}, "You answered before: run it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(test.q, false, "", newStyles(false))
			f.remind(Reminder{Answer: test.before, Said: "as you said"})
			if what := typeInto(f, "="); what.kind != stay {
				t.Fatalf("= leads to %+v", what)
			}
			if diff := cmp.Diff(test.want, typeInto(f, "\r"), cmp.AllowUnexported(act{})); diff != "" {
				t.Errorf("then Enter leads to another act:\n%s", diff)
			}
			if shown := strings.Join(f.view(80, 24, 0, time.Time{}), "\n"); !strings.Contains(shown, test.shown) {
				t.Errorf("it is shown as\n%s", shown)
			}
		})
	}
}

func TestARemindersTextsCannotDriveTheTerminal(t *testing.T) {
	f := newForm(database(), false, "", newStyles(false))
	f.remind(Reminder{Answer: "a\x1b]0;b\x07\nc", Said: "\x1b[2J" + strings.Repeat("d", 300)})
	for _, row := range f.view(80, 24, 0, time.Time{}) {
		if strings.ContainsAny(strings.NewReplacer("\x1b[1m", "", "\x1b[m", "", "\x1b[2m", "").Replace(row), "\x1b\x07") {
			t.Errorf("a row is %q", row)
		}
	}
}

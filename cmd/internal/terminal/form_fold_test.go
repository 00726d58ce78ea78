package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// At 80x24, in the lines and on the board, and on the board at 60x16 what is asked, what goes on and the option under the
// cursor are seen, however long the rest is: that scrolls.
func TestNothingThatIsNeededIsBelowTheFold(t *testing.T) {
	evidence := ""
	for i := range 300 {
		evidence += fmt.Sprintf("+ line %d of the change %s\n", i, strings.Repeat("x", i))
	}
	for name, q := range map[string]Question{
		"long evidence": changed(permission(), func(q *Question) { q.Context = evidence }),
		"a long text":   changed(database(), func(q *Question) { q.Text = "Which? " + strings.Repeat("words of it ", 900) }),
		"many options": changed(question("q-1"), func(q *Question) {
			for i := range 500 {
				q.Options = append(q.Options, Option{Label: fmt.Sprintf("option %d", i), Description: evidence[:800]})
			}
		}),
		"long previews": changed(database(), func(q *Question) {
			q.Context = evidence
			for i := range q.Options {
				q.Options[i].Preview = evidence
			}
		}),
		"all of it, of a subagent, urgent, with a rule": changed(database(), func(q *Question) {
			q.Context, q.Urgent, q.Validate, q.Optional, q.Declinable = evidence, true, "choice", true, true
			q.Asker, q.Place, q.Header = strings.Repeat("asker ", 90), strings.Repeat("place ", 90), "Storage"
			q.Options[2].Description = evidence
		}),
	} {
		for _, size := range [][2]int{{80, 23}, {80, 21}, {60, 13}} {
			t.Run(fmt.Sprintf("%s at %v", name, size), func(t *testing.T) { seenAbove(t, q, size[0], size[1]) })
		}
	}
}

func seenAbove(t *testing.T, q Question, columns, height int) {
	t.Helper()
	f := newForm(q, true, "", newStyles(false))
	f.canSay, f.canPutOff = true, true
	typeInto(f, down)
	for i := range 12 {
		if i == 6 {
			f.say("Not taken: " + strings.Repeat("because of this ", 20))
		}
		rows := strings.Split(ansi.Strip(strings.Join(f.view(columns, height, 3, when), "\n")), "\n")
		all := strings.Join(rows, "\n")
		at, found := f.choices.hovered()
		marked := false
		for _, row := range rows {
			marked = marked || strings.HasPrefix(row, "❯") &&
				(at < 0 || found && strings.Contains(row, f.choices.q.Options[at].Label))
		}
		first, _, _ := strings.Cut(q.Text, " ")
		if !strings.Contains(all, first) || !marked || !strings.Contains(all, "? help") ||
			!strings.Contains(all, f.note[:min(len(f.note), 20)]) {
			t.Fatalf("at step %d, with the cursor on %d, it shows\n%s", i, at, all)
		}
		scrolls := f.most > 0 && (strings.Contains(all, "below · PgDn") || strings.Contains(all, "rows above · PgUp") ||
			strings.Contains(all, " above · ") && strings.Contains(all, "below · PgUp PgDn"))
		if q.Context != "" && !scrolls {
			t.Fatalf("the evidence does not scroll:\n%s", all)
		}
		typeInto(f, down, pageDown)
	}
}

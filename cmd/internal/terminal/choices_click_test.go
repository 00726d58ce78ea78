package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// A click on any row of an option selects that option and answers nothing, whatever else on the screen looks like one.
func TestAClickSelectsTheOptionOfItsRow(t *testing.T) {
	q := changed(question("q-1"), func(q *Question) {
		q.Text, q.Context = "Which of them?", "2) beta\n❯ 3) gamma"
		q.Options = []Option{{Label: "alpha", Description: "2) beta\n" + strings.Repeat("more of it ", 12)}, {Label: "beta"},
			{Label: "a label of more than one row: " + strings.Repeat("long ", 20)}}
		for i := range 20 {
			q.Options = append(q.Options, Option{Label: fmt.Sprintf("shade-%d", i), Description: "1) alpha"})
		}
	})
	for _, multi := range []bool{false, true} {
		q.MultiSelect = multi
		for _, cursor := range []int{1, 12, ownWords} { // the list scrolls with it
			clicked, selected, above := 0, map[int]bool{}, noOption
			for row := range 23 {
				f := NewForm(q, "", true, Drafts{})
				f.form.choices.lay(80, false)
				f.form.choices.goTo(cursor)
				before := f.Rows(80, 23, Around{}, when)
				if row >= len(before) {
					break
				}
				f.Click(row)
				at, _ := f.form.choices.hovered()
				if marked := f.form.choices.picked; multi && at != ownWords && at != cursor && !slices.Equal(marked, []int{at}) {
					t.Errorf("a click on %q marks %v, and the cursor is on %d", before[row], marked, at)
				}
				if at == cursor {
					continue
				}
				clicked, selected[at] = clicked+1, true
				text := "In your own words …"
				if at != ownWords {
					text = optionText(q.Options[at], f.form.choices.keys[at], 80-f.form.choices.gutter()-1)
				}
				shown := strings.TrimLeft(ansi.Strip(before[row]), "❯ •[]")
				if !strings.Contains(text, strings.TrimSpace(shown)) {
					t.Errorf("a click on %q selects %q", shown, text)
				}
				indented := strings.HasPrefix(ansi.TruncateLeft(ansi.Strip(before[row]), f.form.choices.gutter(), ""), " ")
				if indented && above != noOption && at != above {
					t.Errorf("a click on %q selects %q, one on the row above %q", shown, text, q.Options[above].Label)
				}
				above = at
			}
			if clicked < 5 || len(selected) < 3 {
				t.Errorf("multi %v, the cursor on %d: %d rows can be clicked, of %d options", multi, cursor, clicked, len(selected))
			}
		}
	}
}

func TestAClickInTheGraceOrWhileWordsAreWrittenSelectsNothing(t *testing.T) {
	for name, then := range map[string]func(f *Form){
		"in the grace":       func(f *Form) { f.Draw(when) },
		"words are written":  func(f *Form) { f.form.writeOwn() },
		"the help is shown":  func(f *Form) { f.form.help = true },
		"the grace is over":  func(f *Form) { f.Draw(when); f.Update(Tick{}, when.Add(time.Second)) },
		"there was no grace": func(*Form) {},
	} {
		f := NewForm(database(), "", false, Drafts{})
		then(f)
		rows := f.Rows(80, 23, Around{}, when)
		selects := name == "the grace is over" || name == "there was no grace"
		for row := range rows {
			f.Click(row)
		}
		f.Click(-1)
		f.Click(len(rows) + 5)
		at, _ := f.form.choices.hovered()
		if moved := at != 0; moved != selects {
			t.Errorf("%s: the cursor is on %d", name, at)
		}
	}
}

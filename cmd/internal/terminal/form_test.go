package terminal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"claude-supervise/supervisor/questions"
)

const (
	up, down  = "\x1b[A", "\x1b[B"
	leftwards = "\x1b[D"
	pageUp    = "\x1b[5~"
	pageDown  = "\x1b[6~"
	altEnter  = "\x1b\r"
	esc       = "\x1b" // at the end of what is typed
)

func paste(text string) string { return pasteBegin + text + pasteEnd }

// typeInto types on a form until one key leads to more than another picture.
func typeInto(f *form, looks ...string) act {
	var k keyboard
	for _, look := range looks {
		f.view(80, 24, 0, time.Time{}) // a person types at what they see
		for _, msg := range append(k.take([]byte(look)), k.settle()...) {
			if what := f.press(msg); what.kind != stay {
				return what
			}
		}
	}
	return act{}
}

func database() Question {
	q := question("q-1", "PostgreSQL", "SQLite", "MySQL")
	q.Options[0].Description = "a server beside the tests"
	return q
}

func permission() Question {
	q := question("q-1", "allow", "allow-run", "deny", "deny-stop")
	q.Kind = "permission"
	return q
}

func delegation() Question {
	q := question("q-1", "approve", "deny")
	q.Kind, q.Task, q.Instead = "delegation", "Port the service.", "instead:"
	return q
}

func command() Question {
	return changed(question("q-1", "run it", "do not run it"), func(q *Question) {
		q.Kind, q.Validate = "command", "choice"
	})
}

func changed(q Question, f func(*Question)) Question {
	f(&q)
	return q
}

func TestAFormTakesAnswers(t *testing.T) {
	many := changed(database(), func(q *Question) { q.MultiSelect = true })
	versions := question("q-1", "1.22", "1.23", "2")
	twelve := question("q-1", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten", "eleven", "twelve")
	go4it := question("q-1", "Django", "Go")
	noted := changed(database(), func(q *Question) { q.Kind = questions.AskClarification })
	free := question("q-1")
	picks := func(at ...int) act { return act{kind: pick, picked: at} }
	says := func(text string) act { return act{kind: choose, text: text} }
	for name, test := range map[string]struct {
		q     Question
		looks []string
		want  act
	}{
		"Enter takes what the cursor is on":              {database(), []string{"\r"}, picks(0)},
		"arrows move it":                                 {database(), []string{down, down, up, "\r"}, picks(1)},
		"and go round":                                   {database(), []string{up, up, "\r"}, picks(2)},
		"so do Ctrl-N and Ctrl-P":                        {database(), []string{"\x0e", "\x0e", "\x10", "\r"}, picks(1)},
		"a number selects, and Enter takes it":           {database(), []string{"3", "\r"}, picks(2)},
		"a letter does where numbers could be labels":    {versions, []string{"b", "\r"}, picks(1)},
		"a number there is the start of a label":         {versions, []string{"1", ".", "2", "3", "\r"}, picks(1)},
		"and the whole of one":                           {versions, []string{"2", "\r"}, picks(2)},
		"a number that another one begins with does not": {twelve, []string{"1"}, act{}},
		"but both continue":                              {twelve, []string{"1", "2", "\r"}, picks(11)},
		"typing finds an option":                         {database(), []string{"sql", "i", "\r"}, picks(1)},
		"in its description too":                         {database(), []string{"beside", "\r"}, picks(0)},
		"the start of a label goes before its middle":    {go4it, []string{"g", "o", "\r"}, picks(1)},
		"arrows move among what was found":               {database(), []string{"sql", down, "\r"}, picks(2)},
		"Backspace takes back": {database(), []string{"myx", "\x7f", "\x7f", "\x7f", "\r"},
			picks(0)},
		"a colon takes a note":             {noted, []string{down, ":", "but small", "\r"}, says(`"""SQLite: but small"""`)},
		"and without one what is selected": {noted, []string{down, ":", "\r"}, says(`"""SQLite"""`)},
		"Esc takes all back":               {database(), []string{"my", esc, "2", "\r"}, picks(1)},
		"what no option holds is own words": {database(), []string{"none of them", "\r"},
			says("none of them")},
		"a letter of an option is sent as such": {database(), []string{"c", "\r"}, says("c")},
		"and cannot lose the cursor":            {database(), []string{"zz", up, down, esc, "\r"}, picks(0)},
		"Tab opens a field for own words": {database(), []string{"\t", "use both", "\r"},
			says(`"""use both"""`)},
		"so does the last row": {database(), []string{up, "\r", "use both", "\r"},
			says(`"""use both"""`)},
		"with what was typed before": {database(), []string{"use", "\t", " both", "\r"},
			says(`"""use both"""`)},
		"own words may begin with a digit":                 {database(), []string{"2", "FA please", "\r"}, says("2FA please")},
		"with two":                                         {database(), []string{"3", "2", " bits", "\r"}, says("32 bits")},
		"and where several can be marked":                  {many, []string{"2", "FA please", "\r"}, says("2FA please")},
		"that marks nothing":                               {many, []string{"3", "2", "x", "\x7f", "\x7f", "\x7f", "1", "\r"}, picks(0)},
		"a digit taken back begins nothing":                {database(), []string{"2", "\x7f", "whatever", "\r"}, says("whatever")},
		"nor one before an arrow":                          {database(), []string{"1", down, "sql", "\r"}, picks(1)},
		"a letter that selects begins words, too":          {versions, []string{"b", "oth", "\r"}, says("both")},
		"a digit begins what is said with a decision":      {permission(), []string{"3", " too early", "\r"}, says("3 too early")},
		"Esc keeps what was written":                       {database(), []string{"\t", "use both", esc, "\t", " now", "\r"}, says(quotes + "use both now" + quotes)},
		"and what was typed that is not an option":         {database(), []string{"use both", esc, "\t", " now", "\r"}, says(quotes + "use both now" + quotes)},
		"with what was pasted":                             {database(), []string{"\t", paste("a\tb"), esc, "\t", "\r"}, says(quotes + "a\tb" + quotes)},
		"and the reason of a decision":                     {permission(), []string{"3", "\r", "too early", esc, "3", "\r", "\r"}, says("deny too early")},
		"but not for another":                              {permission(), []string{"3", "\r", "too early", esc, "4", "\r", "\r"}, says("deny-stop ")},
		"a task that was changed and left is not approved": {delegation(), []string{"1", "\t", " And test.", esc, "1", "\t", "\r"}, says("approve Port the service. And test.")},
		"Esc goes back to the options": {database(), []string{"\t", "use both", esc, "2", "\r"},
			picks(1)},
		"own words may have lines": {database(),
			[]string{"\t", "one", altEnter, "two", "\n", "three", "\r"}, says("\"\"\"one\ntwo\nthree\"\"\"")},
		"as with a backslash": {free, []string{`one\`, "\r", "two", "\r"}, says("one\ntwo")},
		"a paste of lines is own words": {database(), []string{paste("one\ntwo"), "\r"},
			says("\"\"\"one\ntwo\"\"\"")},
		"a paste of a line finds an option": {database(), []string{paste("SQLite"), "\r"}, picks(1)},
		"free text": {free, []string{"three words here", "\r"},
			says("three words here")},
		"a paste into it": {free, []string{"see: ", paste("a\n\tb\n"), " ok", "\r"},
			says("see: a\n\tb ok")},
		"a long paste is one mark, and sent whole": {free, []string{paste(strings.Repeat("x\n", 30)), "\r"},
			says(strings.TrimSpace(strings.Repeat("x\n", 30)))},
		"Space marks":                        {many, []string{" ", down, down, " ", "\r"}, picks(0, 2)},
		"and takes the mark away":            {many, []string{" ", down, " ", up, " ", "\r"}, picks(1)},
		"so do the keys":                     {many, []string{"3", "1", "3", "2", "\r"}, picks(0, 1)},
		"what was found can be marked":       {many, []string{"lite", " ", esc, "1", "\r"}, picks(0, 1)},
		"Enter without a mark sends nothing": {many, []string{"\r"}, act{}},
		"yes or no": {changed(free, func(q *Question) { q.Validate = "yes_no" }),
			[]string{"n", "\r"}, says("no")},
		"a permission": {permission(), []string{"1", "\r"}, picks(0)},
		"for the run":  {permission(), []string{down, down, "\r"}, picks(1)},
		"for the run by another rule": {permission(), []string{down, down, "\t", "Bash(go:*)", "\r"},
			says("allow-run Bash(go:*)")},
		"a denial asks why": {permission(), []string{"3", "\r", "too risky", "\r"},
			says("deny too risky")},
		"or not": {permission(), []string{"4", "\r", "\r"}, says("deny-stop ")},
		"and can be thought over": {permission(), []string{"3", "\r", "too", esc, "1", "\r"},
			picks(0)},
		"nothing else is a decision": {permission(), []string{"\t", "maybe", "\r"}, says("maybe")},
		"a budget asks how much": {changed(question("q-1", "raise", "finish", "stop"),
			func(q *Question) { q.Kind = "budget" }), []string{"1", "\r", "5", "\r"}, says("raise 5")},
		"a delegation is approved": {delegation(), []string{"1", "\r"}, picks(0)},
		"or with its task changed": {delegation(), []string{"1", "\t", " Only the parser.", "\r"},
			says("approve Port the service. Only the parser.")},
		"unchanged it is approved as it is": {delegation(), []string{"1", "\t", "\r"}, says("approve")},
		"denied it asks why, and what else": {delegation(),
			[]string{"2", "\r", "too early", "\r", "list it", "\r"}, says("deny too early instead: list it")},
		"what else is not needed": {delegation(), []string{"2", "\r", "too early", "\r", "\r"},
			says("deny too early")},
		"or is said at once": {delegation(), []string{"2", "\r", "no instead: list it", "\r"},
			says("deny no instead: list it")},
		"a denied one can be thought over": {delegation(),
			[]string{"2", "\r", "too early", "\r", "x", esc, "1", "\r"}, picks(0)},
		"a digit alone answers nothing":       {database(), []string{"1"}, act{}},
		"nothing is selected of a permission": {permission(), []string{"\r"}, act{}},
		"nor by what could mean two options":  {permission(), []string{"all", "\r"}, act{}},
		"nor once that is taken back":         {permission(), []string{"allow", esc, "\r"}, act{}},
		"but by a whole label":                {permission(), []string{"allow", "\r"}, picks(0)},
		"or from below":                       {permission(), []string{up, "\r", "\r"}, says("deny-stop ")},
		"nothing is selected of a delegation": {delegation(), []string{"\r"}, act{}},
		"nor of a budget": {changed(question("q-1", "raise", "finish", "stop"),
			func(q *Question) { q.Kind = "budget" }), []string{"\r"}, act{}},
		"nor of a command":               {command(), []string{"\r"}, act{}},
		"which no digit runs":            {command(), []string{"1", "\r"}, act{}},
		"nor an arrow":                   {command(), []string{down, "\r", "\r"}, act{}},
		"nor a yes":                      {command(), []string{"y", "\r"}, says("y")},
		"nor half a word":                {command(), []string{"ru", "\r"}, act{}},
		"but the word run":               {command(), []string{"run", "\r"}, says("run")},
		"and which is left by its digit": {command(), []string{"2", "\r"}, picks(1)},
		"an optional question is skipped": {changed(database(), func(q *Question) { q.Optional = true }),
			[]string{"-"}, act{kind: skip}},
		"another is not": {database(), []string{"-", "\r"}, says("-")},
		"a question is declined with a reason": {changed(free, func(q *Question) { q.Declinable = true }),
			[]string{"!", "ask the owner", "\r"}, act{kind: decline, text: "ask the owner"}},
		"or without one": {changed(database(), func(q *Question) { q.Declinable = true }),
			[]string{"!", "\r"}, act{kind: decline}},
		"or not in the end": {changed(free, func(q *Question) { q.Declinable = true }),
			[]string{"!", "no", esc, "ok", "\r"}, says("ok")},
		"Ctrl-D ends asking":                               {database(), []string{"\x04"}, act{kind: leave}},
		"but not within words":                             {free, []string{"ab", leftwards, "\x04", "\r"}, says("a")},
		"help takes one key":                               {database(), []string{"?", "2", "2", "\r"}, picks(1)},
		"a question mark in words is one":                  {free, []string{"what?", "\r"}, says("what?")},
		"what would go back is text where nothing is back": {free, []string{"<", "\r"}, says("<")},
		"what is too long is not taken": {free, []string{paste(strings.Repeat("x", maxText+1)), "y", "\r"},
			says("y")},
		"nor what becomes too long": {free,
			[]string{paste(strings.Repeat("x\n", maxText/3)), paste(strings.Repeat("x\n", maxText/3)), "\r"},
			says(strings.TrimSpace(strings.Repeat("x\n", maxText/3)))},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(test.q, false, "", newStyles(true))
			got := typeInto(f, test.looks...)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(act{})); diff != "" {
				t.Errorf("%s\n%s", diff, strings.Join(f.view(80, 24, 0, time.Time{}), "\n"))
			}
		})
	}
}

func TestAFormGoesBackAndKeepsAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		q      Question
		before string
		looks  []string
		want   act
	}{
		"with <":              {database(), "", []string{"<"}, act{kind: goBack}},
		"with the left arrow": {question("q-1"), "", []string{leftwards}, act{kind: goBack}},
		"not out of words": {question("q-1"), "", []string{"ab", leftwards, "<", "\r"},
			act{kind: choose, text: "a<b"}},
		"the option is under Enter": {database(), "MySQL", []string{"\r"}, act{kind: pick, picked: []int{2}}},
		"the options are marked": {changed(database(), func(q *Question) { q.MultiSelect = true }),
			"MySQL, SQLite", []string{"1", "\r"}, act{kind: pick, picked: []int{0, 1, 2}}},
		"the words are there": {question("q-1"), "as they were", []string{"\r"}, act{kind: keep}},
		"and can be changed": {question("q-1"), "as they were", []string{" once", "\r"},
			act{kind: choose, text: "as they were once"}},
		"an answer is not skipped": {changed(database(), func(q *Question) { q.Optional = true }),
			"MySQL", []string{"-", "\r"}, act{kind: choose, text: "-"}},
		"own words beside the labels": {database(), "none", []string{"\r"}, act{kind: pick, picked: []int{0}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := typeInto(newForm(test.q, true, test.before, newStyles(true)), test.looks...)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(act{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// seen is a form as it stands on a terminal, without its looks.
func seen(f *form, width, height, more int) string {
	return ansi.Strip(strings.Join(f.view(width, height, more, when), "\n")) + "\n"
}

var when = time.Date(2026, 1, 11, 8, 45, 0, 0, time.UTC)

func TestAFormShowsAllThatAPersonNeeds(t *testing.T) {
	q := changed(database(), func(q *Question) {
		q.Header, q.Context, q.Agent, q.Run = "Database", "The tests\nneed one.", "a-x", "r-y"
		q.Index, q.Of, q.Group = 1, 3, "g"
		q.AskedAt = when.Add(-3*time.Minute - 5*time.Second)
		q.Asker = "Explore: find the tests, depth 2"
		q.Options[0].Preview = "services:\n  db:\n    image: postgres"
		q.Urgent = true
	})
	f := newForm(q, true, "", newStyles(true))
	if diff := cmp.Diff(`
! URGENT · Database · question 2 of 3 · 2 more wait
for Explore: find the tests, depth 2
[q-1] asked 3m ago by a-x in r-y

What about q-1?
  The tests
  need one.

❯ 1) PostgreSQL
     a server beside the tests
  2) SQLite
  3) MySQL
  In your own words …
│ services:
│   db:
│     image: postgres

↑↓ Enter choose · type to filter · Tab own words · < back · ? help
`, seen(f, 80, 24, 2)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`! URGENT · Database · question 2 of 3 ·…
for Explore: find the tests, depth 2
What about q-1?
❯ 1) PostgreSQL
  2) SQLite
  3) MySQL
  In your own words …
Enter · ? help
`, seen(f, 40, 8, 2)); diff != "" {
		t.Error(diff)
	}
}

// What is changed comes first, in its looks, and what is not seen is said on both sides.
func TestOfAChangeTheChangedLinesComeFirst(t *testing.T) {
	lines := []string{"file: /app/main.go", "--- main.go", "+++ main.go", "@@ -1,30 +1,31 @@"}
	for i := range 25 {
		lines = append(lines, fmt.Sprintf(" line %d", i))
	}
	lines = append(lines, "-was", "+is "+strings.Repeat("x", 90))
	q := changed(permission(), func(q *Question) {
		q.Text, q.Context = "Allow Edit: main.go?", strings.Join(append(lines, lines[4:24]...), "\n")
		for i := range q.Options {
			q.Options[i].Description = "what that does"
		}
	})
	f := newForm(q, false, "", newStyles(true))
	got := strings.Join(f.view(80, 23, 0, when), "\n")
	if !strings.Contains(got, "\x1b[31m  -was\x1b[m\n\x1b[32m  +is xx") || !strings.Contains(got, "\x1b[32m  ↳ xx") {
		t.Errorf("a change looks like\n%s", got)
	}
	rows := strings.Split(ansi.Strip(got), "\n")
	at := slices.Index(rows, "  -was")
	if at < 0 || rows[at-1] != "Allow Edit: main.go?" || !slices.Contains(rows, "  … 29 above · 9 rows below · PgUp PgDn") {
		t.Errorf("the changed lines do not come first, or it is not said what is cut:\n%s", strings.Join(rows, "\n"))
	}
	if strings.Contains(got, "what that does") {
		t.Errorf("descriptions take rows from the evidence:\n%s", got)
	}
	if got := typeInto(f, "1", "\r"); got.kind != pick {
		t.Errorf("what was on the terminal cannot be allowed: %+v, %s", got, f.note)
	}
}

// What a terminal has no row for cannot be allowed on it, but denied.
func TestWhatWasNotOnTheTerminalIsNotAllowed(t *testing.T) {
	q := changed(permission(), func(q *Question) { q.Context = "+ line\n+ line\n+ line" })
	for _, keys := range [][]string{{"1", "\r"}, {"allow", "\r"}, {"allow-run", "\r"}} {
		f := newForm(q, false, "", newStyles(false))
		for _, key := range keys {
			var k keyboard
			f.view(40, 5, 0, when)
			for _, msg := range append(k.take([]byte(key)), k.settle()...) {
				if what := f.press(msg); what.kind != stay {
					t.Errorf("%q leads to %+v", keys, what)
				}
			}
		}
		if !strings.Contains(f.note, "too low") {
			t.Errorf("%q: it says %q", keys, f.note)
		}
		if got := typeInto(f, "\r"); got.kind != pick || got.picked[0] > 1 { // on a higher one
			t.Errorf("%q on a higher terminal leads to %+v, %s", keys, got, f.note)
		}
	}
	plan := newForm(changed(question("q-1", questions.Approve), func(plan *Question) {
		plan.Kind, plan.Context = questions.AskPlan, q.Context
	}), false, "", newStyles(false))
	plan.view(40, 5, 0, when)
	for _, key := range []rune{'1', tea.KeyEnter} {
		if what := plan.press(tea.KeyPressMsg{Code: key, Text: strings.Trim(string(key), "\r")}); what.kind != stay {
			t.Errorf("a plan that is not there is approved: %+v", what)
		}
	}
	if !strings.Contains(plan.note, "too low") {
		t.Errorf("of a plan that is not there it says %q", plan.note)
	}
	f := newForm(q, false, "", newStyles(false))
	f.view(40, 5, 0, when)
	for _, key := range []rune{'3', tea.KeyEnter} {
		f.press(tea.KeyPressMsg{Code: key, Text: strings.Trim(string(key), "\r")})
	}
	if f.writing != reasons {
		t.Errorf("it cannot be denied: %s", f.note)
	}
}

// Of options that do not fit it is said how many are above and below.
func TestOptionsThatAreNotSeenAreCounted(t *testing.T) {
	ten := question("q-1", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
	ten.Context = strings.Repeat("There is much to read.\n", 30)
	f := newForm(ten, false, "", newStyles(false))
	if got := seen(f, 80, 15, 0); !strings.Contains(got, "  … 0 above · ") || strings.Contains(got, "10) ten") {
		t.Errorf("at first\n%s", got)
	}
	for range 5 {
		typeInto(f, down)
	}
	if got := seen(f, 80, 12, 0); !regexp.MustCompile(`… [1-9] above · [1-9] below\n`).MatchString(got) ||
		!strings.Contains(got, "❯ 6) six") {
		t.Errorf("in the middle\n%s", got)
	}
}

func TestALongQuestionIsScrolled(t *testing.T) {
	q := changed(permission(), func(q *Question) {
		q.Text, q.Context = "Allow Edit: main.go?", strings.TrimSpace(strings.Repeat("+ line\n", 100))
	})
	f := newForm(q, false, "", newStyles(true))
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "Allow Edit: main.go?\n  + line\n") ||
		!strings.Contains(got, "rows below · PgDn\n") || !strings.Contains(got, "4) deny-stop\n") {
		t.Errorf("at first\n%s", got)
	}
	for range 30 {
		typeInto(f, pageDown)
	}
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "rows above · PgUp\n") || strings.Contains(got, "PgDn") {
		t.Errorf("at the end\n%s", got)
	}
	for range 30 {
		typeInto(f, pageUp)
	}
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "rows below · PgDn\n") {
		t.Errorf("back at the top\n%s", got)
	}
}

// A person who changes a task sees the whole of it, where there is room, though it takes more rows than when they
// began.
func TestWordsThatGrowAreShownFromTheirBeginning(t *testing.T) {
	f := newForm(delegation(), false, "", newStyles(true))
	typeInto(f, "1", "\t")
	for _, key := range strings.Split(strings.Repeat(" Then write down what you did.", 6), "") {
		typeInto(f, key)
	}
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "change it:\n❯ Port the service. Then") ||
		strings.Count(got, "Then write") != 6 || strings.Contains(got, "\n\n\n") {
		t.Errorf("with room for all\n%s", got)
	}
	if got := seen(f, 80, 6, 0); !strings.Contains(got, "what you did.") ||
		strings.Contains(got, "Port the service. Then") {
		t.Errorf("with room for the end\n%s", got)
	}
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "❯ Port the service. Then") {
		t.Errorf("with room for all again\n%s", got)
	}
}

func TestTheRuleIsSaidBeforeAWrongAnswerAndTheRefusalAfterIt(t *testing.T) {
	f := newForm(changed(question("q-1"), func(q *Question) { q.Validate = "integer" }), false, "", newStyles(true))
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "The answer is a whole number.\n") {
		t.Error(got)
	}
	typeInto(f, "80a")
	f.say("Not taken: that is none.")
	if got := seen(f, 80, 24, 0); !strings.Contains(got, "❯ 80a \nNot taken: that is none.\n") {
		t.Error(got)
	}
	typeInto(f, "\x7f")
	if got := seen(f, 80, 24, 0); strings.Contains(got, "Not taken") {
		t.Errorf("it is still refused\n%s", got)
	}
}

func TestWithoutColoursOnlyTheCursorIsMarked(t *testing.T) {
	f := newForm(database(), false, "", newStyles(false))
	typeInto(f, "sq")
	f.say("Not taken.")
	got := strings.Join(f.view(80, 24, 1, when), "\n")
	if rest := strings.NewReplacer(cursorStyle, "", "\x1b[m", "").Replace(got); strings.Contains(rest, "\x1b") ||
		!strings.Contains(got, cursorStyle) {
		t.Errorf("%q", got)
	}
}

func TestEachOfManyOptionsIsFound(t *testing.T) {
	for _, multi := range []bool{false, true} {
		q := changed(question("q-1"), func(q *Question) {
			q.MultiSelect = multi
			for i := range 500 {
				q.Options = append(q.Options, Option{Label: fmt.Sprintf("shade-%d", i)})
			}
		})
		f := newForm(q, false, "", newStyles(false))
		screen := func() string { return ansi.Strip(strings.Join(f.view(80, 23, 0, when), "\n")) }
		if shown := screen(); !strings.Contains(shown, "type to find the other 450") {
			t.Errorf("it is not said that there are more:\n%s", shown)
		}
		typeInto(f, "shade-30")
		if shown := screen(); !strings.Contains(shown, "shade-30\n") || !strings.Contains(shown, "shade-300\n") {
			t.Errorf("what was typed finds\n%s", shown)
		}
		typeInto(f, "7")
		if shown := screen(); !strings.Contains(shown, "308) shade-307") || strings.Contains(shown, "None of") {
			t.Errorf("what was typed finds\n%s", shown)
		}
		if multi {
			typeInto(f, " ")
			typeInto(f, esc, "shade-499", " ", esc)
			screen()
			if got := f.enter(); got.kind != pick || !slices.Equal(got.picked, []int{307, 499}) {
				t.Errorf("it picks %+v", got)
			}
		} else if got := f.enter(); got.kind != pick || !slices.Equal(got.picked, []int{307}) {
			t.Errorf("it picks %+v", got)
		}
		typeInto(f, esc)
		first := map[bool]string{false: "1) shade-0\n", true: "50) shade-49\n"}[multi] // the cursor is on what is marked
		if shown := screen(); !strings.Contains(shown, first) {
			t.Errorf("Esc does not show all again:\n%s", shown)
		}
	}
}

func TestAPasteThatIsTooLongIsSaidInAFormOfOthers(t *testing.T) {
	f := NewForm(question("q-1"), "", false, Drafts{})
	if _, what := f.Update(tooLong{}, when); what != FormStays {
		t.Errorf("it leads to %v", what)
	}
	if rows := strings.Join(f.Rows(80, 20, Around{}, when), "\n"); !strings.Contains(rows, "longer than an answer can be") {
		t.Errorf("it says\n%s", rows)
	}
}

func TestADraftIsWhatWasTypedAndNotSent(t *testing.T) {
	for name, test := range map[string]struct{ typed, want []string }{
		"nothing":        {nil, nil},
		"in the list":    {[]string{"pas"}, []string{"pas"}},
		"in the field":   {[]string{"\t", "my ", "own"}, []string{"my own"}},
		"left":           {[]string{"\t", "my own", esc}, []string{"my own"}},
		"a long paste":   {[]string{"\t", "see ", paste("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12"), esc}, []string{"see 1\n2\n", "\n12"}},
		"left, and more": {[]string{"\t", "one", esc, "two"}, []string{"one\ntwo"}},
	} {
		f := NewForm(database(), "", false, Drafts{})
		typeInto(f.form, test.typed...)
		got := f.Draft()
		if len(test.want) == 0 && got != "" {
			t.Errorf("%s: the draft is %q", name, got)
		}
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the draft is %q, without %q", name, got, want)
			}
		}
	}
}

func TestTheKeysOfAFormBreakBetweenThem(t *testing.T) {
	f := &form{writing: ownAnswer, canGoBack: true, canPutOff: true}
	for width := narrowestForm; width <= 80; width++ {
		rows := strings.Split(f.keys(width), "\n")
		if got := strings.Join(rows, " · "); got != "Enter sends · Alt-Enter new line · < back · > next · ? help" {
			t.Fatalf("in %d cells the keys are %q", width, rows)
		}
		for _, row := range rows {
			if ansi.StringWidth(row) > width {
				t.Errorf("%q is wider than %d cells", row, width)
			}
		}
	}
}

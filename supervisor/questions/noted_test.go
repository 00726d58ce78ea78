package questions

import (
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

func wording(several bool, labels ...string) checkpoints.Wording {
	w := checkpoints.Wording{MultiSelect: several}
	for _, l := range labels {
		w.Options = append(w.Options, Option{Label: l})
	}
	return w
}

func TestANoteStandsBesideWhatIsChosen(t *testing.T) {
	ask := func(several bool, labels ...string) *Question {
		return &Question{Kind: AskClarification, Wording: wording(several, labels...)}
	}
	layouts := ask(false, "Top bar", "Sidebar", "a: b", "2")
	colours := ask(true, "Red", "Blue, dark", "Green")
	for name, c := range map[string]struct {
		q      *Question
		typed  string
		labels []string
		note   string
	}{
		"by a letter":                     {layouts, "b:  but in green", []string{"Sidebar"}, "but in green"},
		"by the label":                    {layouts, "Sidebar: but: in green", []string{"Sidebar"}, "but: in green"},
		"by the label in another case":    {layouts, "SIDEBAR: narrow", []string{"Sidebar"}, "narrow"},
		"over lines":                      {layouts, "b: first\n  second: x", []string{"Sidebar"}, "first\n  second: x"},
		"a label with a colon":            {layouts, "c: as drawn", []string{"a: b"}, "as drawn"},
		"a label with a colon, as it is":  {layouts, "a: b", nil, ""},
		"several by their numbers":        {colours, "1, 3: light ones", []string{"Red", "Green"}, "light ones"},
		"a label with a comma":            {colours, "2: shiny", []string{"Blue, dark"}, "shiny"},
		"own words with a colon":          {layouts, "neither: ask the designer", nil, ""},
		"a start of a label":              {layouts, "Side: no", nil, ""},
		"a path":                          {layouts, `b:\dir`, nil, ""},
		"an address":                      {layouts, "https://example.com", nil, ""},
		"a key that no option has":        {layouts, "z: words", nil, ""},
		"an option and words that follow": {layouts, "Sidebar:", nil, ""},
	} {
		answer, err := Judge(c.q, c.typed, Place{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		given := *c.q
		given.Answer = answer
		labels, note, ok := Noted(&given)
		if ok != (c.labels != nil) || !slices.Equal(labels, c.labels) || note != c.note {
			t.Errorf("%s: %q is %q with %q", name, answer, labels, note)
		}
		if given.Declined = true; ok {
			if _, _, ok := Noted(&given); ok {
				t.Errorf("%s: so is one that is declined", name)
			}
		}
	}
}

func TestAFormTakesANoteWhereAnOptionMayHaveOne(t *testing.T) {
	q := &Question{Kind: AskClarification, Wording: wording(true, "Red", "Green")}
	fill := func(words string, places ...int) (string, error) {
		return Of(q, "").Fill(Filled{Places: places, Words: words}, Place{})
	}
	if got, err := fill(" not \x1b[1mtoo dark ", 0, 1); err != nil || got != "Red, Green: not too dark" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := fill(strings.Repeat("x", text.MaxClean+1), 0); err == nil {
		t.Errorf("%d bytes are taken", len(got))
	}
	q.Validate = "choice"
	if got, err := fill("words", 0); err == nil {
		t.Errorf("a question that takes options alone takes %q", got)
	}
}

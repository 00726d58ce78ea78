package terminal

import "testing"

func TestEntryGathersLinesIntoOneAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		batches [][]string
		want    string // complete only after the last batch
	}{
		"one line":            {[][]string{{"yes"}}, "yes"},
		"an empty line":       {[][]string{{""}}, ""},
		"Enter pressed twice": {[][]string{{"", ""}}, ""},
		"Enter, then a line":  {[][]string{{"", "yes"}}, "yes"},
		"a backslash":         {[][]string{{`one\`}, {`two\`}, {"three"}}, "one\ntwo\nthree"},
		"triple quotes": {[][]string{{`"""`}, {"one"}, {""}, {"two"}, {`"""`}},
			"\"\"\"\none\n\ntwo\n\"\"\""},
		"triple quotes on one line":          {[][]string{{`"""one"""`}}, `"""one"""`},
		"triple quotes at the end of a line": {[][]string{{`"""one`}, {`two"""`}}, "\"\"\"one\ntwo\"\"\""},
		"triple quotes in one paste":         {[][]string{{`"""`, "one", `"""`}}, "\"\"\"\none\n\"\"\""},
		"a paste":                            {[][]string{{"one", "", "two"}, {"three"}, {""}}, "one\n\ntwo\nthree"},
		"a paste that comes in two":          {[][]string{{"one", "two"}, {"", "three"}, {""}}, "one\ntwo\n\nthree"},
		"a paste with backslashes":           {[][]string{{`one\`, "two", "three"}, {""}}, "one\\\ntwo\nthree"},
		"a paste after a backslash":          {[][]string{{`one\`}, {"two", "three"}, {""}}, "one\ntwo\nthree"},
	} {
		t.Run(name, func(t *testing.T) {
			var e entry
			for i, batch := range test.batches {
				text, done := e.add(batch)
				if last := i == len(test.batches)-1; done != last {
					t.Fatalf("after %q: done is %v", batch, done)
				}
				if done && text != test.want {
					t.Errorf("got %q, want %q", text, test.want)
				}
			}
			if e.begun() || len(e.lines) != 0 {
				t.Error("the entry is not empty after its answer")
			}
		})
	}
}

func TestAnEntryKnowsItsSize(t *testing.T) {
	var e entry
	e.add([]string{`"""`})
	e.add([]string{"12345", "6"})
	if e.size != 4+6+2 {
		t.Errorf("its size is %d", e.size)
	}
}

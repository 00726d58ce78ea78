package signals

import "testing"

func TestARuleMayAskForANumberWithBounds(t *testing.T) {
	f := func(n float64) *float64 { return &n }
	same := func(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }
	for rule, want := range map[string]Number{
		"integer":                   {Whole: true},
		"number":                    {},
		"integer 1..9":              {Whole: true, Min: f(1), Max: f(9)},
		" integer  -3 .. 4  days ":  {Whole: true, Min: f(-3), Max: f(4), Unit: "days"},
		"number 0.5..":              {Min: f(0.5)},
		"number ..1e3":              {},
		"number ..10 step 0.1 GiB":  {Max: f(10), Step: f(0.1), Unit: "GiB"},
		"integer step 5":            {Whole: true, Step: f(5)},
		"integer 1..9 of the nodes": {Whole: true, Min: f(1), Max: f(9), Unit: "of the nodes"},
	} {
		got, ok := ReadNumber(rule)
		if rule == "number ..1e3" {
			want.Max = f(1000)
		}
		if !ok || got.Whole != want.Whole || got.Unit != want.Unit || !same(got.Min, want.Min) ||
			!same(got.Max, want.Max) || !same(got.Step, want.Step) {
			t.Errorf("%q: %+v, %v", rule, got, ok)
		}
	}
	for _, rule := range []string{"", "integers", "integer days", "integer 9..1", "integer 0.2..0.8",
		"number 1...2", "number 1..x", "number 0..1 step 0", "number 0..1 step -1", "integer 1..9 step 0.5",
		"number 1e999..", "text", "integer 0.5..3 step 1"} {
		if n, ok := ReadNumber(rule); ok {
			t.Errorf("%q: %+v", rule, n)
		}
	}
}

func TestABoundThatNoNumberKeepsIsAFaultOfForm(t *testing.T) {
	for rule, faults := range map[string]int{"integer 1..9": 0, "number ..1 step 0.1": 0, "integer 9..1": 1} {
		sig, _ := Served("ask_user", []byte(`{"questions":[{"text":"How many?","validate":"`+rule+`"}]}`))
		if len(sig.Problems) != faults || sig.Questions[0].Validate != rule {
			t.Errorf("%q: %v", rule, sig)
		}
	}
}

package questions

import (
	"strings"
	"testing"
)

func TestANumberIsHeldToItsBoundsAndSteps(t *testing.T) {
	one, nine, two, tenth, none := 1.0, 9.0, 2.0, 0.1, 0.0
	million := 1e6
	odd := Schema{Type: "number", Step: &two, Unit: "machines", Bounds: Bounds{Minimum: &one, Maximum: &nine}}
	tenths := Schema{Type: "number", Step: &tenth}
	whole := Schema{Type: "integer", Bounds: Bounds{Maximum: &million}}
	for name, c := range map[string]struct {
		rule        Schema
		takes, says string
		refuses     []string
	}{
		"steps from the least": {odd, "1 5 9 +3 7.0 9e0", "a number from 1 to 9 in steps of 2 (machines)",
			[]string{"2", "11", "-1", "5 machines", "five", "NaN", "Inf", "0x5", "1,5", "", "5\n6", strings.Repeat("9", 400)}},
		"tenths":         {tenths, "0.3 1.7 -0.1 123456.7", "a number in steps of 0.1", []string{"0.35", "1e-3"}},
		"a step of none": {Schema{Type: "number", Step: &none}, "0.35", "a number", []string{"x"}},
		"a whole number": {whole, "-7 1000000", "a whole number of at most 1000000", []string{"0.5", "1000001", "1e3"}},
	} {
		q := Terms{Kind: AskClarification, Validate: c.rule.Validate()}
		if q.Rule() != c.says {
			t.Errorf("%s: it says %q", name, q.Rule())
		}
		for number := range strings.FieldsSeq(c.takes) {
			if got, err := q.Choose(number, Place{}); err != nil || got != number {
				t.Errorf("%s: %s is %q, %v", name, number, got, err)
			}
		}
		for _, typed := range c.refuses {
			if got, err := q.Choose(typed, Place{}); err == nil {
				t.Errorf("%s: %q is taken as %q", name, typed, got)
			}
		}
	}
	beside := Terms{Kind: AskClarification, Options: []Option{{Label: "few"}, {Label: "many"}}, Validate: odd.Validate()}
	if got, err := beside.Choose("1", Place{}); err != nil || got != "1" {
		t.Errorf("where a number is asked for 1 is %q, %v", got, err)
	}
}

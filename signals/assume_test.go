package signals

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAQuestionThatDoesNotStopTheWork(t *testing.T) {
	paths := make([]string, maxAffects+5)
	for i := range paths {
		paths[i] = fmt.Sprintf("f%d", i)
	}
	many := strings.Join(paths, ", ")
	for name, c := range map[string]struct {
		fields, questions   string
		assumption, problem string
		affects             []string
	}{
		"whole": {"blocking: false\nassumption: SQLite\naffects:\n  - a.sql\n  - b.sql\n", "  - text: Which?\n", "SQLite", "",
			[]string{"a.sql", "b.sql"}},
		"paths in a line": {"blocking: no\nassumption: SQLite\naffects: a.sql, b c.sql\n", "  - text: Which?\n", "SQLite", "", []string{"a.sql", "b c.sql"}},
		"the tool's word": {"wait: false\nassumption: SQLite\n", "  - text: Which?\n", "SQLite", "", nil},
		"it blocks":       {"blocking: true\nassumption: SQLite\n", "  - text: Which?\n", "", "", nil},
		"no assumption":   {"blocking: false\n", "  - text: Which?\n", "", "missing_field", nil},
		"an empty one":    {"blocking: false\nassumption: \"  \"\n", "  - text: Which?\n", "", "missing_field", nil},
		"two questions":   {"blocking: false\nassumption: SQLite\n", "  - text: Which?\n  - text: When?\n", "", "bad_value", nil},
		"too many paths":  {"blocking: false\nassumption: SQLite\naffects: " + many + "\n", "  - text: Which?\n", "SQLite", "truncated", paths[:maxAffects]},
		"the same path":   {"blocking: false\nassumption: SQLite\naffects: a, a\n", "  - text: Which?\n", "SQLite", "", []string{"a"}},
		"a large one is kept": {"blocking: false\nassumption: " + strings.Repeat("x", 9000) + "\n", "  - text: Which?\n",
			strings.Repeat("x", 9000), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			block := "[CLARIFICATION_NEEDED]\nagent_id: a-1\ntimestamp: 2026-01-11T12:00:00Z\n" + c.fields + "questions:\n" +
				c.questions + "[/CLARIFICATION_NEEDED]\n"
			found := LintMessage(block, LintConfig{})
			if len(found.Signals) != 1 {
				t.Fatalf("found: %+v", found)
			}
			q := found.Signals[0].Questions[0]
			if q.Assumption != c.assumption || !slices.Equal(q.Affects, c.affects) {
				t.Errorf("it assumes %q for %q", q.Assumption, q.Affects)
			}
			if codes := fmt.Sprint(found.Problems); (len(found.Problems) == 0) != (c.problem == "") ||
				!strings.Contains(codes, c.problem) {
				t.Errorf("problems: %s", codes)
			}
		})
	}
}

package task

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
)

func TestEachCriterionStandsBesideTheMetricsThatSpeakOfIt(t *testing.T) {
	for _, c := range []struct {
		about    string
		criteria []string
		metrics  string
		want     []string // what is said of each
		rest     string
	}{
		{
			"the report of 002, \"Example Signal: Success\"",
			[]string{"Scan for hardcoded secrets", "Check SQL injection risks", "Review authentication",
				"Generate structured report"},
			"  Success Criteria: [from original prompt]\n  ✓ Scan for hardcoded secrets → 0 found\n" +
				"  ✓ Check SQL injection risks → 0 found (parameterized queries used)\n" +
				"  ✓ Review authentication → OAuth2 and JWT validated, recommendations provided\n" +
				"  ✓ Generate structured report → SECURITY_ANALYSIS.md created\n",
			[]string{
				"✓ Scan for hardcoded secrets → 0 found", "✓ Check SQL injection risks → 0 found (parameterized queries used)",
				"✓ Review authentication → OAuth2 and JWT validated, recommendations provided",
				"✓ Generate structured report → SECURITY_ANALYSIS.md created",
			},
			"Success Criteria: [from original prompt]",
		},
		{
			"several lines of one, what is indented below it, and lines of none",
			[]string{"all 12 tables are migrated", "no downtime"},
			"- tables migrated: 12 of 12\n    three of them by hand\n- DOWNTIME: none\n- cost: $3",
			[]string{"- tables migrated: 12 of 12\nthree of them by hand", "- DOWNTIME: none"},
			"- cost: $3",
		},
		{"a report that does not say", []string{"the tests pass"}, "", []string{""}, ""},
		{"a criterion that only points", []string{"it works"}, "it works", []string{""}, "it works"},
		{"a criterion in other letters", []string{"登录 页面"}, "登录 页面 ok", []string{"登录 页面 ok"}, ""},
	} {
		a := &checkpoints.Agent{SuccessCriteria: c.criteria,
			Reporting: checkpoints.Reporting{Report: &checkpoints.Report{Metrics: c.metrics}}}
		beside, rest := MatchCriteria(a)
		var got []string
		for i, b := range beside {
			got = append(got, b.Achieved)
			if b.Criterion != c.criteria[i] {
				t.Errorf("%s: criterion %d is %q", c.about, i, b.Criterion)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || rest != c.rest {
			t.Errorf("%s: -want +got\n%s\nleft are %q, want %q", c.about, diff, rest, c.rest)
		}
	}
}

func TestWithoutCriteriaAllMetricsAreLeftAsTheyAre(t *testing.T) {
	beside, rest := MatchCriteria(&checkpoints.Agent{
		Reporting: checkpoints.Reporting{Report: &checkpoints.Report{Metrics: "  12 of 12\n"}}})
	if beside != nil || rest != "  12 of 12\n" {
		t.Errorf("beside %v stands %q", beside, rest)
	}
	if beside, rest = MatchCriteria(&checkpoints.Agent{SuccessCriteria: []string{"it works"}}); len(beside) != 1 ||
		rest != "" {
		t.Errorf("before a report: %v, %q", beside, rest)
	}
}

func FuzzBeside(f *testing.F) {
	f.Add("tests pass", "no downtime", "- all tests pass\n    really\n- cost: $3")
	f.Fuzz(func(t *testing.T, one, two, metrics string) {
		beside, rest := achieved([]string{one, two}, metrics)
		said := len(strings.Fields(rest))
		for _, b := range beside {
			said += len(strings.Fields(b.Achieved))
		}
		if want := len(strings.Fields(metrics)); said != want {
			t.Errorf("of %d words %d are shown", want, said)
		}
	})
}

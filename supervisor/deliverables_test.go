package supervisor

import (
	"testing"

	"claude-supervise/signals"
)

func TestDeliverablesThatNameFilesAreLookedForAndProseIsNot(t *testing.T) {
	for _, c := range []struct{ deliverables, want string }{
		{"Generated files:\n- SECURITY_ANALYSIS.md (comprehensive report)\n- docs/plan.md: the plan",
			"SECURITY_ANALYSIS.md docs/plan.md"},
		{"- `report.md`\n- \"a.txt\"\n- src/*.go", "report.md a.txt src/*.go"},
		{"- none\n- a faster build\n- see https://example.com/x.md", ""},
		{"report.md", "report.md"},
		{"", ""},
	} {
		sig := signals.Signal{Fields: []signals.Field{{Name: "deliverables", Value: c.deliverables}}}
		got := ""
		for _, f := range files(sig.List("deliverables")) {
			got += " " + f
		}
		if got != "" {
			got = got[1:]
		}
		if got != c.want {
			t.Errorf("%q names %q, want %q", c.deliverables, got, c.want)
		}
	}
}

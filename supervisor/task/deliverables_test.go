package task

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

func TestDeliverablesAreLookedForUnlessTheyAreProse(t *testing.T) {
	for _, c := range []struct{ deliverables, want string }{
		{"Generated files:\n- SECURITY_ANALYSIS.md (comprehensive report)\n- docs/plan.md: the plan",
			"SECURITY_ANALYSIS.md docs/plan.md"},
		{"- `report.md`\n- \"a.txt\"\n- src/*.go\n- *.md", "report.md a.txt src/*.go *.md"},
		{"- none\n- a faster build\n- see https://example.com/x.md\n- https://example.com/x.md", ""},
		{"N/A", ""},
		{"- .ts\n- .ts files\n- .env\n- .gitignore\n- src/.md\n- types.d.ts", ".env .gitignore src/.md types.d.ts"},
		{"report.md", "report.md"},
		{"", ""},
		{"- Makefile\n- Dockerfile\n- bin\n- Überblick.md\n- src/[id]/page.tsx", "Makefile Dockerfile bin Überblick.md src/[id]/page.tsx"},
		{"- Makefile (build rules)\n- Dockerfile: the image\n- Tests: 14 pass\n- Coverage (80 %)", "Makefile Dockerfile"},
		{"Makefile, Dockerfile,\nbin", "Makefile Dockerfile bin"},
		{"- a fast, simple build\n- src/a.go:42\n- **bold.md**\n- [the report](out/r.md) for all", "src/a.go bold.md out/r.md"},
		{"Files:\nMakefile\nLICENSE.", "Makefile LICENSE"},
		{"1. `go.mod`: the module\n2. out/final report.pdf", "go.mod out/final report.pdf"},
		{"- docs/x y.md\n- src/ has all.go\n- src/a.go calls b.go\n- bin/tool (see tool.md)", "docs/x y.md src/ src/a.go bin/tool"},
	} {
		sig := signals.Signal{Fields: []signals.Field{{Name: "deliverables", Value: c.deliverables}}}
		if got := strings.Join(PathsOf(Deliverables(sig.List("deliverables"))), " "); got != c.want {
			t.Errorf("%q names %q, want %q", c.deliverables, got, c.want)
		}
	}
}

func TestAFileIsDueOnceThoughTaskAndReportNameIt(t *testing.T) {
	a := &checkpoints.Agent{Deliverables: []string{"Makefile", "out/final report.pdf"}}
	a.Report = &checkpoints.Report{Deliverables: "- ./Makefile (build)\n- Dockerfile"}
	want := []Deliverable{{Path: "Makefile"}, {Path: "out/final report.pdf", Or: "out/final"}, {Path: "Dockerfile"}}
	if diff := cmp.Diff(want, Due(a, 0)); diff != "" {
		t.Error(diff)
	}
}

package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/signals"
)

func TestDeliverablesThatNameFilesAreLookedForAndProseIsNot(t *testing.T) {
	for _, c := range []struct{ deliverables, want string }{
		{"Generated files:\n- SECURITY_ANALYSIS.md (comprehensive report)\n- docs/plan.md: the plan", "SECURITY_ANALYSIS.md docs/plan.md"},
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

func TestWhatIsMissingIsNamedAsTheReportNamesIt(t *testing.T) {
	cwd, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, path := range []string{filepath.Join(cwd, "here.txt"), filepath.Join(home, "home.txt")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := missing(cwd, []string{"here.txt", "gone.txt", "*.txt", "*.md", "~/home.txt", "~/gone", filepath.Join(cwd, "here.txt")})
	if diff := cmp.Diff([]string{"gone.txt", "*.md", "~/gone"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

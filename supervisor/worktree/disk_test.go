package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsMissingIsNamedAsTheReportNamesIt(t *testing.T) {
	cwd, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, path := range []string{filepath.Join(cwd, "here.txt"), filepath.Join(home, "home.txt")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := (&FileSearch{Cwd: cwd}).Missing(t.Context(),
		[]string{"here.txt", "gone.txt", "*.txt", "*.md", "~/home.txt", "~/gone", filepath.Join(cwd, "here.txt")})
	if diff := cmp.Diff([]string{"gone.txt", "*.md", "~/gone"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

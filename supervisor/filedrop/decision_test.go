package filedrop

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDecisionsGetALineEachHoweverOftenTheyAreTold(t *testing.T) {
	claude := filepath.Join(t.TempDir(), ".claude")
	d, err := OpenFolders(claude)
	noError(t, err)
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	decision := func(id, answer string) Decision {
		return Decision{id, Answered{Question: "Edit a | b?\n", Answer: answer, Path: "a person on pts/1", At: at,
			Asked: at.Add(-90 * time.Second)}}
	}
	both := []Decision{decision("q-1", "allow"), decision("q-2", "deny too risky")}
	for _, told := range [][]Decision{both[:1], both, both} {
		noError(t, d.Audit(told))
	}
	got, err := os.ReadFile(filepath.Join(claude, "audit", "questions.log"))
	if want := "2026-11-02T09:00:00Z | q-1 | Edit a \\| b?\\n | allow | 90s | a person on pts/1\n" +
		"2026-11-02T09:00:00Z | q-2 | Edit a \\| b?\\n | deny too risky | 90s | a person on pts/1\n"; string(got) != want {
		t.Errorf("the log is (%v)\n%swant\n%s", err, got, want)
	}
}

package e2e

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The database and the pack were made by the program as it was before launches had a phase: by runs of the built-in
// scenarios and of those in testdata/kill, ended, parked, stopped, and killed after most kinds of save. What it showed
// of them is kept beside, as it shows them where the folders of the runs are gone.
const (
	releaseDatabase = "../checkpoints/testdata/release.db.gz"
	releasePack     = "../supervisor/pack/testdata/release.tar.gz"
	releaseShown    = "testdata/release.json.gz"
)

func TestRunsOfAnEarlierReleaseAreShownAsItShowedThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := filepath.Join(w.home, ".local/state/claude-supervise")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "state.db"), unzipped(t, releaseDatabase), 0o600); err != nil {
		t.Fatal(err)
	}
	there := newWorld(t)
	packed, err := os.ReadFile(releasePack)
	if err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(there.home, "release.tar.gz")
	if err := os.WriteFile(pack, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	there.must("unpack", pack)

	shown := map[string]any{}
	w.showsAll(shown, "")
	there.showsAll(shown, "unpacked ")
	if path := os.Getenv("CLAUDE_SUPERVISE_UPDATE_RELEASE"); path != "" { // with the program of that release
		doc, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, doc, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := parse[map[string]any](t, string(unzipped(t, releaseShown)))
	if diff := cmp.Diff(want, knownTo(want, shown), cmpopts.IgnoreMapEntries(func(key string, _ any) bool {
		// It may be better put; an orphan's are counted up to now; what is withdrawn offers none.
		return key == "reason" || key == "worked_seconds" || key == "answer_command"
	})); diff != "" {
		t.Errorf("-then +now\n%s", diff)
	}
}

// knownTo gives what is shown now without the keys that the release before did not have.
func knownTo(then, now any) any {
	switch now := now.(type) {
	case map[string]any:
		then, ok := then.(map[string]any)
		if !ok {
			return now
		}
		maps.DeleteFunc(now, func(key string, _ any) bool { _, known := then[key]; return !known })
		for key, value := range now {
			now[key] = knownTo(then[key], value)
		}
	case []any:
		if then, ok := then.([]any); ok && len(then) == len(now) {
			for i := range now {
				now[i] = knownTo(then[i], now[i])
			}
		}
	}
	return now
}

// showsAll adds what the commands show of all that a world knows.
func (w *world) showsAll(shown map[string]any, prefix string) {
	w.t.Helper()
	show := func(args ...string) {
		text := strings.NewReplacer(w.home, "HOME", w.cwd, "CWD").Replace(w.must(append(args, "--json")...))
		shown[prefix+strings.Join(args, " ")] = parse[any](w.t, text)
	}
	show("ps", "-a")
	show("questions")
	for _, r := range parse[[]runView](w.t, w.must("ps", "-a", "--json")) {
		show("show", r.ID)
	}
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

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

// What the program has made at two commits, and what it showed of that, as it shows it where the folders of the runs
// are gone: runs of the built-in scenarios and of those in testdata/kill, ended, parked, answered, stopped, and killed
// after most kinds of save; some packed, one with its snapshots. The first is from before launches had a phase, the
// second has questions of every kind, open, answered and delivered, and answers of every sort.
var releases = []struct {
	database string
	packs    []string
	shown    string
}{
	{"../checkpoints/testdata/release.db.gz", []string{"release.tar.gz"}, "testdata/release.json.gz"},
	{"../checkpoints/testdata/ae20620.db.gz", []string{"ae20620/elicitation.tar.gz", "ae20620/stop.tar.gz",
		"ae20620/worktrees.tar.gz", "ae20620/snapshots"}, "testdata/ae20620.json.gz"},
}

func TestRunsOfAnEarlierReleaseAreShownAsItShowedThem(t *testing.T) {
	t.Parallel()
	for _, r := range releases {
		t.Run(filepath.Base(r.shown), func(t *testing.T) {
			t.Parallel()
			shownAsThen(t, r.database, r.packs, r.shown)
		})
	}
}

func shownAsThen(t *testing.T, database string, packs []string, then string) {
	w := newWorld(t)
	state := filepath.Join(w.Home, ".local/state/claude-supervise")
	noError(t, os.MkdirAll(state, 0o700))
	noError(t, os.WriteFile(filepath.Join(state, "state.db"), unzipped(t, database), 0o600))
	there := newWorld(t)
	for _, name := range packs {
		pack := filepath.Join(there.Home, filepath.Base(name))
		from := filepath.Join("../supervisor/pack/testdata", name)
		if packed, err := os.ReadFile(from); err == nil {
			err = os.WriteFile(pack, packed, 0o600)
			noError(t, err)
		} else if err := os.CopyFS(pack, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		there.must("unpack", pack)
	}

	shown := map[string]any{}
	w.showsAll(shown, "")
	there.showsAll(shown, "unpacked ")
	if folder := os.Getenv("CLAUDE_SUPERVISE_UPDATE_RELEASE"); folder != "" { // with the program of that release
		doc, err := json.Marshal(shown)
		noError(t, err)
		path := filepath.Join(folder, strings.TrimSuffix(filepath.Base(then), ".gz"))
		noError(t, os.WriteFile(path, doc, 0o600))
	}
	want := parse[map[string]any](t, string(unzipped(t, then)))
	if diff := cmp.Diff(want, knownTo(want, shown), cmpopts.IgnoreMapEntries(func(key string, _ any) bool {
		// It may be better put; an orphan's are counted up to now; what is withdrawn offers none.
		// That a script wants one of its options is said now.
		return key == "reason" || key == "worked_seconds" || key == "answer_command" || key == "validate"
	}), cmp.FilterValues(ofServer, cmp.Comparer(sayLoss))); diff != "" {
		t.Errorf("-then +now\n%s", diff)
	}
}

// ofServer reports whether texts are of what an MCP server asks, and sayLoss whether they are the same but that one says
// that its call is lost, as is done now.
func ofServer(a, b string) bool {
	return strings.HasPrefix(a, "The MCP server ") && strings.HasPrefix(b, "The MCP server ")
}

func sayLoss(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	more, same := strings.CutPrefix(b, a)
	return same && (more == "" || strings.HasPrefix(more, "\nThe process of this call is gone"))
}

// knownTo returns what is shown now without the keys that the release before did not have.
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
		text := strings.NewReplacer(w.Home, "HOME", w.Cwd, "CWD", filepath.Dir(w.Cwd), "TMP").
			Replace(w.must(append(args, "--json")...))
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
	noError(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	noError(t, err)
	content, err := io.ReadAll(z)
	noError(t, err)
	return content
}

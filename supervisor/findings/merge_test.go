package findings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
)

var finders = map[string]bool{"a-one0000000000": true, "a-two0000000000": true}

// A merged finding, as a reader of the merged file sees it.
type merged struct {
	Order int
	Agent string
	Value any
}

func readMerged(t *testing.T, path string) []merged {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := []merged{}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return found
}

func TestFindingsAreMergedInTheirOrderWithTheirAgentsAndBrokenLinesKeptAside(t *testing.T) {
	dir := t.TempDir()
	long := `"` + strings.Repeat("x", maxFinding) + `"`
	gittest.Put(t, filepath.Join(dir, "findings.jsonl"), strings.Join([]string{
		`{"agent_id":"a-one0000000000","severity":"high","<&>":"` + "\u2028" + `"}`,
		``, `  {"agent":"a-two0000000000"} ` + "\r",
		`{"agent_id":"a-stranger","text":"x"}`, `{"cut off": `, "\"not \xff text\"", `42`, long,
		`{"agent_id":7,"agent":"a-one0000000000"}`, `{"last":true}`,
	}, "\n"))
	gittest.Put(t, filepath.Join(dir, "empty.jsonl"), "")
	gittest.Put(t, filepath.Join(dir, "notes.txt"), "not findings")
	got := MergeShared(dir, finders)
	want := supervisor.Merged{Files: []checkpoints.MergedFile{
		{Name: "empty.jsonl", Merged: filepath.Join(dir, "empty.merged.json")},
		{
			Name: "findings.jsonl", Merged: filepath.Join(dir, "findings.merged.json"), Lines: 6, Broken: 3,
			Aside: filepath.Join(dir, "findings.broken"),
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantMerged := []merged{
		{1, "a-one0000000000", map[string]any{"agent_id": "a-one0000000000", "severity": "high", "<&>": "\u2028"}},
		{3, "a-two0000000000", map[string]any{"agent": "a-two0000000000"}},
		{4, "", map[string]any{"agent_id": "a-stranger", "text": "x"}},
		{7, "", 42.0},
		{9, "a-one0000000000", map[string]any{"agent_id": 7.0, "agent": "a-one0000000000"}},
		{10, "", map[string]any{"last": true}},
	}
	if diff := cmp.Diff(wantMerged, readMerged(t, want.Files[1].Merged)); diff != "" {
		t.Error(diff)
	}
	gittest.WantFile(t, want.Files[1].Aside, "{\"cut off\":\n\"not \xff text\"\n"+long+"\n")
	if diff := cmp.Diff([]merged{}, readMerged(t, want.Files[0].Merged)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got, MergeShared(dir, finders)); diff != "" {
		t.Errorf("merged again: %s", diff)
	}
	if info, err := os.Stat(want.Files[1].Merged); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What is printed before the end is what will be merged, but for a line that is not yet whole; nothing is written.
func TestWhatIsSharedIsPrintedBeforeTheEnd(t *testing.T) {
	dir := t.TempDir()
	gittest.Put(t, filepath.Join(dir, "findings.jsonl"), strings.Join([]string{
		`{"agent_id":"a-one0000000000","timestamp":"2026-01-11T12:00:00+01:00","text":"<&>"}`, `{"agent":"a-stranger"}`,
		`{"agent_id":"a-two00000`}, "\n"))
	gittest.Put(t, filepath.Join(dir, "notes.jsonl"), "1\n")
	var out strings.Builder
	if err := Print(dir, finders, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"findings.jsonl": [
{"order":1,"agent":"a-one0000000000","time":"2026-01-11T11:00:00Z","value":{"agent_id":"a-one0000000000",` +
		`"timestamp":"2026-01-11T12:00:00+01:00","text":"<&>"}},
{"order":2,"agent":"","time":"","value":{"agent":"a-stranger"}}
]
,"notes.jsonl": [
{"order":1,"agent":"","time":"","value":1}
]
}
`
	if diff := cmp.Diff(want, out.String()); diff != "" || !json.Valid([]byte(out.String())) {
		t.Error(diff)
	}
	if files, err := os.ReadDir(dir); len(files) != 2 || err != nil {
		t.Errorf("in the folder are %v (%v)", files, err)
	}
	out.Reset()
	if err := Print(filepath.Join(dir, "none"), finders, &out); err != nil || out.String() != "{}\n" {
		t.Errorf("where nothing is shared: %q (%v)", out.String(), err)
	}
}

func TestOnlyFilesOfFindingsAreMerged(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	gittest.Put(t, secret, "{\"secret\":1}\n")
	for name, target := range map[string]string{"link.jsonl": secret, "inside.jsonl": "good.jsonl",
		"good.merged.json": secret, "good.broken": secret} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	gittest.Put(t, filepath.Join(dir, "folder.jsonl", "x"), "")
	gittest.Put(t, filepath.Join(dir, ".hidden.jsonl"), "{}")
	gittest.Put(t, filepath.Join(dir, "esc\x1b[2J.jsonl"), "{}")
	gittest.Put(t, filepath.Join(dir, "good.jsonl"), "{}\n{\n")
	huge := filepath.Join(dir, "huge.jsonl") // with those before it more than is merged
	gittest.Put(t, huge, "")
	if err := os.Truncate(huge, maxFindings); err != nil {
		t.Fatal(err)
	}
	got := MergeShared(dir, finders)
	if len(got.Files) != 1 || got.Files[0].Name != "good.jsonl" || got.Files[0].Lines != 1 ||
		got.Again || !strings.Contains(got.Problem, "folder.jsonl") {
		t.Errorf("got %+v", got)
	}
	gittest.WantFile(t, secret, "{\"secret\":1}\n")
	gittest.WantFile(t, filepath.Join(dir, "good.broken"), "{\n")
}

func TestAFolderOfFindingsThatIsALinkIsLeftAlone(t *testing.T) {
	elsewhere, link := t.TempDir(), filepath.Join(t.TempDir(), "shared")
	gittest.Put(t, filepath.Join(elsewhere, "findings.jsonl"), "{}\n")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if got := MergeShared(link, finders); got.Problem == "" || got.Files != nil {
		t.Errorf("got %+v", got)
	}
	if got := MergeShared(filepath.Join(link, "none"), finders); !cmp.Equal(got, supervisor.Merged{}) {
		t.Errorf("where none is, got %+v", got)
	}
}

// Whatever agents append, each line is either in the array, as it was, or aside.
func FuzzFindings(f *testing.F) {
	for _, text := range []string{"{}\n[1,2]\n", "{\"agent_id\":\"a-one0000000000\"}", "\n\r\n \n",
		"{\n\x00\xff\n\"\n", "1e999\n-\nnull"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		gittest.Put(t, filepath.Join(dir, "f.jsonl"), string(text))
		got := MergeShared(dir, finders)
		if got.Problem != "" || len(got.Files) != 1 {
			t.Fatalf("got %+v", got)
		}
		kept, err := os.ReadFile(got.Files[0].Merged)
		if err != nil {
			t.Fatal(err)
		}
		var again []struct {
			Order int
			Value json.RawMessage
		}
		if err := json.Unmarshal(kept, &again); err != nil {
			t.Fatalf("%v in %q", err, kept)
		}
		lines := strings.Split(string(text), "\n")
		for _, m := range again {
			if strings.TrimSpace(lines[m.Order-1]) != string(m.Value) {
				t.Fatalf("line %d is %q, merged as %q", m.Order, lines[m.Order-1], m.Value)
			}
		}
		filled := slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
		if m := got.Files[0]; m.Lines != len(again) || m.Lines+m.Broken != len(filled) {
			t.Fatalf("of %d lines %d are merged and %d broken", len(filled), m.Lines, m.Broken)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	dir := b.TempDir()
	text := strings.Repeat(
		`{"agent_id":"a-one0000000000","severity":"high","file":"src/auth/login.go","text":"the password is compared in `+
			`variable time"}`+"\n", 10_000)
	gittest.Put(b, filepath.Join(dir, "findings.jsonl"), text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if got := MergeShared(dir, finders); got.Problem != "" {
			b.Fatal(got.Problem)
		}
	}
}

// In the shared array stand who has found it and when beside the value; the document's own file becomes the plain array
// that `jq -s .` makes of it.
func TestFindingsInTheProjectAreMergedAsThePlainArrayOfTheDocument(t *testing.T) {
	project, to, shared := t.TempDir(), t.TempDir(), t.TempDir()
	begun := time.Now().Truncate(time.Second)
	finding := `{"agent_id":"a-one0000000000","timestamp":"2026-01-11T12:00:00-05:00","severity":"high"}`
	lines := finding + "\n{cut off\n42\n"
	for _, path := range []string{
		filepath.Join(project, "SECURITY_FINDINGS.jsonl"), filepath.Join(project, "OLD_FINDINGS.jsonl"),
		filepath.Join(project, "data.jsonl"), filepath.Join(shared, "SECURITY_FINDINGS.jsonl"),
	} {
		gittest.Put(t, path, lines)
	}
	if err := os.Chtimes(filepath.Join(project, "OLD_FINDINGS.jsonl"), time.Time{}, begun.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(project, "data.jsonl"), filepath.Join(project, "LINKED_FINDINGS.jsonl")); err != nil {
		t.Fatal(err)
	}
	got := MergeProject(project, to, begun)
	merged := filepath.Join(to, "SECURITY_FINDINGS.merged.json")
	want := supervisor.Merged{Files: []checkpoints.MergedFile{{Name: "SECURITY_FINDINGS.jsonl", Merged: merged, Lines: 2,
		Broken: 1, Aside: filepath.Join(to, "SECURITY_FINDINGS.broken")}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	gittest.WantFile(t, merged, "[\n"+finding+",\n42\n]\n")
	if entries, err := os.ReadDir(project); err != nil || len(entries) != 4 {
		t.Errorf("the project's folder holds %v (%v)", entries, err)
	}
	if got := MergeProject(filepath.Join(project, "gone"), to, begun); !cmp.Equal(got, supervisor.Merged{}) {
		t.Errorf("a folder that is gone: %+v", got)
	}
	MergeShared(shared, finders)
	gittest.WantFile(t, filepath.Join(shared, "SECURITY_FINDINGS.merged.json"),
		`[`+"\n"+`{"order":1,"agent":"a-one0000000000","time":"2026-01-11T17:00:00Z","value":`+finding+`},`+"\n"+
			`{"order":3,"agent":"","time":"","value":42}`+"\n]\n")
}

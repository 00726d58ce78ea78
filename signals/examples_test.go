package signals

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false,
	"write what is read now into testdata; look at the difference before you keep it")

// The example blocks of the protocols document (002), as it prints them; what each is read as stands beside it.
func TestExamplesOfTheDocument(t *testing.T) {
	paths, err := filepath.Glob("testdata/protocols/*.txt")
	if err != nil || len(paths) != 13 {
		t.Fatalf("%d examples, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			noError(t, err)
			got, err := json.MarshalIndent(Scan(string(text), ""), "", "  ")
			noError(t, err)
			golden(t, strings.TrimSuffix(path, ".txt")+".json", string(got)+"\n")
			fenced := "Here is what I need.\n\n```yaml\n" + string(text) + "```\n"
			same(t, brief(Scan(fenced, "")), brief(Scan(string(text), "")))
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		noError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	noError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

// texts are many whole outputs: the examples and both corpora. In the corpora AGENT stands for the agent's id.
func texts(tb testing.TB) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*/*.txt")
	noError(tb, err)
	all := make(map[string]string)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		noError(tb, err)
		all[path] = filled(string(text))
	}
	return all
}

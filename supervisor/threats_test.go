package supervisor

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A threat is two lines of the table: who may do what and not what; then the code that holds it, and the test that
// attacks it, with its folder where that is another.
var threat = regexp.MustCompile(
	`(?m)^//\t(repository|settings|task file|pack|page|model|MCP server|processes|other user|other session|network|server|blob store): may (.+); may not (.+)\n` +
		`//\t\t(\S+\.go), (?:(\S+) )?(Test\w+(?:/\w+)?)$`)

func TestEveryThreatHasItsCodeAndItsTest(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := threat.FindAllStringSubmatch(string(doc), -1)
	_, model, _ := strings.Cut(string(doc), "# Threat model")
	if lines := strings.Count(model, "\n//\t"); lines != 2*len(rows) || len(rows) < 20 {
		t.Errorf("of %d lines of the table %d make a row", lines, 2*len(rows))
	}
	for _, row := range rows {
		what, code, folder, test := row[3], row[4], cmp.Or(row[5], filepath.Dir(row[4])), row[6]
		if _, err := os.Stat(filepath.Join("..", code)); err != nil {
			t.Errorf("%s: its code is not there: %v", what, err)
		}
		if !hasTest(t, filepath.Join("..", folder), test) {
			t.Errorf("%s: %s has no test %s", what, folder, test)
		}
	}
}

// hasTest reports whether a folder's tests have one of that name, or its stories a file.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	if stories, is := strings.CutPrefix(name, "TestStories/"); is {
		_, err := os.Stat(filepath.Join(folder, "testdata", "stories", stories+".txt"))
		return err == nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}

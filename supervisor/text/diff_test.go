package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestALineOfADiffIsWhatItsHunkSays(t *testing.T) {
	const ours = `a-1, by its own edits:
- a list
+ of ours
diff --git a/q.sql b/q.sql
--- a/q.sql
+++ b/q.sql
@@ -1,3 +1,3 @@ create
--- drop the table
 select
-old
+++ new
+@@ -1 +1 @@
\ No newline at end of file
--- b.txt
+++ b.txt
@@ -0,0 +1 @@
+whole
- behind it`
	signs := map[DiffLine]string{Beside: ".", DiffFile: "f", DiffHunk: "@", Added: "+", Removed: "-"}
	got, lines := "", []string(nil)
	for is, line := range DiffLines(ours) {
		got, lines = got+signs[is], append(lines, line)
	}
	if want := "...fff@-.-++.ff@+."; got != want {
		t.Errorf("the lines are\n%s, want\n%s", got, want)
	}
	if strings.Join(lines, "\n") != ours {
		t.Errorf("the lines are %q", lines)
	}
}

func FuzzDiffLines(f *testing.F) {
	f.Add("@@ -1 +1 @@\n--- a\n+++ b")
	f.Add("@@ -999999999,999999999 +0,0 @@\n")
	f.Fuzz(func(t *testing.T, s string) {
		var lines []string
		for is, line := range DiffLines(s) {
			lines = append(lines, line)
			if is == Added && line[0] != '+' || is == Removed && line[0] != '-' {
				t.Errorf("%q is taken for %d", line, is)
			}
		}
		if strings.Join(lines, "\n") != s {
			t.Errorf("of %q there is %q", s, lines)
		}
	})
}

func TestTheFirstLinesOfATextAreWhole(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"one\ntwo\n", 8, "one\ntwo\n"},
		{"one\ntwo\n", 7, "one\n"},
		{"one\n", 2, "on"},
		{"größe", 3, "gr"},
	} {
		if got := FirstLines(c.s, c.n); got != c.want || !utf8.ValidString(got) {
			t.Errorf("FirstLines(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

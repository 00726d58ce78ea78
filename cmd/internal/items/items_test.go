package items

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLinesAreItemsButForEmptyOnes(t *testing.T) {
	for text, want := range map[string][]string{
		"a\nb":                 {"a", "b"},
		"\ufeffa\r\n\n  b \n":  {"a", "b"},
		"a b\x00c\nd\x00\x00":  {"a b", "c\nd"},
		"-rf\n$(id)\n\x1b[2J":  {"-rf", "$(id)", "\x1b[2J"},
		"twice\ntwice\n":       {"twice", "twice"},
		strings.Repeat("x", 9): {"xxxxxxxxx"},
	} {
		if got, err := Lines(strings.NewReader(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestWhatCannotBeMeantAsItemsIsRefused(t *testing.T) {
	for said, text := range map[string]string{
		"it is empty":                   " \n\n",
		"it is not UTF-8":               "a\xff",
		"more than 10000 items":         strings.Repeat("x\n", maxItems+1),
		"item 2 is larger than 64 KiB":  "a\n" + strings.Repeat("x", maxItem+1),
		"it is larger than 16 MiB; put": strings.Repeat("x", maxText+1),
	} {
		if _, err := Lines(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("want %q: %v", said, err)
		}
	}
	if got, err := Lines(strings.NewReader(strings.Repeat("x\n", maxItems))); err != nil || len(got) != maxItems {
		t.Errorf("the most that there may be: %d, %v", len(got), err)
	}
}

// tree makes files below a new folder.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestFilesAreThoseThatFitThePatternSortedByPath(t *testing.T) {
	folder := tree(t, "b.md", "a.md", "a.txt", "docs/x.md", "docs/deep/y.md", "docs/z.go", ".hidden.md",
		".git/HEAD.md", "a b.md", "new\nline.md")
	for glob, want := range map[string][]string{
		"*.md":        {"a b.md", "a.md", "b.md", "new\nline.md"},
		"./*.txt":     {"a.txt"},
		"docs/*.md":   {"docs/x.md"},
		"docs/**/*":   {"docs/deep/y.md", "docs/x.md", "docs/z.go"},
		"**/*.md":     {"a b.md", "a.md", "b.md", "docs/deep/y.md", "docs/x.md", "new\nline.md"},
		"?.md":        {"a.md", "b.md"},
		"[ab].md":     {"a.md", "b.md"},
		"docs/z.go":   {"docs/z.go"},
		".hidden.md":  {".hidden.md"},
		".git/*.md":   {".git/HEAD.md"},
		"*/deep/*.md": {"docs/deep/y.md"},
	} {
		if got, err := Files(folder, glob); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", glob, got, err, want)
		}
	}
}

func TestNothingOutsideTheFolderIsAnItem(t *testing.T) {
	outside := tree(t, "secret.md", "sub/more.md")
	folder := tree(t, "mine.md")
	for link, to := range map[string]string{
		"out.md": filepath.Join(outside, "secret.md"), "up.md": "../" + filepath.Base(outside) + "/secret.md",
		"folder":   outside,
		"alias.md": "mine.md", "gone.md": "nowhere", "self.md": "self.md",
	} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Files(folder, "**/*.md"); err != nil || !slices.Equal(got, []string{"alias.md", "mine.md"}) {
		t.Errorf("%q, %v", got, err)
	}
	for glob, said := range map[string]string{
		"/etc/*": "it leads out", "../*": "it leads out", "a/../../*": "it leads out", "..": "it leads out",
		"folder/*.md": "", "*.none": "no file fits it", "[[:none:]]": "it is not a pattern", "nowhere/*": "no file fits it",
	} {
		if got, err := Files(folder, glob); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %q, %v", glob, got, err)
		}
	}
	for name, said := range map[string]string{
		"../x": "it leads out of the folder", "/etc/passwd": "it leads out of the folder", "out.md": "path escapes",
		"up.md":            "path escapes",
		"folder/secret.md": "path escapes", "folder": "path escapes", ".": "it is not a file", "none": "no such file",
	} {
		if got, err := LinesOf(folder, name); err == nil || !strings.HasPrefix(err.Error(), said) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := LinesOf(folder, "alias.md"); err != nil || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMoreFilesThanThereMayBeAreRefused(t *testing.T) {
	folder := tree(t, "a", "b", "c")
	if got, err := files(folder, "*", 3); err != nil || len(got) != 3 {
		t.Errorf("the most that there may be: %q, %v", got, err)
	}
	if _, err := files(folder, "*", 2); err == nil || !strings.Contains(err.Error(), "more than 2 items") {
		t.Error(err)
	}
}

func TestACommandsLinesAreItemsUnlessItFails(t *testing.T) {
	folder := tree(t, "a.md", "b.md")
	var said bytes.Buffer
	got, err := printed(context.Background(), folder, []string{"/bin/sh", "-c", "echo hm >&2; ls; cat"}, &said)
	if err != nil || !slices.Equal(got, []string{"a.md", "b.md"}) || said.String() != "hm\n" {
		t.Errorf("%q, %v; it said %q", got, err, said.String())
	}
	for script, want := range map[string]string{
		"echo a; exit 3": "exit status 3", "true": "it is empty", "yes": "it is larger than 16 MiB",
	} {
		if got, err := printed(context.Background(), folder, []string{"/bin/sh", "-c", script}, &said); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", script, got, err)
		}
	}
	if _, err := printed(context.Background(), folder, []string{"/nowhere/none"}, &said); err == nil {
		t.Error("a command that is not there gave items")
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\nb\r\n\n")
	f.Add("a\x00b\n\x00")
	f.Add("\ufeff \xff")
	f.Fuzz(func(t *testing.T, text string) {
		items, err := Lines(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, item := range items {
			if item == "" || !utf8.ValidString(item) || strings.Contains(item, "\x00") {
				t.Errorf("%q is an item", item)
			}
		}
		again, err := Lines(strings.NewReader(strings.Join(items, "\x00") + "\x00"))
		if err != nil || !slices.Equal(again, items) {
			t.Errorf("written and read again %q are %q, %v", items, again, err)
		}
	})
}

func FuzzFiles(f *testing.F) {
	folder := f.TempDir()
	for _, name := range []string{"a.md", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for _, glob := range []string{"*", "**", "[a", "a{b,c}", "!(a)", "../*", "//", "a/./b", "\\"} {
		f.Add(glob)
	}
	f.Fuzz(func(t *testing.T, glob string) {
		files, err := Files(folder, glob)
		for _, name := range files {
			if name != "a.md" && name != "b" {
				t.Errorf("%q gives %q, %v", glob, name, err)
			}
		}
	})
}

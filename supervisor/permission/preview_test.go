package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

func TestACallIsShownSoThatAPersonCanJudgeIt(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "one\ntwo\nthree\n")
	write("book.ipynb", `{"cells":[{"id":"c1","source":["x = 1\n","y = 2\n"]}]}`)
	write("binary", "\xff\xfe\x00")
	write("large", strings.Repeat("x", maxCompared+1))
	for link, to := range map[string]string{"link": "a.txt", "nowhere": "none", "etc": "/etc"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	here := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct {
		tool  string
		input map[string]any
		what  string
		shows []string
		rule  string
	}{
		"a command": {"Bash", map[string]any{"command": "npm test", "description": "harmless"}, "npm test",
			[]string{"command: npm test", "description: harmless", "folder: " + dir}, "Bash(npm test)"},
		"one in the background": {"Bash", map[string]any{"command": "npm start", "run_in_background": true}, "npm start",
			[]string{"It runs in the background."}, "Bash(npm start)"},
		"one outside the sandbox": {"Bash", map[string]any{"command": "npm test", "dangerouslyDisableSandbox": true},
			"npm test",
			[]string{"It runs outside the sandbox."}, ""},
		"one that says so in a text": {"Bash", map[string]any{"command": "npm test", "dangerouslyDisableSandbox": "true"},
			"npm test",
			[]string{"It runs outside the sandbox."}, ""},
		"one inside it": {"Bash", map[string]any{"command": "npm test", "dangerouslyDisableSandbox": false},
			"npm test", nil, "Bash(npm test)"},
		"no command": {"Bash", map[string]any{"command": 5}, "", []string{"command: 5"}, ""},
		"an edit": {"Edit", map[string]any{"file_path": here("a.txt"), "old_string": "two", "new_string": "2"}, "a.txt",
			[]string{"file: " + here("a.txt"), "-two\n+2\n"}, "Edit(/a.txt)"},
		"an edit under names of another case": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "two", "new_string": "2", "new_String": "harmless"},
			"a.txt",
			[]string{"-two\n+2\n"}, "Edit(/a.txt)"},
		"an edit of everything": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "t", "new_string": "T", "replace_all": true}, "a.txt",
			[]string{"-two\n-three\n+Two\n+Three\n"}, "Edit(/a.txt)"},
		"an edit that does not fit": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "four", "new_string": "4"}, "a.txt",
			[]string{"does not hold what is to be replaced", "old_string: four"}, "Edit(/a.txt)"},
		"several edits": {"MultiEdit", map[string]any{"file_path": here("a.txt"), "edits": []map[string]string{
			{"old_string": "one", "new_string": "1"}, {"old_string": "1", "new_string": "I"}}}, "a.txt",
			[]string{"-one\n+I\n"}, "Edit(/a.txt)"},
		"a new file": {"Write", map[string]any{"file_path": "new.txt", "content": "hello\n"}, "new.txt",
			[]string{"It is a new file.", "+hello\n"}, "Edit(/new.txt)"},
		"a file written over": {"Write", map[string]any{"file_path": here("a.txt"), "content": "one\n"}, "a.txt",
			[]string{"-two\n-three\n"}, "Edit(/a.txt)"},
		"nothing changed": {"Write", map[string]any{"file_path": here("a.txt"), "content": "one\ntwo\nthree\n"}, "a.txt",
			[]string{"It changes nothing."}, "Edit(/a.txt)"},
		"a cell": {"NotebookEdit", map[string]any{"notebook_path": here("book.ipynb"), "cell_id": "c1",
			"new_source": "x = 1\ny = 3\n"}, "book.ipynb",
			[]string{"-y = 2\n+y = 3\n"}, "Edit(/book.ipynb)"},
		"a new cell": {"NotebookEdit",
			map[string]any{"notebook_path": here("book.ipynb"), "edit_mode": "insert", "cell_id": "c1", "new_source": "z"},
			"book.ipynb",
			[]string{"new_source: z"}, "Edit(/book.ipynb)"},
		"a link": {"Write", map[string]any{"file_path": here("link"), "content": "x"}, "link",
			[]string{"which is a link to " + here("a.txt"), "-one"}, ""},
		"through a link, outside": {"Write", map[string]any{"file_path": here("etc/none-of-this-name"), "content": "x"},
			here("etc/none-of-this-name"),
			[]string{"which is a link to /etc/none-of-this-name", "outside the run's folder, " + dir}, ""},
		"a link to nowhere": {"Write", map[string]any{"file_path": here("nowhere"), "content": "x"}, "nowhere",
			[]string{"leads nowhere"}, ""},
		"outside": {"Write", map[string]any{"file_path": "../../../../../../../../none-of-this-name", "content": "x"},
			"/none-of-this-name",
			[]string{"file: /none-of-this-name", "outside the run's folder"}, "Edit(//none-of-this-name)"},
		"a FIFO": {"Write", map[string]any{"file_path": here("fifo"), "content": "x"}, "fifo",
			[]string{"cannot be shown: it is not a regular file", "content: x"}, "Edit(/fifo)"},
		"a folder": {"Write", map[string]any{"file_path": dir, "content": "x"}, dir,
			[]string{"cannot be shown: it is not a regular file"}, "Edit(/" + dir + ")"},
		"no text": {"Write", map[string]any{"file_path": here("binary"), "content": "x"}, "binary",
			[]string{"cannot be shown: the file is not text"}, "Edit(/binary)"},
		"a large file": {"Write", map[string]any{"file_path": here("large"), "content": "x"}, "large",
			[]string{"cannot be shown: the file is larger than 256 KiB"}, "Edit(/large)"},
		"a name that reads as a pattern": {"Write", map[string]any{"file_path": here("*"), "content": "x"}, "*",
			[]string{"It is a new file."}, ""},
		"a name with a NUL": {"Write", map[string]any{"file_path": "a\x00b", "content": "x"}, "", []string{"content: x"}, ""},
		"no path": {"Write", map[string]any{"file_path": []int{1}, "content": "x"}, "",
			[]string{"file_path: [1]"}, ""},
		"reading": {"Read", map[string]any{"file_path": "/etc/none"},
			"/etc/none", []string{"file: /etc/none", "outside"}, "Read(//etc/none)"},
		"an address": {"WebFetch", map[string]any{"url": "https://Go.dev/x", "prompt": "p"}, "https://Go.dev/x",
			[]string{"url: https://Go.dev/x"}, "WebFetch(domain:go.dev)"},
		"one with a user in it": {"WebFetch", map[string]any{"url": "https://go.dev@evil.example/"},
			"https://go.dev@evil.example/", []string{"evil"}, ""},
		"one of another scheme": {"WebFetch", map[string]any{"url": "file:///etc/passwd"}, "file:///etc/passwd",
			[]string{"file:"}, ""},
		"a server's tool": {"mcp__github__merge", map[string]any{"pr": 7},
			"", []string{"tool merge of the MCP server github", "pr: 7"}, "mcp__github__merge"},
		"a skill": {"Skill", map[string]any{"skill": "review"}, "review", []string{"skill: review"},
			"Skill(review)"},
		"another tool":       {"WebSearch", map[string]any{"query": "go"}, "", []string{"query: go"}, "WebSearch"},
		"another shell":      {"PowerShell", map[string]any{"command": "rm"}, "", []string{"command: rm"}, ""},
		"a search elsewhere": {"Grep", map[string]any{"path": "/etc", "pattern": "x"}, "", []string{"path: /etc"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := LookAt(c.tool, raw(c.input), dir)
			for _, want := range c.shows {
				if !strings.Contains(l.Preview+"\n", want) {
					t.Errorf("%q is not shown:\n%s", want, l.Preview)
				}
			}
			if rule := l.Rule.String(); l.What != c.what || rule != c.rule {
				t.Errorf("it is about %q, by the rule %q; want %q and %q", l.What, rule, c.what, c.rule)
			}
		})
	}
}

// Whatever a model sends is shown, within bounds, and as text.
func FuzzLookAt(f *testing.F) {
	for _, tool := range []string{"Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "Read",
		"WebFetch", "mcp__a__b", "Skill", "Other"} {
		f.Add(tool,
			`{"command":"x","file_path":"/nowhere/x","edits":[{"old_string":"a","new_string":"b"}],"url":"http://x","content":"y"}`)
	}
	f.Add("Bash", `[1]`)
	f.Add("Write", `{"file_path":"`+strings.Repeat("a/", 5000)+`","content":"`+strings.Repeat("é", 20000)+`"}`)
	f.Fuzz(func(t *testing.T, tool, input string) {
		if !json.Valid([]byte(input)) || !utf8.ValidString(input) {
			return // the CLI sends JSON
		}
		l := LookAt(tool, json.RawMessage(input), "/nowhere")
		if len(l.Preview) > text.MaxPreview+100 || !utf8.ValidString(l.Preview) {
			t.Errorf("%d bytes are shown, valid %t", len(l.Preview), utf8.ValidString(l.Preview))
		}
		if l.Rule == (rules.Rule{}) {
			return
		}
		if again, err := rules.Parse(l.Rule.String()); err != nil || again != l.Rule {
			t.Errorf("the rule %q that is offered is %+v (%v)", l.Rule, again, err)
		}
	})
}

func BenchmarkLookAtEdit(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("some line of text\n", 10000)+"the end\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	input := raw(map[string]any{"file_path": path, "old_string": "the end", "new_string": "no end"})
	for b.Loop() {
		if l := LookAt("Edit", input, filepath.Dir(path)); !strings.Contains(l.Preview, "+no end") {
			b.Fatal(l.Preview)
		}
	}
}

func raw(v any) json.RawMessage { return text.JSON(v) }

package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
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
	write("book.ipynb", `{"cells":[{"id":"c1","ID":"decoy","source":["x = 1\n","y = 2\n"]}],
		"Cells":[{"id":"c1","source":"a decoy"}]}`)
	write("binary", "\xff\xfe\x00")
	write("crlf", "one\r\ntwo\r\nthree\r\n")
	write("mixed", "one\ntwo\r\nthree\n")
	write("quotes", "say “a”\n")
	write("empty", "")
	write("utf16", "\xff\xfeo\x00n\x00e\x00\n\x00t\x00w\x00o\x00\n\x00")
	write("large", strings.Repeat("x", maxCompared+1))
	for link, to := range map[string]string{"link": "a.txt", "nowhere": "none", "etc": "/etc", "circle": "circle"} {
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
			[]string{"command: npm test", "it says: harmless", "folder: " + dir}, "Bash(npm test)"},
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
		"no command": {"Bash", map[string]any{"command": 5}, "5", []string{"command: 5"}, ""},
		"an edit": {"Edit", map[string]any{"file_path": here("a.txt"), "old_string": "two", "new_string": "2"}, "a.txt",
			[]string{"file: " + here("a.txt"), "-two\n+2\n"}, "Edit(/a.txt)"},
		"an edit under names of another case": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "two", "new_string": "2", "new_String": "harmless"},
			"a.txt",
			[]string{"does not know what new_String does here", "new_String: harmless", "new_string: 2"}, ""},
		"an edit of everything": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "t", "new_string": "T", "replace_all": true}, "a.txt",
			[]string{"-two\n-three\n+Two\n+Three\n"}, "Edit(/a.txt)"},
		"an edit that does not fit": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "four", "new_string": "4"}, "a.txt",
			[]string{"cannot be shown: the file does not hold what is to be replaced", "old_string: four"}, ""},
		"an edit of a text that is there twice": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "t", "new_string": "T"}, "a.txt",
			[]string{"cannot be shown: the file holds what is to be replaced more than once"}, ""},
		"an edit of lines that end as on Windows": {"Edit",
			map[string]any{"file_path": here("crlf"), "old_string": "one\ntwo", "new_string": "1\n2"}, "crlf",
			[]string{`-one\x0d` + "\n" + `-two\x0d` + "\n" + `+1\x0d` + "\n" + `+2\x0d` + "\n"}, "Edit(/crlf)"},
		"an edit that evens out the ends of lines": {"Edit",
			map[string]any{"file_path": here("mixed"), "old_string": "one", "new_string": "1"}, "mixed",
			[]string{"-one\n" + `-two\x0d` + "\n+1\n+two\n three\n"}, "Edit(/mixed)"},
		"an edit of other quotes": {"Edit",
			map[string]any{"file_path": here("quotes"), "old_string": `"a"`, "new_string": `"b"`}, "quotes",
			[]string{"cannot be shown: the file has it with other quotes", `new_string: "b"`}, ""},
		"an edit of an empty file": {"Edit",
			map[string]any{"file_path": here("empty"), "old_string": "", "new_string": "x\n"}, "empty",
			[]string{"@@ -0,0 +1 @@\n+x\n"}, "Edit(/empty)"},
		"an edit that makes a file": {"Edit",
			map[string]any{"file_path": here("new"), "old_string": "", "new_string": "x\n"}, "new",
			[]string{"It is a new file.", "+x\n"}, "Edit(/new)"},
		"an edit that leaves no line": {"Edit",
			map[string]any{"file_path": here("a.txt"), "old_string": "two", "new_string": ""}, "a.txt",
			[]string{" one\n-two\n three\n"}, "Edit(/a.txt)"},
		"an edit of UTF-16": {"Edit",
			map[string]any{"file_path": here("utf16"), "old_string": "two", "new_string": "2"}, "utf16",
			[]string{` \ufeffone` + "\n-two\n+2\n"}, "Edit(/utf16)"},
		"several edits": {"MultiEdit", map[string]any{"file_path": here("a.txt"), "edits": []map[string]string{
			{"old_string": "one", "new_string": "1"}}}, "a.txt", []string{"has the tool MultiEdit", "edits: [{"}, ""},
		"a new file": {"Write", map[string]any{"file_path": "new.txt", "content": "hello\n"}, "new.txt",
			[]string{"It is a new file.", "+hello\n"}, "Edit(/new.txt)"},
		"a file written over": {"Write", map[string]any{"file_path": here("a.txt"), "content": "one\n"}, "a.txt",
			[]string{"-two\n-three\n"}, "Edit(/a.txt)"},
		"a file of lines that end as on Windows written over": {"Write",
			map[string]any{"file_path": here("crlf"), "content": "1\n"}, "crlf",
			[]string{`the file's lines end with \r\n, which some releases keep`, "content: 1"}, ""},
		"UTF-16 written over": {"Write", map[string]any{"file_path": here("utf16"), "content": "1\n"}, "utf16",
			[]string{"byte order mark, which some releases keep", "content: 1"}, ""},
		"nothing changed": {"Write", map[string]any{"file_path": here("a.txt"), "content": "one\ntwo\nthree\n"}, "a.txt",
			[]string{"It changes nothing."}, "Edit(/a.txt)"},
		"a cell": {"NotebookEdit", map[string]any{"notebook_path": here("book.ipynb"), "cell_id": "c1",
			"new_source": "x = 1\ny = 3\n"}, "book.ipynb",
			[]string{"-y = 2\n+y = 3\n"}, "Edit(/book.ipynb)"},
		"a new cell": {"NotebookEdit",
			map[string]any{"notebook_path": here("book.ipynb"), "edit_mode": "insert", "cell_type": "code",
				"cell_id": "c1", "new_source": "z"},
			"book.ipynb",
			[]string{"It is a new cell after cell c1, of type code.", "+z"}, "Edit(/book.ipynb)"},
		"a cell by its place": {"NotebookEdit", map[string]any{"notebook_path": here("book.ipynb"), "cell_id": "cell-0",
			"new_source": "z"}, "book.ipynb",
			[]string{"-x = 1\n-y = 2\n+z\n"}, "Edit(/book.ipynb)"},
		"no cell": {"NotebookEdit", map[string]any{"notebook_path": here("book.ipynb"), "cell_id": "decoy",
			"new_source": "z"}, "book.ipynb",
			[]string{"cannot be shown: the notebook has no such cell", "new_source: z"}, ""},
		"a link": {"Write", map[string]any{"file_path": here("link"), "content": "x"}, "link",
			[]string{"which is a link to " + here("a.txt"), "-one"}, ""},
		"through a link, outside": {"Write", map[string]any{"file_path": here("etc/none-of-this-name"), "content": "x"},
			here("etc/none-of-this-name"),
			[]string{"which is a link to /etc/none-of-this-name", "outside the run's folder, " + dir}, ""},
		"a link to nowhere": {"Write", map[string]any{"file_path": here("nowhere"), "content": "x"}, "nowhere",
			[]string{"which is a link to " + here("none"), "It is a new file."}, ""},
		"a link in a circle": {"Write", map[string]any{"file_path": here("circle/x"), "content": "x"}, here("circle/x"),
			[]string{"It is not known where its links lead.", "outside the run's folder", "content: x"}, ""},
		"a new folder behind a link": {"Write", map[string]any{"file_path": here("etc/none-of-this/name"), "content": "x"},
			here("etc/none-of-this/name"),
			[]string{"which is a link to /etc/none-of-this/name", "outside the run's folder, " + dir, "+x"}, ""},
		"outside": {"Write", map[string]any{"file_path": "../../../../../../../../none-of-this-name", "content": "x"},
			"/none-of-this-name",
			[]string{"file: /none-of-this-name", "outside the run's folder"}, "Edit(//none-of-this-name)"},
		"a FIFO": {"Write", map[string]any{"file_path": here("fifo"), "content": "x"}, "fifo",
			[]string{"cannot be shown: it is not a regular file", "content: x"}, ""},
		"a folder": {"Write", map[string]any{"file_path": dir, "content": "x"}, dir,
			[]string{"cannot be shown: it is not a regular file"}, ""},
		"no text": {"Write", map[string]any{"file_path": here("binary"), "content": "x"}, "binary",
			[]string{"cannot be shown: the file is not text"}, ""},
		"a large file": {"Write", map[string]any{"file_path": here("large"), "content": "x"}, "large",
			[]string{"cannot be shown: the file is larger than 256 KiB"}, ""},
		"a name that reads as a pattern": {"Write", map[string]any{"file_path": here("*"), "content": "x"}, "*",
			[]string{"It is a new file."}, ""},
		"a name with a NUL": {"Write", map[string]any{"file_path": "a\x00b", "content": "x"}, `a\x00b`, []string{"content: x"}, ""},
		"no path": {"Write", map[string]any{"file_path": []int{1}, "content": "x"}, "[1]",
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
			"pr: 7", []string{"tool merge of the MCP server github", "pr: 7"}, "mcp__github__merge"},
		"a skill": {"Skill", map[string]any{"skill": "review"}, "review", []string{"skill: review"},
			"Skill(review)"},
		"a search of the web": {"WebSearch", map[string]any{"query": "go"}, "go", []string{"query: go"}, "WebSearch"},
		"a search elsewhere":  {"Grep", map[string]any{"path": "/etc", "pattern": "x"}, "x: /etc", []string{"path: /etc"}, ""},
		"a monitor": {"Monitor", map[string]any{"command": "touch PWN", "description": "watch the build", "timeout_ms": 5},
			"touch PWN", []string{"command: touch PWN", "it says: watch the build", "folder: " + dir}, ""},
		"one of a socket": {"Monitor", map[string]any{"ws": map[string]string{"url": "ws://x"}, "description": "d"},
			`{"url":"ws://x"}`, []string{`ws: {"url":"ws://x"}`}, ""},
		"a workflow": {"Workflow", map[string]any{"script": "await agent('x')", "description": "D", "title": "T"},
			"await agent('x')", []string{"script: await agent('x')", "it says: D", "it says: T"}, ""},
		"a workflow of a file": {"Workflow", map[string]any{"scriptPath": "w.js", "name": "tidy", "script": "go()"},
			"w.js: go(): tidy", []string{"scriptPath: w.js", "script: go()"}, ""},
		"a subagent": {"Agent", map[string]any{"description": "D", "prompt": "P", "subagent_type": "Explore"},
			"Explore: P", []string{"it says: D", "prompt: P"}, "Agent(Explore)"},
		"one of an older release": {"Task", map[string]any{"prompt": "P"}, "P", []string{"prompt: P"}, ""},
		"a message": {"SendMessage", map[string]any{"to": "b", "message": "M", "summary": "S"}, "b: M",
			[]string{"it says: S"}, ""},
		"a schedule": {"CronCreate", map[string]any{"cron": "* * * * *", "prompt": "P", "durable": true},
			"* * * * *: P", []string{"durable: true", "also in later sessions"}, ""},
		"the end of plan mode": {"ExitPlanMode", map[string]any{"allowedPrompts": []any{}}, "",
			[]string{"It ends plan mode", "allowedPrompts: []"}, ""},
		"no input": {"CronList", map[string]any{}, "", []string{"input: {}"}, "CronList"},
		"a tool that nobody knows": {"PowerShell", map[string]any{"command": "rm", "description": "tidy up"},
			"command: rm, description: tidy up", []string{"command: rm", "does not know this tool"}, ""},
		"a command with what nobody knows": {"Bash", map[string]any{"command": "ls", "_edits": "x"}, "ls",
			[]string{"_edits: x", "does not know what _edits does here"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := LookAt(c.tool, raw(c.input), site(dir))
			for _, want := range c.shows {
				if !strings.Contains(l.Preview+"\n", want) {
					t.Errorf("%q is not shown:\n%s", want, l.Preview)
				}
			}
			if rule := l.Rule.String(); l.Headline.String() != c.what || rule != c.rule {
				t.Errorf("its headline is %q, its rule %q; want %q and %q", l.Headline, rule, c.what, c.rule)
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
		l := LookAt(tool, json.RawMessage(input), site("/nowhere"))
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
		if l := LookAt("Edit", input, site(filepath.Dir(path))); !strings.Contains(l.Preview, "+no end") {
			b.Fatal(l.Preview)
		}
	}
}

func raw(v any) json.RawMessage { return text.JSON(v) }

// site is where a call is made in the agent's own folder.
func site(folder string) ask.CallSite { return ask.CallSite{Folder: folder, Cwd: folder} }

func TestACommandIsShownWhereItRuns(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, cwd, where, shows, rule string
	}{
		{dir, dir, "", "run's folder: " + dir, "Bash(./x)"},
		{link, dir, "", "run's folder: " + link, "Bash(./x)"},
		{dir, dir + "/sub", "sub", "folder: " + dir + "/sub\nIt does not run in the run's folder, " + dir, "Bash(./x)"},
		{dir, "/", "/", "folder: /\nIt does not run in the run's folder, " + dir, "Bash(./x)"},
		{dir, "", "an unknown folder", "It is not known in which folder it runs. The run's folder: " + dir, ""},
	} {
		for _, tool := range []string{"Bash", "Monitor"} {
			l := LookAt(tool, raw(map[string]string{"command": "./x"}), ask.CallSite{Folder: c.folder, Cwd: c.cwd})
			if !strings.Contains(l.Preview, c.shows) || l.Where != c.where || (l.Cwd == "") != (c.where == "") {
				t.Errorf("%s in %q is shown in %q (%q):\n%s", tool, c.cwd, l.Where, l.Cwd, l.Preview)
			}
			if tool == "Bash" && l.Rule.String() != c.rule {
				t.Errorf("the rule in %q is %s", c.cwd, l.Rule)
			}
		}
	}
	l := LookAt("Write", raw(map[string]string{"file_path": "x", "content": ""}),
		ask.CallSite{Folder: dir, Cwd: dir + "/sub"})
	if l.Headline.String() != "sub/x" || l.Rule.String() != "Edit(/sub/x)" || l.Cwd == "" {
		t.Errorf("a relative path is shown as %q, with the rule %s, made in %q", l.Headline.String(), l.Rule, l.Cwd)
	}
}

// A command with any white space that is none to a shell is another command: no rule about the one covers the other.
func TestARuleCoversNoCommandThatDiffersInWhiteSpace(t *testing.T) {
	plain := LookAt("Bash", raw(map[string]string{"command": "./x"}), site("/work")).Rule
	for _, r := range append(oddSpaces(), '\ufeff') {
		for _, command := range []string{"./x" + string(r), string(r) + "./x", "./x" + string(r) + " ", "true && ./x" + string(r)} {
			l := LookAt("Bash", raw(map[string]string{"command": command}), site("/work"))
			if l.Rule == plain || l.Rule != (rules.Rule{}) && rules.Covered([]rules.Rule{plain, {Tool: "Bash", Spec: "true"},
				{Tool: "Bash", Spec: "./x *"}}, l.Rule, "/work") {
				t.Errorf("%q is covered by %s", command, plain)
			}
			if shown := l.Headline.String(); shown == "./x" || shown == "true && ./x" {
				t.Errorf("%q is shown as %q", command, shown)
			}
		}
	}
	allow := conf.Config{Allow: []string{"Bash(./x)"}}
	for _, r := range append(oddSpaces(), '\ufeff') {
		input := raw(map[string]string{"command": "./x" + string(r)})
		if asked := OddSpace(allow, "Bash", input) != ""; asked != (unicode.IsSpace(r) || r == '\ufeff') {
			t.Errorf("%U: it is asked about for --allow: %v", r, asked)
		}
		for _, any := range []conf.Config{{Allow: []string{"Bash"}}, {Flags: []string{"--allowedTools=Edit,Bash"}},
			{Flags: []string{"--permission-mode", "bypassPermissions"}}} {
			if OddSpace(any, "Bash", input) != "" {
				t.Errorf("%U: it is asked about where any command may run", r)
			}
		}
	}
	for _, command := range []string{" ./x", "./x\n", "\t./x \n"} {
		if OddSpace(allow, "Bash", raw(map[string]string{"command": command})) != "" {
			t.Errorf("%q is asked about for --allow", command)
		}
		if l := LookAt("Bash", raw(map[string]string{"command": command}), site("/work")); l.Rule != plain {
			t.Errorf("%q has the rule %s", command, l.Rule)
		}
	}
}

// oddSpaces is all white space but what a shell takes for it, and all that cannot be seen.
func oddSpaces() (all []rune) {
	for _, table := range []*unicode.RangeTable{unicode.White_Space, unicode.Cf} {
		for _, r16 := range table.R16 {
			for r := rune(r16.Lo); r <= rune(r16.Hi); r += rune(r16.Stride) {
				if !strings.ContainsRune(" \t\n", r) {
					all = append(all, r)
				}
			}
		}
		for _, r32 := range table.R32 {
			all = append(all, rune(r32.Lo), rune(r32.Hi))
		}
	}
	return all
}

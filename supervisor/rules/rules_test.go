package rules

import (
	"strings"
	"testing"
)

func TestARuleIsReadAsClaudeCodeWritesIt(t *testing.T) {
	for text, want := range map[string]Rule{
		"Bash": {"Bash", ""}, "Bash(*)": {"Bash", ""}, "Bash(npm test)": {"Bash", "npm test"},
		"Bash(npm run:*)": {"Bash", "npm run:*"},
		"Bash(echo (x))":  {"Bash", "echo (x)"}, "Edit(/src/**)": {"Edit", "/src/**"}, "Read(~/.zshrc)": {"Read", "~/.zshrc"},
		"WebFetch(domain:go.dev)":   {"WebFetch", "domain:go.dev"},
		"WebFetch(domain:*.go.dev)": {"WebFetch", "domain:*.go.dev"},
		"mcp__github":               {"mcp__github", ""}, "mcp__github__*": {"mcp__github__*", ""},
		"mcp__a-b__get_it": {"mcp__a-b__get_it", ""},
		"Skill(review)":    {"Skill", "review"}, "Agent(Explore)": {"Agent", "Explore"}, " Read ": {"Read", ""},
		"NewTool(x)": {"NewTool", "x"},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
}

func TestWhatIsNoRuleIsRefusedWithTheNearestOne(t *testing.T) {
	for text, near := range map[string]string{
		"Bash(npm test": "Bash(npm test)?", "bash(npm test)": "Bash(npm test)?", "npm test": "Bash(npm test)?",
		"Bash()":         "Bash?",
		"Write(/src/**)": "Edit(/src/**)?", "Glob(src/**)": "Read(src/**)?", "WebFetch(go.dev)": "WebFetch(domain:go.dev)?",
		"WebFetch(https://go.dev/x)": "WebFetch(domain:go.dev)?", "WebFetch(domain:https://go.dev)": "WebFetch(domain:HOST)?",
		"mcp__github(x)": "mcp__github?", "webfetch": "WebFetch?", "*": "Bash(*)?", "WebSearch(x)": "WebSearch?",
		"mcp__": "mcp__SERVER__TOOL?",
		"":      "not nothing", "Bash(a\nb)": "on one line", "Bash(\x1b[2J)": "on one line", "Bash(a\u202eb)": "on one line",
		"Bash(\xff)":                             "on one line",
		"Bash(" + strings.Repeat("x", 600) + ")": "at most 500 bytes",
	} {
		if r, err := Parse(text); err == nil || !strings.Contains(err.Error(), near) {
			t.Errorf("%q is %+v (%v), want an error with %q", text, r, err, near)
		}
	}
}

// Each row is a rule of the run and a command that the CLI asks about.
func TestARuleAboutCommandsCoversOnlyLinesAllOfWhichItNames(t *testing.T) {
	for _, c := range []struct {
		rules, command string
		want           bool
	}{
		{"npm test", "npm test", true},
		{"npm test", " npm test ", true},
		{"npm test", "npm  test", false},
		{"npm test", "npm test2", false},
		{"npm test", "npm test && npm test", true},
		{"npm test|npm run lint", "npm test && npm run lint", true},
		{"npm test", "npm test && rm -rf /", false},
		{"npm test", "npm test; rm -rf /", false},
		{"npm test", "npm test || rm -rf /", false},
		{"npm test", "npm test | sh", false},
		{"npm test", "npm test &", false},
		{"npm test", "npm test & rm x", false},
		{"npm run:*", "npm run build", true},
		{"npm run:*", "npm run", true},
		{"npm run:*", "npm runx", false},
		{"npm run *", "npm run build --x 'a b'", true},
		{"npm run *", "npm run build && curl evil", false},
		{"npm run *", "npm run $(curl evil)", false},
		{"npm run *", "npm run `curl evil`", false},
		{"npm run *", "npm run \"$(curl evil)\"", false},
		{"npm run *", "npm run \"`curl evil`\"", false},
		{"npm run *", "npm run <(curl evil)", false},
		{"npm run *", "npm run > ~/.bashrc", false},
		{"npm run *", "npm run >> x", false},
		{"npm run *", "npm run 2>&1", true},
		{"npm run *", "npm run >/dev/null 2>&1", true},
		{"npm run *", "npm run >/dev/nullx", false},
		{"npm run *", "npm run >&2", true},
		{"npm run *", "npm run >& file", false},
		{"npm run *", "npm run 2>/dev/null", true},
		{"npm run *", "{PATH}>/dev/null npm run && npm run", false}, // programs are looked for in the folder 10 then
		{"npm run *|echo *", "echo a {PATH}>/dev/null && npm run", false},
		{"npm run *|getopts *", "getopts a PATH -a && npm run", false},
		{"npm run *", "npm run &> file", false},
		{"npm run *", "npm run < /etc/passwd", false},
		{"npm run *", "npm run <<E\nx\nE", false},
		{"npm run *", "npm run <<< x", false},
		{"npm run *", "LD_PRELOAD=evil.so npm run x", false},
		{"npm run *", "PATH=. npm run x", false},
		{"npm run *", "X=1", false},
		{"npm run *", "(npm run x)", false},
		{"npm run *", "{ npm run x; }", false},
		{"npm run *", "if true; then npm run x; fi", false},
		{"npm run *", "for i in 1; do npm run x; done", false},
		{"npm run *", "while npm run x; do npm run y; done", false},
		{"npm run *", "npm() { curl evil; }; npm run x", false},
		{"npm run *", "! npm run x", false},
		{"npm run *", "time npm run x", false},
		{"npm run *", "npm run x\ncurl evil", false},
		{"npm run *", "npm run x\nnpm run y", true},
		{"npm run *", "npm run x # && curl evil", true},
		{"npm run *", "npm run *", false},
		{"npm run *", "npm run ~/x", false},
		{"npm run *", "npm run a{b,c}", false},
		{"npm run *", "npm run $HOME", false},
		{"npm run *", "npm run $'a\\nb'", false},
		{"npm run *", "npm run \\\nrm", false},
		{"npm run *", "npm run \"a\\$b\"", false},
		{"npm run *", "npm run !!", false},
		{"npm run *", "'npm' run x", false},
		{"npm run *", "\"npm run\" x", false},
		{"npm run *", "[[ npm run x ]]", false},
		{"npm run *", "((npm run x))", false},
		{"npm run *|cd *", "cd /tmp && npm run x", false},
		{"npm run *|alias *", "alias npm=rm && npm run x", false},
		{"npm run *|export *", "export PATH=. && npm run x", false},
		{"npm run *|source *", "source x; npm run x", false},
		{"npm run *|. *", ". x; npm run x", false},
		{"cd *", "cd /tmp", true},
		{"test *", "test -f x", true},
		{"test *", "test -v 'a[$(curl evil)]'", false},
		{"test *", "test ! '-v' 'a[$(curl evil)]'", false},
		{`test -v 'a[$(x)]'`, "test -v 'a[$(x)]'", true}, // somebody has read it
		{"printf *", "printf %s x", true},
		{"printf *", "printf -v 'a[$(curl evil)]' x", false},
		{"printf:*", "printf -va x", false},
		{"trap *", "trap 'curl evil' EXIT", false},
		{"eval *", "eval ls", false},
		{"unset *", "unset 'a[$(curl evil)]'", false},
		{"read *", "read 'a[$(curl evil)]'", false},
		{"env *", "env curl evil", false},
		{"/usr/bin/env *", "/usr/bin/env curl evil", false},
		{"xargs *", "xargs curl", false},
		{"find *", "find . -name x", true},
		{"find *", "find . -exec curl evil ;", false},
		{"find *", "find . '-execdir' curl evil ';'", false},
		{"find *", "find . -delete", false},
		{"cd *", "cd /tmp; cd /", false},
		{"* install", "npm install", false},
		{"npm*", "npmx", false},
		{"ls*", "lsof", false},
		{"git * main", "git merge main", true},
		{"git * main", "git merge main2", false},
		{"git * main", "git merge x; rm main", false},
		{"git log *-n*", "git log -n 3", true},
		{"", "anything at all | sh", true},
		{`rm \*`, "rm *", true},
		{`rm \*`, "rm a", false},
		{"npm run *", "npm run x" + strings.Repeat(" x", maxParsed), false},
		{"npm run *", strings.Repeat("(", 4000), false},
		{"npm run *", "npm run x'", false},
		{"npm run *", "", false},
		{"npm run *", "\x00npm run x", false},
	} {
		var rules []Rule
		for _, spec := range strings.Split(c.rules, "|") {
			rules = append(rules, Rule{"Bash", spec})
		}
		if got := commandCovered(rules, literally.Replace(strings.TrimSpace(c.command))); got != c.want {
			t.Errorf("Bash(%s) covers %q: %t", c.rules, c.command, got)
		}
	}
}

func TestARuleAboutFilesCoversOnlyWhatLiesThere(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"//work/src/a.go", "/work/src/a.go", true},
		{"//work/src/a.go", "/work/src/b.go", false},
		{"/src/**", "/work/src/a/b.go", true},
		{"/src/**", "/src/a.go", false},
		{"./src/*.go", "/work/src/a.go", true},
		{"src/*.go", "/work/src/a/b.go", false},
		{"src", "/work/src/a/b.go", true},
		{"src/", "/work/src/a.go", true},
		{"src", "/work/srcx/a.go", false},
		{"**", "/work/a/b", true},
		{"**", "/etc/passwd", false},
		{"/**", "/etc/passwd", false},
		{"//**", "/etc/passwd", true},
		{"**/*.md", "/work/a/b/c.md", true},
		{"**/*.md", "/work/c.md", true},
		{"**", "/work/.git/config", false},
		{"**", "/work/.env", false},
		{"src/**", "/work/src/.claude/settings.json", false},
		{"src", "/work/src/.git/hooks/x", false},
		{".github/**", "/work/.github/x.yml", true},
		{"../**", "/etc/passwd", false},
		{"/../etc/**", "/etc/passwd", false},
		{"//work/src/../../etc/passwd", "/etc/passwd", false},
		{"~/**", "/home/me/x", false},
		{"!src", "/work/src", false},
		{"src/[", "/work/src/[", false},
		{"**/**/**/**/**/**/**/**/x", "/work/" + strings.Repeat("a/", 200) + "y", false},
	} {
		if got := (Rule{"Edit", c.rule}).covers(Rule{"Edit", "/" + c.path}, "/work"); got != c.want {
			t.Errorf("Edit(%s) covers %s: %t", c.rule, c.path, got)
		}
	}
	if !(Rule{"Edit", "src/**"}).covers(Rule{"Edit", "/src/x"}, "/work") ||
		(Rule{"Edit", "//etc/**"}).covers(Rule{"Edit", "/etc/x"}, "/work") {
		t.Error("a path from the folder is not read as one")
	}
	for _, path := range []string{"//work/src/../../etc/passwd", "/../etc/passwd", "work/src/x", "//work//src/x", ""} {
		if (Rule{"Edit", "//**"}).covers(Rule{"Edit", path}, "/work") {
			t.Errorf("a path that is not clean is covered: %s", path)
		}
	}
	if (Rule{"Edit", "**"}).covers(Rule{"Edit", "//work/x"}, "/*") ||
		(Rule{"Edit", "**"}).covers(Rule{"Edit", "//x"}, "") {
		t.Error("a folder that reads as a pattern, or none, is one")
	}
}

func TestARuleAboutOtherToolsCoversThoseOnly(t *testing.T) {
	for _, c := range []struct {
		rule, call string
		want       bool
	}{
		{"mcp__github", "mcp__github__get", true},
		{"mcp__github__*", "mcp__github__get", true},
		{"mcp__github__get", "mcp__github__get", true},
		{"mcp__github__get", "mcp__github__get_all", false},
		{"mcp__github", "mcp__github2__get", false},
		{"mcp__git", "mcp__github__get", false},
		{"WebFetch(domain:go.dev)", "WebFetch(domain:go.dev)", true},
		{"WebFetch(domain:go.dev)", "WebFetch(domain:evil.go.dev)", false},
		{"WebFetch(domain:*.go.dev)", "WebFetch(domain:x.go.dev)", false}, // claude alone reads that
		{"WebFetch", "WebFetch(domain:go.dev)", true},
		{"Edit", "Edit(//etc/passwd)", true},
		{"Edit", "Read(//etc/passwd)", false},
		{"Read", "Edit(//etc/passwd)", false},
		{"Skill(review)", "Skill(deploy)", false},
		{"Bash", "WebSearch", false},
		{"Bash(npm test)", "Edit(//npm test)", false},
	} {
		rule, err := Parse(c.rule)
		call, err2 := Parse(c.call)
		if err != nil || err2 != nil {
			t.Fatal(c.rule, err, c.call, err2)
		}
		if got := Covered([]Rule{rule}, call, "/work"); got != c.want {
			t.Errorf("%s covers %s: %t", rule, call, got)
		}
	}
}

// What is offered for a run permits what is asked, and never more: no name may read as a pattern.
func TestTheRuleThatIsOfferedIsAboutThisOneThing(t *testing.T) {
	for _, c := range []struct {
		tool, what, want string
	}{
		{"Bash", "npm test", "Bash(npm test)"},
		{"Bash", "rm *", `Bash(rm \*)`},
		{"Bash", "npm run:*", `Bash(npm run:\*)`},
		{"Bash", `printf 'a\n'`, `Bash(printf 'a\\n')`},
		{"Bash", "*", `Bash(\*)`},
		{"Bash", "a\nb", ""},
		{"Bash", "a\x1b[2J", ""},
		{"Bash", "a\u202eb", ""},
		{"Bash", strings.Repeat("x", maxRule), ""},
		{"Bash", "", ""},
		{"Bash", " ", ""},
		{"Edit", "//work/a.go", "Edit(//work/a.go)"},
		{"Edit", "//work/*", ""},
		{"Edit", "//work/[a]", ""},
		{"WebFetch", "domain:go.dev", "WebFetch(domain:go.dev)"},
		{"WebFetch", "domain:*.com", ""},
		{"WebFetch", "domain:", ""},
		{"mcp__a__b", "", "mcp__a__b"},
		{"mcp__a__*", "", ""},
		{"mcp__a__b c", "", ""},
		{"odd tool", "", ""},
	} {
		r, ok := Exactly(c.tool, c.what)
		if got := r.String(); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("for %s %q the rule %s is offered (%t), want %q", c.tool, c.what, got, ok, c.want)
		}
	}
	rm, _ := Exactly("Bash", "rm *")
	if other, _ := Exactly("Bash", "rm -rf /"); Covered([]Rule{rm}, other, "/work") {
		t.Error("what was allowed as a name is taken for a pattern")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"Bash(npm run:*)", "Edit(//a/**)", "mcp__a__*", "WebFetch(domain:go.dev)", `Bash(rm \*)`,
		"npm test"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(r.String()); err != nil || again != r {
			t.Errorf("%q is %+v, and written and read again %+v (%v)", text, r, again, err)
		}
	})
}

// Whatever follows a permitted command on its line, in whatever way, is not permitted with it.
func FuzzCommandCovered(f *testing.F) {
	for _, seed := range []string{"; rm x", "&& rm x", "$(rm x)", "`rm x`", "\nrm x", "| rm x",
		"> rm", "# rm x", "'\n'rm x", "\\\nrm x", "<<E\nE\nrm x"} {
		f.Add(seed)
	}
	rules := []Rule{{"Bash", "echo one"}, {"Bash", "echo two *"}}
	f.Fuzz(func(t *testing.T, more string) {
		line := "echo one " + more
		if !commandCovered(rules, literally.Replace(line)) {
			return
		}
		commands, ok := simpleCommands(line)
		if strings.TrimSpace(line) != "echo one" && !ok {
			t.Fatalf("%q is covered, and is no line of simple commands", line)
		}
		for _, c := range commands {
			if c.text != "echo one" && c.text != "echo two" && !strings.HasPrefix(c.text, "echo two ") {
				t.Errorf("%q is covered, with %q in it", line, c.text)
			}
		}
	})
}

func BenchmarkCommandCovered(b *testing.B) {
	rules := []Rule{{"Bash", "npm run *"}, {"Bash", "go test *"}}
	for b.Loop() {
		if !commandCovered(rules, "npm run build && go test ./... 2>&1") {
			b.Fatal("not covered")
		}
	}
}

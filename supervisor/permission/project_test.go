package permission

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

// openIn starts in a folder, and returns what is added to the flags that are always there.
func openIn(t *testing.T, cwd string, cfg conf.Config) (added []string, lost string) {
	t.Helper()
	start, err := StartInProject(ProjectFolder{Cwd: cwd, Claude: filepath.Join(t.TempDir(), ".claude"),
		Memory: filepath.Join(t.TempDir(), "memory")}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	always := []string{"--setting-sources", "user"}
	if len(start.Flags) < len(always) || !slices.Equal(start.Flags[:len(always)], always) ||
		!slices.Contains(start.Env, keepMemory) {
		t.Fatalf("claude is started with %q and %q", start.Flags, start.Env)
	}
	flags := start.Flags[len(always):]
	if len(start.Settings) > 0 {
		flags = append([]string{"--settings", string(text.JSON(start.Settings))}, flags...)
	}
	return flags, start.Lost
}

func TestNothingOfAFolderIsInForceButWhatNarrowsOrShapes(t *testing.T) {
	const settings, local, servers, agent = ".claude/settings.json", ".claude/settings.local.json",
		".mcp.json", ".claude/agents/a.md"
	asks := func(rules ...string) []string {
		doc, err := json.Marshal(map[string]any{"permissions": map[string]any{"ask": rules}})
		if err != nil {
			t.Fatal(err)
		}
		return []string{"--settings", string(doc)}
	}
	agents := func(doc string) []string { return []string{"--agents", doc} }
	for name, c := range map[string]struct {
		files map[string]string
		cfg   conf.Config
		want  []string
		lost  string
	}{
		"nothing there":     {nil, conf.Config{}, nil, ""},
		"what only narrows": {map[string]string{settings: `{"permissions":{"deny":["Bash(rm:*)"],"ask":["Edit"],"defaultMode":"plan"},"model":"opus"}`}, conf.Config{}, []string{"--settings", `{"model":"opus","permissions":{"ask":["Edit"],"deny":["Bash(rm:*)"]}}`}, ""},
		"a rule": {map[string]string{settings: `{"permissions":{"allow":["Bash(make)"]}}`},
			conf.Config{}, nil, "1 allowed rule"},
		"rules of one's own": {map[string]string{local: `{"permissions":{"allow":["Bash(make)","Read"]}}`},
			conf.Config{}, nil, "2 allowed rules"},
		"the person's own rule": {map[string]string{local: `{"permissions":{"allow":["Bash(make)"]}}`},
			conf.Config{Allow: []string{"Bash(make)"}}, nil, ""},
		"paths from the folder":               {map[string]string{local: `{"permissions":{"ask":["Edit(/x)"],"deny":["Read(/.env)","Read(//etc/**)","Read(docs/**)"]}}`}, conf.Config{}, []string{"--settings", `{"permissions":{"ask":["Edit(/CWD/x)"],"deny":["Read(/CWD/.env)","Read(//etc/**)","Read(docs/**)"]}}`}, ""},
		"paths from a folder (1)":             {map[string]string{local: `{"permissions":{"deny":["Read(/.env)","Read(docs/**)"]}}`}, conf.Config{}, []string{"--settings", `{"permissions":{"ask":["Read"],"deny":["Read(docs/**)"]}}`}, ""},
		"ours":                                {map[string]string{local: `{"permissions":{"allow":["mcp__supervise__ask_user"]}}`}, conf.Config{}, nil, ""},
		"a narrowing that claude cannot take": {map[string]string{settings: `{"permissions":{"deny":["Write(/x/**)","((("]}}`}, conf.Config{}, asks("Write"), ""},
		"beside narrowing":                    {map[string]string{settings: `{"permissions":{"allow":["Read"],"ask":["Edit"],"deny":["Bash(rm:*)"]}}`}, conf.Config{}, []string{"--settings", `{"permissions":{"ask":["Edit"],"deny":["Bash(rm:*)"]}}`}, "1 allowed rule"},
		"a mode": {map[string]string{settings: `{"permissions":{"defaultMode":"acceptEdits"}}`},
			conf.Config{}, nil, "a permission mode"},
		"a mode nobody knows": {map[string]string{settings: `{"permissions":{"defaultMode":"yolo"}}`},
			conf.Config{}, nil, "a permission mode"},
		"servers": {map[string]string{servers: `{"mcpServers":{"b":{"command":"x"},"a":{}}}`,
			settings: `{"enableAllProjectMcpServers":true}`}, conf.Config{}, nil, "2 MCP servers"},
		"servers of another form": {map[string]string{servers: `{"mcpServers":[1]}`}, conf.Config{},
			nil, "MCP servers that cannot be read"},
		"no servers": {map[string]string{servers: `{"mcpServers":{}}`}, conf.Config{},
			nil, ""},
		"servers above the folder": {map[string]string{"../" + servers: `{"mcpServers":{"a":{}}}`},
			conf.Config{}, nil, "1 MCP server"},
		"shaping of another type": {map[string]string{settings: `{"model":5,"effortLevel":"most","includeCoAuthoredBy":"no","respectGitignore":false}`}, conf.Config{}, []string{"--settings", `{"respectGitignore":false}`}, "effortLevel, includeCoAuthoredBy, model"},
		"hooks": {map[string]string{settings: `{"hooks":{"PreToolUse":[]}}`},
			conf.Config{}, nil, "hooks"},
		"a program for the key": {map[string]string{local: `{"apiKeyHelper":"x"}`}, conf.Config{},
			nil, "apiKeyHelper"},
		"other folders": {map[string]string{local: `{"permissions":{"additionalDirectories":["/etc"]}}`},
			conf.Config{}, nil, "additionalDirectories"},
		"what is new": {map[string]string{settings: `{"nobodyKnows":1}`}, conf.Config{},
			nil, "nobodyKnows"},
		"skills, commands, styles": {map[string]string{".claude/skills/a/SKILL.md": "",
			".claude/commands/a.md": "", ".claude/output-styles/a.md": ""}, conf.Config{}, nil,
			"1 skill, 1 command, 1 output style"},
		"no JSON": {map[string]string{settings: `{`}, conf.Config{}, nil,
			"a settings.json that cannot be read"},
		"permissions of another form": {map[string]string{settings: `{"permissions":{"allow":"Bash"}}`},
			conf.Config{}, nil, "permissions that cannot be read"},
		"too large": {map[string]string{settings: strings.Repeat(" ", maxSettings+1)},
			conf.Config{}, nil, "a settings.json that cannot be read"},
		"escape sequences": {map[string]string{settings: `{"\u001b[2J":1}`}, conf.Config{}, nil,
			"?[2J"},
		"many kinds": {map[string]string{settings: `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`},
			conf.Config{}, nil, "a, b, c, d, e, and 2 more"},

		"an agent": {map[string]string{agent: "---\nname: a\ndescription: >\n  hooks: of all " +
			"kinds\ntools: Bash, Read\nmodel: opus\nmaxTurns: 3\nbackground: true\n---\nhooks: none\n---\n"},
			conf.Config{},
			agents(
				`{"a":{"background":true,"description":"hooks: of all kinds\n","maxTurns":3,"model":"opus","prompt":"hooks: ` +
					`none\n---","tools":["Bash","Read"]}}`), ""},
		"an agent as people write them": {map[string]string{agent: "---\nname: a\ndescription: Use it when: x. Example: " +
			"\"y: z\"\n  more: of it\n# hooks: none\nmodel: opus\n---\nYou are a.\n"}, conf.Config{},
			agents(`{"a":{"description":"Use it when: x. Example: \"y: z\"","model":"opus","prompt":"You are a."}}`), ""},
		"agents that define nothing": {map[string]string{agent: "Hooks.\n",
			".claude/agents/b.md": "---\n---\n", ".claude/agents/c.txt": "---\nhooks: 1\n---\n"}, conf.Config{},
			nil, ""},
		"an agent's hooks": {map[string]string{agent: "---\nname: a\ndescription: d\nhooks:\n  Stop: " +
			"[]\n---\nA.\n"}, conf.Config{}, agents(`{"a":{"description":"d","prompt":"A."}}`), "hooks of the agent a"},
		"hooks as JSON": {map[string]string{agent: "\ufeff\n---\r\n{\"name\":\"a\",\"description\":\"d\",\"ho\\u006fks\":{}}\r\n---\r\nA.\r\n"}, conf.Config{}, agents(`{"a":{"description":"d","prompt":"A."}}`), "hooks of the agent a"},
		"hooks behind a value without quotes": {map[string]string{agent: "---\nname: a\ndescription: a: b\nhooks:\n  Stop: " +
			"[]\n---\nA.\n"}, conf.Config{}, agents(`{"a":{"description":"a: b","prompt":"A."}}`), "hooks of the agent a"},
		"an agent's servers, deep": {map[string]string{".claude/agents/x/y/B.MD": "---\nname: b\ndescription: " +
			"d\nmcpServers: []\n---\nB.\n"}, conf.Config{}, agents(`{"b":{"description":"d","prompt":"B."}}`),
			"mcpServers of the agent b"},
		"an agent's mode": {map[string]string{agent: "---\nname: a\ndescription: d\npermissionMode: " +
			"bypassPermissions\n---\nA.\n"}, conf.Config{}, agents(`{"a":{"description":"d","prompt":"A."}}`),
			"permissionMode of the agent a"},
		"values that claude would end at": {map[string]string{agent: "---\nname: a\ndescription: d\nmodel: 5\neffort: " +
			"most\nisolation: all\ntools: [1]\n---\nA.\n"}, conf.Config{},
			agents(`{"a":{"description":"d","prompt":"A."}}`), "effort of the agent a"},
		"a name that claude would end at": {map[string]string{agent: "---\nname: \"a b/../c\"\ndescription: " +
			"d\n---\nA.\n"}, conf.Config{}, nil, "an agent without a name"},
		"an agent without a text": {map[string]string{agent: "---\nname: a\ndescription: d\n---\n"},
			conf.Config{}, nil, "the agent a without a description or text"},
		"an agent that may end early": {map[string]string{agent: "---\nname: \"a ---\nhooks: {}\n--- b\"\n---\n"},
			conf.Config{}, nil, "an agent that cannot be read"},
		"an agent that is no map": {map[string]string{agent: "---\n- hooks\n---\n"}, conf.Config{}, nil,
			"an agent that cannot be read"},
		"an agent too large": {map[string]string{agent: strings.Repeat(" ", maxDefinition+1)},
			conf.Config{}, nil, "an agent that cannot be read"},
		"the person's own agents": {map[string]string{agent: "---\nname: a\ndescription: d\n---\nA.\n"},
			conf.Config{Flags: []string{"--agents", "{}"}}, nil, "1 agent (your --agents holds)"},
	} {
		t.Run(name, func(t *testing.T) {
			cwd := filepath.Join(t.TempDir(), "project")
			if strings.Contains(name, "(") {
				cwd += " (1)"
			}
			if err := os.MkdirAll(cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			lay(t, cwd, c.files)
			got, lost := openIn(t, cwd, c.cfg)
			for i, flag := range got {
				got[i] = strings.ReplaceAll(flag, cwd, "/CWD"[:4])
				got[i] = strings.ReplaceAll(got[i], "/"+"/CWD", "/CWD")
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("claude gets\n%q, want\n%q", got, c.want)
			}
			if !strings.Contains(lost, c.lost) || (lost == "") != (c.lost == "") {
				t.Errorf("the person is told %q, want %q", lost, c.lost)
			}
		})
	}
}

// lay puts files into a folder.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderIsLeftAsItIsWhereThePersonHasSaidSo(t *testing.T) {
	cwd := t.TempDir()
	lay(t, cwd, map[string]string{".claude/settings.json": `{"hooks":{}}`, ".mcp.json": `{"mcpServers":{"a":{}}}`})
	for name, cfg := range map[string]conf.Config{
		"--allow project": {AllowProject: true},
		"their sources":   {Flags: []string{"--setting-sources", "user,project"}},
		"their sources =": {Flags: []string{"--setting-sources=user,project"}},
	} {
		start, err := StartInProject(ProjectFolder{Cwd: cwd}, cfg)
		if err != nil || start.Flags != nil || start.Env != nil || start.Lost != "" {
			t.Errorf("%s: %+v, %v", name, start, err)
		}
	}
}

// The local settings of the main checkout narrow in its worktrees, too, wherever a .git file leads.
func TestWhatAWorktreeTakesFromItsMainCheckoutNarrowsOnly(t *testing.T) {
	root := t.TempDir()
	lay(t, root, map[string]string{
		"main/.claude/settings.local.json": `{"permissions":{"allow":["Bash(*)"],"deny":["Read(/.env)"]},"hooks":{}}`,
		"main/.claude/agents/a.md":         "---\nname: a\ndescription: d\nhooks: {}\n---\nA.\n",
		"main/.git/worktrees/wt/commondir": "../..\n",
		"wt/.git":                          "gitdir: ../main/.git/worktrees/wt\n",
		"wt/sub/f":                         "",
	})
	got, lost := openIn(t, filepath.Join(root, "wt", "sub"), conf.Config{})
	want := []string{"--settings", `{"permissions":{"deny":["Read(/` + root + `/main/.env)","Read(/` +
		root + `/wt/sub/.env)"]}}`,
		"--agents", `{"a":{"description":"d","prompt":"A."}}`}
	if !slices.Equal(got, want) {
		t.Errorf("claude gets\n%q, want\n%q", got, want)
	}
	if want := "1 allowed rule, hooks, hooks of the agent a"; !strings.Contains(lost, want) {
		t.Errorf("the person is told %q", lost)
	}
}

func TestAGitFileThatLeadsNowhereIsNoWorktree(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "to itself": "gitdir: .git\n", "out": "gitdir: /etc/passwd\n", "to nothing": "gitdir: ../gone\n",
		"no git file": "hello\n", "long": "gitdir: " + strings.Repeat("x/", maxGitFile) + "\n",
	} {
		dir := t.TempDir()
		lay(t, dir, map[string]string{".git": text})
		if got := checkoutOf(dir); got != (checkout{dir, dir}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(".git", filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if got := checkoutOf(dir); got.root == dir {
		t.Errorf("a link to itself: %+v", got)
	}
}

// What claude does not read by --add-dir is left for it; a link out of the folder, or another's file, is not read.
func TestTheMemoryOfFoldersAboveIsHandedOver(t *testing.T) {
	root := t.TempDir()
	lay(t, root, map[string]string{
		"secret": "SECRET", "above/CLAUDE.md": "ABOVE", "above/.claude/CLAUDE.md": "DOT", "above/.claude/rules/r.md": "RULE",
		"above/AGENTS.md": "LINKED", "above/cwd/CLAUDE.local.md": "LOCAL",
		"above/cwd/CLAUDE.md": "OWN, see @docs/in.md. And @out.md @../../secret @~/secret @" + root + "/secret @nobody " +
			"`@coded.md`\n```\n@coded.md\n```\n",
		"above/cwd/docs/in.md": "IMPORTED @../deep.md#part @in.md", "above/cwd/deep.md": "DEEP", "above/cwd/coded.md": "CODED",
	})
	above := filepath.Join(root, "above")
	for link, to := range map[string]string{"CLAUDE.local.md": "AGENTS.md", ".claude/rules/s.md": "../../../secret",
		"cwd/out.md": "../../secret"} {
		if err := os.Symlink(to, filepath.Join(above, link)); err != nil {
			t.Fatal(err)
		}
	}
	f := ProjectFolder{Cwd: filepath.Join(above, "cwd"), Claude: filepath.Join(root, ".claude"),
		Memory: filepath.Join(root, "memory")}
	start, err := StartInProject(f, conf.Config{})
	if err != nil || !slices.Contains(start.Flags, "--add-dir="+f.Memory) {
		t.Fatalf("claude gets %q (%v)", start.Flags, err)
	}
	for _, name := range []string{"s.md", "out.md", "secret"} {
		if want := name + " that leads out of its folder"; !strings.Contains(start.Lost, want) {
			t.Errorf("the person is told %q", start.Lost)
		}
	}
	text, err := os.ReadFile(filepath.Join(f.Memory, "CLAUDE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for word, there := range map[string]bool{"ABOVE": true, "DOT": true, "RULE": true, "LINKED": true,
		"LOCAL": true, "OWN": true, "SECRET": false, "IMPORTED": true, "DEEP": true, "CODED": false} {
		if strings.Contains(string(text), word) != there {
			t.Errorf("%s is in it: %v\n%s", word, !there, text)
		}
	}
	for _, name := range []string{"docs/in.md.", "~/secret", "nobody", "in.md"} {
		if !strings.Contains(string(text), " `@"+name+"`") || strings.Contains(string(text), " @"+name) {
			t.Errorf("claude would import %s:\n%s", name, text)
		}
	}
	f.ByFlag = true
	start, err = StartInProject(f, conf.Config{})
	if at := slices.Index(start.Flags, "--append-system-prompt"); err != nil || at < 0 ||
		!strings.Contains(start.Flags[at+1], "OWN") {
		t.Errorf("an old release gets %q (%v)", start.Flags, err)
	}
}

// A repository's own folder of Claude Code, its CLAUDE.md and its agents may be links, but not to what is not its own.
func TestNoFileOfThePersonsIsReadByALinkOfARepository(t *testing.T) {
	for name, links := range map[string]map[string]string{
		"CLAUDE.md":         {"CLAUDE.md": "../out/CLAUDE.md"},
		"CLAUDE.local.md":   {"CLAUDE.local.md": "../out/CLAUDE.md"},
		".claude":           {".claude": "../out"},
		".claude/CLAUDE.md": {".claude/CLAUDE.md": "../../out/CLAUDE.md"},
		".claude/agents":    {".claude/agents": "../../out/agents"},
		"a rule":            {".claude/rules/a.md": "../../../out/CLAUDE.md"},
		"the rules":         {".claude/rules": "../../out"},
		"through a folder":  {"docs": "../out", "CLAUDE.md": "docs/CLAUDE.md"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			cwd := filepath.Join(root, "cwd")
			lay(t, root, map[string]string{"out/CLAUDE.md": "SECRET", "cwd/f": "",
				"out/agents/a.md": "---\nname: a\ndescription: SECRET\n---\nSECRET\n"})
			for link, to := range links {
				path := filepath.Join(cwd, link)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
					t.Fatal(err)
				}
			}
			f := ProjectFolder{Cwd: cwd, Claude: filepath.Join(root, "home/.claude"), Memory: filepath.Join(root, "memory")}
			for _, f.ByFlag = range []bool{false, true} {
				start, err := StartInProject(f, conf.Config{})
				memory, _ := os.ReadFile(filepath.Join(f.Memory, "CLAUDE.md"))
				if handed := strings.Join(start.Flags, " ") + string(memory); err != nil || strings.Contains(handed, "SECRET") {
					t.Errorf("claude gets %q (%v)", handed, err)
				}
				if strings.Contains(strings.Join(start.Flags, " "), "--add-dir="+cwd) {
					t.Error("claude itself would follow the link")
				}
				if !strings.Contains(start.Lost, "out of the") && !strings.Contains(start.Lost, "out of its") &&
					!strings.Contains(start.Lost, "out of their") {
					t.Errorf("the person is told %q", start.Lost)
				}
			}
		})
	}
}

// The person's own settings lie above every folder in their home, and are no repository's.
func TestThePersonsOwnSettingsAreNoProjects(t *testing.T) {
	home := t.TempDir()
	own := filepath.Join(home, ".claude")
	lay(t, home, map[string]string{".claude/settings.json": `{"hooks":{},"permissions":{"allow":["Bash"]}}`,
		"project/f": ""})
	f := ProjectFolder{Cwd: home, Claude: own}
	if got, err := StartInProject(f, conf.Config{}); err != nil || got.Lost != "" {
		t.Errorf("they are taken for a repository's: %s (%v)", got.Lost, err)
	}
	f.Cwd = filepath.Join(home, "project")
	if err := os.Symlink(own, filepath.Join(f.Cwd, ".claude")); err != nil {
		t.Fatal(err)
	}
	if got, err := StartInProject(f, conf.Config{}); err != nil || got.Lost != "" {
		t.Errorf("they are taken for a repository's through a link: %s (%v)", got.Lost, err)
	}
}

// What cannot be read holds nobody up, grants nothing, and is said.
func TestSettingsThatCannotBeReadAreSaid(t *testing.T) {
	for name, lays := range map[string]func(path string) error{
		"a FIFO":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"a loop":     func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a device":   func(path string) error { return os.Symlink("/dev/zero", path) },
		"10 MB":      func(path string) error { return os.WriteFile(path, make([]byte, 10<<20), 0o600) },
		"no text":    func(path string) error { return os.WriteFile(path, []byte("{\xff}"), 0o600) },
		"deep lists": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("[", 100_000)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{".mcp.json", ".claude/settings.json", ".claude/settings.local.json",
				".claude/agents/a.md"} {
				cwd := t.TempDir()
				path := filepath.Join(cwd, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), lays(path)); err != nil {
					t.Fatal(err)
				}
				if file == ".claude/agents/a.md" && name == "a folder" {
					continue
				}
				if added, lost := openIn(t, cwd, conf.Config{}); len(added) > 0 ||
					!strings.Contains(lost, "cannot be read") && name != "deep lists" {
					t.Errorf("%s: claude gets %q, the person is told %q", file, added, lost)
				}
			}
		})
	}
}

// Many files would hold the launch up.
func TestManyAgentsAreBounded(t *testing.T) {
	cwd := t.TempDir()
	files := map[string]string{}
	for i := range maxDefinitions + 1 {
		files[".claude/agents/"+strconv.Itoa(i)+".md"] = ""
	}
	lay(t, cwd, files)
	if _, lost := openIn(t, cwd, conf.Config{}); !strings.Contains(lost, "agents that cannot be read") {
		t.Errorf("the person is told %q", lost)
	}
}

// Whatever stands in a definition, reading it neither fails to end nor overlooks a member at the beginning of a line,
// and what is handed over has no member beside the known ones.
func FuzzFrontMatter(f *testing.F) {
	f.Add("---\nname: a\nhooks: {}\n---\n")
	f.Add("---\nname: a: b\n? hooks\n: 1\n---\n")
	f.Add("---\n\"hooks\": &a [*a]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "---") {
			return
		}
		got, _, err := frontMatter("---\nname: a\nhooks: {}\n" + text + "\n---\n")
		if _, there := got["hooks"]; err == nil && !there {
			t.Errorf("%q has the members %v", text, got)
		}
	})
}

func BenchmarkStartInProject(b *testing.B) {
	cwd := b.TempDir()
	for b.Loop() {
		if got, err := StartInProject(ProjectFolder{Cwd: cwd}, conf.Config{}); err != nil || got.Lost != "" {
			b.Fatal(got.Lost, err)
		}
	}
}

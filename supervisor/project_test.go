package supervisor

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
)

func TestTheFolderOfARunIsTakenForWhatARepositoryMayHold(t *testing.T) {
	const settings, local, servers, agent = ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".claude/agents/a.md"
	asks := func(rules ...string) string {
		doc, err := json.Marshal(map[string]any{"permissions": map[string]any{"ask": rules}})
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	nothing := `{"permissions":{}}`
	user := func(first ...string) []string { return append(first, "--setting-sources", "user", "--add-dir=CWD") }
	for name, c := range map[string]struct {
		files map[string]string
		cfg   Config
		want  []string
		told  string
	}{
		"nothing there":                        {nil, Config{}, nil, ""},
		"what only narrows":                    {map[string]string{settings: `{"permissions":{"deny":["Bash(rm:*)"],"ask":["Edit"],"defaultMode":"plan"},"model":"opus"}`}, Config{}, nil, ""},
		"a rule":                               {map[string]string{settings: `{"permissions":{"allow":["Bash(make)"]}}`}, Config{}, []string{"--settings", asks("Bash(make)")}, "1 allowed rule"},
		"a rule of one's own":                  {map[string]string{local: `{"permissions":{"allow":["Bash(make)","Read"]}}`}, Config{}, []string{"--settings", asks("Bash(make)", "Read")}, "2 allowed rules"},
		"the person's own rule":                {map[string]string{local: `{"permissions":{"allow":["Bash(make)"]}}`}, Config{Allow: []string{"Bash(make)"}}, nil, ""},
		"paths from the folder":                {map[string]string{local: `{"permissions":{"allow":["Edit(/src/**)","Read(docs/**)"],"ask":["Edit(/x)"],"deny":["Read(/.env)","Read(//etc/**)"]}}`}, Config{}, []string{"--settings", `{"permissions":{"ask":["Edit(/CWD/x)","Edit(/CWD/src/**)","Read(docs/**)"],"deny":["Read(/CWD/.env)","Read(//etc/**)"]}}`}, "2 allowed rules"},
		"paths from a folder (1)":              {map[string]string{local: `{"permissions":{"allow":["Edit(/src/**)","Read(docs/**)"],"deny":["Read(/.env)"]}}`}, Config{}, []string{"--settings", asks("Edit", "Read(docs/**)")}, "2 allowed rules"},
		"all files of a folder (1)":            {map[string]string{local: `{"permissions":{"allow":["Edit"]}}`}, Config{Allow: []string{"Edit(/src/**)"}}, []string{"--settings", asks("Edit")}, "1 allowed rule"},
		"the person's own path":                {map[string]string{local: `{"permissions":{"allow":["Edit(/src/**)"]}}`}, Config{Allow: []string{"Edit(/src/**)"}}, nil, ""},
		"a path from above the folder":         {map[string]string{"../" + local: `{"permissions":{"allow":["Edit(/src/**)"]}}`}, Config{Allow: []string{"Edit(/src/**)"}}, []string{"--settings", asks("Edit(//ABOVE/src/**)")}, "1 allowed rule"},
		"ours":                                 {map[string]string{local: `{"permissions":{"allow":["mcp__supervise__ask_user"]}}`}, Config{}, nil, ""},
		"no rule that claude is known to take": {map[string]string{settings: `{"permissions":{"allow":["Write(/x/**)"]}}`}, Config{}, []string{"--settings", asks("Write")}, "1 allowed rule"},
		"no rule at all":                       {map[string]string{settings: `{"permissions":{"allow":["((("]}}`}, Config{}, user("--settings", nothing), "a rule that cannot be read"},
		"beside narrowing":                     {map[string]string{settings: `{"permissions":{"allow":["Read"],"ask":["Edit","((("],"deny":["Bash(rm:*)"]}}`}, Config{}, []string{"--settings", `{"permissions":{"ask":["Edit","Read"],"deny":["Bash(rm:*)"]}}`}, "1 allowed rule"},
		"a mode":                               {map[string]string{settings: `{"permissions":{"defaultMode":"acceptEdits"}}`}, Config{}, []string{"--permission-mode", "default", "--settings", nothing}, "a permission mode"},
		"a mode, and the person's own":         {map[string]string{settings: `{"permissions":{"defaultMode":"bypassPermissions"}}`}, Config{Flags: []string{"--permission-mode=acceptEdits"}}, []string{"--settings", nothing}, "a permission mode"},
		"a mode nobody knows":                  {map[string]string{settings: `{"permissions":{"defaultMode":"yolo"}}`}, Config{}, []string{"--permission-mode", "default", "--settings", nothing}, "a permission mode"},
		"servers":                              {map[string]string{servers: `{"mcpServers":{"b":{"command":"x"},"a":{}}}`, settings: `{"enableAllProjectMcpServers":true}`}, Config{}, []string{"--settings", `{"permissions":{},"disabledMcpjsonServers":["a","b"]}`}, "2 MCP servers"},
		"servers behind another writing":       {map[string]string{servers: `{"mcpServers":{"a":{"command":"x"}},"MCPSERVERS":null,"McpServers":{}}`}, Config{}, []string{"--settings", `{"permissions":{},"disabledMcpjsonServers":["a"]}`}, "1 MCP server"},
		"servers of another form":              {map[string]string{servers: `{"mcpServers":[1]}`}, Config{}, user("--settings", nothing), "MCP servers that cannot be read"},
		"no servers":                           {map[string]string{servers: `{"mcpServers":{}}`}, Config{}, nil, ""},
		"an agent":                             {map[string]string{agent: "---\nname: a\ndescription: >\n  hooks: of all kinds\ntools: Bash, Read\nmodel: opus\n---\nhooks: none\n---\n"}, Config{}, nil, ""},
		"an agent as people write them":        {map[string]string{agent: "---\nname: a\ndescription: Use it when: x. Example: \"y: z\"\n  more: of it\n# hooks: none\nmodel: opus\n---\n"}, Config{}, nil, ""},
		"agents that define nothing":           {map[string]string{agent: "Hooks.\n", ".claude/agents/b.md": "---\n---\n", ".claude/agents/c.txt": "---\nhooks: 1\n---\n"}, Config{}, nil, ""},
		"an agent's hooks":                     {map[string]string{agent: "---\nname: a\nhooks:\n  Stop: []\n---\n"}, Config{}, user("--settings", nothing), "hooks of the agent a"},
		"hooks as JSON":                        {map[string]string{agent: "\ufeff\n---\r\n{\"name\":\"a\",\"ho\\u006fks\":{}}\r\n---\r\n"}, Config{}, user("--settings", nothing), "hooks of the agent a"},
		"hooks behind a value without quotes":  {map[string]string{agent: "---\nname: a: b\nhooks:\n  Stop: []\n---\n"}, Config{}, user("--settings", nothing), "hooks of the agent a"},
		"an agent's servers, deep":             {map[string]string{".claude/agents/x/y/B.MD": "---\nmcpServers: []\n---\n"}, Config{}, user("--settings", nothing), "mcpServers of the agent B.MD"},
		"an agent's mode":                      {map[string]string{agent: "---\npermissionMode: bypassPermissions\n---\n"}, Config{}, user("--settings", nothing), "permissionMode of the agent a"},
		"an agent that may end early":          {map[string]string{agent: "---\nname: \"a ---\nhooks: {}\n--- b\"\n---\n"}, Config{}, user("--settings", nothing), "an agent that cannot be read"},
		"an agent that is no map":              {map[string]string{agent: "---\n- hooks\n---\n"}, Config{}, user("--settings", nothing), "an agent that cannot be read"},
		"an agent with its members indented":   {map[string]string{agent: "---\n name: a: b\n hooks: {}\n---\n"}, Config{}, user("--settings", nothing), "an agent that cannot be read"},
		"an agent too large":                   {map[string]string{agent: strings.Repeat(" ", maxDefinition+1)}, Config{}, user("--settings", nothing), "an agent that cannot be read"},
		"hooks":                                {map[string]string{settings: `{"hooks":{"PreToolUse":[]}}`}, Config{}, user("--settings", nothing), "hooks"},
		"a program for the key":                {map[string]string{local: `{"apiKeyHelper":"x"}`}, Config{}, user("--settings", nothing), "apiKeyHelper"},
		"the environment":                      {map[string]string{settings: `{"env":{"X":"y"},"permissions":{"allow":["Read"]}}`}, Config{}, user("--settings", asks("Read")), "1 allowed rule, env"},
		"other folders":                        {map[string]string{local: `{"permissions":{"additionalDirectories":["/etc"]}}`}, Config{}, user("--settings", nothing), "additionalDirectories"},
		"what is new":                          {map[string]string{settings: `{"nobodyKnows":1}`}, Config{}, user("--settings", nothing), "nobodyKnows"},
		"no JSON":                              {map[string]string{settings: `{`}, Config{}, user("--settings", nothing), "a settings.json that cannot be read"},
		"permissions of another form":          {map[string]string{settings: `{"permissions":{"allow":"Bash"}}`}, Config{}, user("--settings", nothing), "permissions that cannot be read"},
		"too large":                            {map[string]string{settings: strings.Repeat(" ", maxSettings+1)}, Config{}, user("--settings", nothing), "a settings.json that cannot be read"},
		"too many rules":                       {map[string]string{settings: `{"permissions":{"allow":["` + strings.Repeat(`Bash(`+strings.Repeat("x", 300)+`)","`, 300) + `Read"]}}`}, Config{}, user(), "301 allowed rules"},
		"the person's own settings":            {map[string]string{settings: `{"permissions":{"allow":["Read"]}}`}, Config{Flags: []string{"--settings", "x.json"}}, user(), "1 allowed rule"},
		"the person's own sources":             {map[string]string{settings: `{"hooks":{}}`}, Config{Flags: []string{"--setting-sources", "user,project"}}, nil, ""},
		"the person's will":                    {map[string]string{settings: `{"hooks":{}}`, servers: `{"mcpServers":{"a":{}}}`}, Config{AllowProject: true}, nil, ""},
		"above the folder":                     {map[string]string{"../" + local: `{"permissions":{"allow":["Read"]}}`, "../" + servers: `{"mcpServers":{"a":{}}}`}, Config{}, []string{"--settings", `{"permissions":{"ask":["Read"]},"disabledMcpjsonServers":["a"]}`}, "1 allowed rule, 1 MCP server"},
		"escape sequences":                     {map[string]string{settings: `{"\u001b[2J":1}`}, Config{}, user("--settings", nothing), "?[2J"},
		"many kinds":                           {map[string]string{settings: `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`}, Config{}, user("--settings", nothing), "a, b, c, d, e, and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			cwd := filepath.Join(t.TempDir(), "project")
			if strings.Contains(name, "(") {
				cwd += " (1)"
			}
			if err := os.MkdirAll(cwd, 0o700); err != nil {
				t.Fatal(err)
			}
			for path, text := range c.files {
				path = filepath.Join(cwd, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := closeProject(cwd, filepath.Join(t.TempDir(), ".claude"), c.cfg)
			for i, flag := range got.flags {
				flag = strings.ReplaceAll(flag, cwd, "CWD")
				got.flags[i] = strings.ReplaceAll(flag, "/"+filepath.Dir(cwd)+"/", "//ABOVE/")
			}
			if !slices.Equal(got.flags, c.want) {
				t.Errorf("claude gets\n%q, want\n%q", got.flags, c.want)
			}
			if !strings.Contains(got.told, c.told) || (got.told == "") != (c.told == "") {
				t.Errorf("the person is told %q, want %q", got.told, c.told)
			}
			if free := c.cfg.AllowProject || given(c.cfg.Flags, "--setting-sources"); got.stays == free {
				t.Errorf("what changes later counts: %v", !got.stays)
			}
			if kept := slices.Contains(got.env, keepAsked); kept != slices.Contains(got.flags, "--setting-sources") {
				t.Errorf("CLAUDE.md is kept by %q", got.env)
			}
		})
	}
}

// The person's own settings lie above every folder in their home, and are no repository's.
func TestThePersonsOwnSettingsAreNoProjects(t *testing.T) {
	home := t.TempDir()
	own, cwd := filepath.Join(home, ".claude"), filepath.Join(home, "project")
	for _, dir := range []string{own, cwd} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(own, "settings.json"), []byte(`{"hooks":{},"permissions":{"allow":["Bash"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := closeProject(cwd, own, Config{}); got.told != "" {
		t.Errorf("it is taken for a repository's: %s", got.told)
	}
	if err := os.Symlink(own, filepath.Join(cwd, ".claude")); err != nil {
		t.Fatal(err)
	}
	if got := closeProject(cwd, own, Config{}); got.told != "" {
		t.Errorf("it is taken for a repository's through a link: %s", got.told)
	}
}

func TestAFileThatWouldHoldItsReaderIsNotRead(t *testing.T) {
	cwd := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(cwd, ".mcp.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := closeProject(cwd, "", Config{}); !strings.Contains(got.told, "a .mcp.json that cannot be read") {
		t.Errorf("the person is told %q", got.told)
	}
}

// A link may lead to whatever, and many files would hold the launch up.
func TestAgentsThatAreNotReadCountAsOnesThatBringMore(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a link": func(dir string) error { return os.Symlink("/", filepath.Join(dir, "all")) },
		"many": func(dir string) error {
			for i := range maxDefinitions + 1 {
				if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			cwd := t.TempDir()
			dir := filepath.Join(cwd, ".claude", "agents")
			if err := errors.Join(os.MkdirAll(dir, 0o700), make(dir)); err != nil {
				t.Fatal(err)
			}
			if got := closeProject(cwd, "", Config{}); !strings.Contains(got.told, "agents that cannot be read") {
				t.Errorf("the person is told %q", got.told)
			}
		})
	}
}

// Whatever stands in a definition, reading it neither fails to end nor overlooks a member at the beginning of a line.
func FuzzFrontMatter(f *testing.F) {
	f.Add("---\nname: a\nhooks: {}\n---\n")
	f.Add("---\nname: a: b\n? hooks\n: 1\n---\n")
	f.Add("---\n\"hooks\": &a [*a]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "---") {
			return
		}
		got, err := frontMatter([]byte("---\nname: a\nhooks: {}\n" + text + "\n---\n"))
		if err == nil && !slices.Contains(got, "hooks") {
			t.Errorf("%q has the members %q", text, got)
		}
	})
}

func BenchmarkCloseProject(b *testing.B) {
	cwd := b.TempDir()
	for b.Loop() {
		if got := closeProject(cwd, "", Config{}); got.told != "" {
			b.Fatal(got.told)
		}
	}
}

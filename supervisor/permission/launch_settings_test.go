package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/supervisor/text"
)

// hostile are settings that break every promise that settings can break.
func hostile() map[string]any {
	doc := map[string]any{}
	for _, d := range decisions {
		for _, value := range []any{"1", "0", true, "dontAsk"} {
			if d.hits(value) && !d.byAdmin {
				set(doc, d.name, value)
				break
			}
		}
	}
	set(doc, "permissions.deny", []any{"mcp__*", "AskUserQuestion", "Bash(rm:*)"})
	return doc
}

func written(t *testing.T, claude string, flags []string, folder map[string]any) (doc map[string]any, rest []string) {
	t.Helper()
	f := SettingsFile{Path: filepath.Join(t.TempDir(), "s.json"), Cwd: t.TempDir(), Folder: folder}
	f.Person = PersonSettings(claude, flags, f.Cwd)
	rest, err := f.Write(flags)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("others can read the settings: %v (%v)", info.Mode(), err)
	}
	data, err := os.ReadFile(f.Path)
	if err != nil || json.Unmarshal(data, &doc) != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if last := rest[len(rest)-1]; last != "--settings="+f.Path {
		t.Errorf("claude is started with %q", rest)
	}
	return doc, rest[:len(rest)-1]
}

func TestAPromiseHoldsOverThePersonsSettingsOrTheyAreNamed(t *testing.T) {
	for from, lay := range map[string]func(claude string) []string{
		"the person's settings": func(claude string) []string {
			lay(t, claude, map[string]string{"settings.json": string(text.JSON(hostile()))})
			return nil
		},
		"a --settings of theirs": func(string) []string { return []string{"--settings", string(text.JSON(hostile()))} },
	} {
		t.Run(from, func(t *testing.T) {
			claude := t.TempDir()
			flags := lay(claude)
			p := PersonSettings(claude, flags, "/")
			doc, _ := written(t, claude, flags, nil)
			said := map[string]Undercut{}
			for _, u := range p.Undercuts() {
				name, _, _ := strings.Cut(u.Setting, " ")
				said[name] = u
			}
			for _, d := range decisions {
				value, _ := lookup(doc, d.name)
				u, named := said[d.name]
				switch {
				case d.byAdmin:
				case d.ours != nil && (value != d.ours || !u.Held):
					t.Errorf("%s is %v in a run, and said to be held: %v", d.name, value, u.Held)
				case !named || d.ours == nil && u.Held:
					t.Errorf("%s is not named", d.name)
				}
			}
			if !p.Toolless() {
				t.Error("agents are said to have our tools")
			}
		})
	}
}

// Nothing that people have for good reasons is spoken of.
func TestSettingsThatBreakNoPromiseAreNotNamed(t *testing.T) {
	claude := t.TempDir()
	lay(t, claude, map[string]string{"settings.json": `{"env":{"MCP_TOOL_TIMEOUT":"2100000000","MCP_TIMEOUT":60000,` +
		`"CLAUDE_CODE_SIMPLE":"0","BASH_DEFAULT_TIMEOUT_MS":"1"},"permissions":{"defaultMode":"plan",` +
		`"denyInsteadOfPrompting":false,"deny":["mcp__github","mcp__supervise__ask_user(x)","Bash"]},` +
		`"crossSessionInbound":"accept","cleanupPeriodDays":1,"agent":"Explore"}`})
	if p := PersonSettings(claude, nil, "/"); len(p.Undercuts()) > 0 || p.Toolless() {
		t.Errorf("%v, without our tools: %v", p.Undercuts(), p.Toolless())
	}
}

func TestAListOfModelsWithoutTheOneThatIsAskedForIsNamed(t *testing.T) {
	for model, named := range map[string]bool{"": false, "haiku": false, "claude-haiku-5-5": false, "sonnet": true} {
		var flags []string
		if model != "" {
			flags = []string{"--model", model}
		}
		claude := t.TempDir()
		lay(t, claude, map[string]string{"settings.json": `{"availableModels":["haiku","opus-4-5"]}`})
		if got := PersonSettings(claude, flags, "/").InWords(""); strings.Contains(got, "another model than "+model) != named {
			t.Errorf("of the model %q it says %q", model, got)
		}
	}
}

func TestRulesThatDenyOurTools(t *testing.T) {
	for rule, want := range map[string]bool{"*": true, "mcp__*": true, "mcp__supervise": true, "mcp__supervise__*": true,
		"mcp__supervise__ask_user": true, "mcp__sup*": true, "mcp__supervise__ask_user(*)": true,
		"mcp__supervise__send_message": false, "mcp__super": false, "Bash": false, "[": false} {
		flags := []string{"--disallowedTools", "Bash(a, b)," + rule}
		if got := PersonSettings(t.TempDir(), flags, "/").Toolless(); got != want {
			t.Errorf("%s denies what agents ask by: %v", rule, got)
		}
	}
}

// A conversation has the tools of the definition that it follows: where ours are not among them, the person is told, and
// agents ask by text.
func TestADefinitionThatLeavesOutOurToolsIsFound(t *testing.T) {
	files := map[string]string{
		"home/agents/narrow.md": "---\nname: narrow\ndescription: d\ntools: Read, Bash\n---\nN.\n",
		"home/agents/all.md":    "---\nname: all\ndescription: d\n---\nA.\n",
		"home/agents/ours.md":   "---\nname: ours\ndescription: d\ntools: [Read, mcp__supervise]\n---\nO.\n",
		"home/agents/some.md":   "---\nname: some\ndescription: d\ntools: mcp__supervise__ask_user\n---\nO.\n",
		"home/agents/not.md":    "---\nname: not\ndescription: d\ndisallowedTools: mcp__supervise__stop_work\n---\nO.\n",

		"work/.claude/agents/narrow2.md": "---\nname: narrow2\ndescription: d\ntools: Read\n---\nN.\n",
		"work/.claude/agents/all.md":     "---\nname: all\ndescription: d\ntools: Read\n---\nA.\n",
	}
	for _, c := range []struct {
		setting string
		flags   []string
		found   string
	}{
		{"", nil, ""}, {"ours", nil, ""}, {"Explore", nil, ""},
		{"narrow", nil, "agent narrow in HOME/settings.json"}, {"narrow2", nil, "agent narrow2 in HOME/settings.json"},
		{"some", nil, "agent some in HOME/settings.json"}, {"not", nil, "agent not in HOME/settings.json"},
		{"all", nil, "agent all in HOME/settings.json"}, // the folder's own comes first
		{"narrow", []string{"--agent", "ours"}, ""}, {"ours", []string{"--agent=narrow"}, "agent narrow in --agent"},
		{"", []string{"--settings", `{"agent":"narrow"}`}, "agent narrow in --settings"},
		{"", []string{"--agent", "given", "--agents", `{"given":{"description":"d","prompt":"p","tools":["Read"]}}`},
			"agent given in --agent"},
	} {
		dir := t.TempDir()
		lay(t, dir, files)
		home := filepath.Join(dir, "home")
		lay(t, home, map[string]string{"settings.json": `{"agent":"` + c.setting + `"}`})
		p, got := PersonSettings(home, c.flags, filepath.Join(dir, "work")), ""
		for _, u := range p.Undercuts() {
			got = strings.ReplaceAll(u.Setting+" in "+u.From, home, "HOME")
		}
		if got != c.found || p.Toolless() != (c.found != "") {
			t.Errorf("of the setting %q with %q: %q, without our tools: %v", c.setting, c.flags, got, p.Toolless())
		}
	}
}

// claude takes one --settings alone: what the folder narrows, what the person gives and what we need are one document.
func TestThePersonsOwnSettingsAreMergedWithOurs(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"own.json": `{"model":"opus","crossSessionInbound":"accept",` +
		`"permissions":{"deny":["WebFetch"]},"env":{"A":"1"}}`})
	own := filepath.Join(dir, "own.json")
	doc, rest := written(t, dir, []string{"--verbose", "--settings", own}, map[string]any{"model": "haiku",
		"permissions": map[string]any{"ask": []any{"Edit"}, "deny": []any{"Read"}}})
	if !slices.Equal(rest, []string{"--verbose"}) {
		t.Errorf("the other flags are %q", rest)
	}
	want := `{"crossSessionInbound":"refuse","env":{"A":"1","MCP_TOOL_TIMEOUT":"2000000000"},"model":"opus",` +
		`"permissions":{"ask":["Edit"],"deny":["Read","WebFetch"]}}`
	if got := string(text.JSON(doc)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, bad := range []string{"missing.json", `{"a":`, `{"a":1}x`} {
		if _, err := (SettingsFile{Path: filepath.Join(dir, "s.json"), Cwd: dir}).Write([]string{"--settings", bad}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

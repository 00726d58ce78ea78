package supervisor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/supervisor/rules"
)

// Claude Code reads settings and MCP servers from files in the folder that it works in, and in those above: they come with a
// repository. What it makes of them without a terminal was measured on 2.1.329: settings.local.json permits whatever it says,
// settings.json only where a person has trusted the folder, but either sets acceptEdits as the mode; hooks, apiKeyHelper and the
// servers of .mcp.json are programs, and they run, trusted or not. A hook can permit any call. What changes in settings while it
// runs, by a checkout for one, is in force at once.
//
// So that a repository's files never widen what the person lets an agent do, these files are looked at before each launch, and
// where they would, claude is told otherwise by flags:
//
//   - a rule that they allow is asked about (--settings, permissions.ask goes before allow; there a path from the folder would be
//     one from elsewhere), a mode that permits is not taken
//     (--permission-mode), and the servers of .mcp.json do not start (disabledMcpjsonServers);
//   - with anything else that permits or runs something, or that is not known here, none of these files is read
//     (--setting-sources user). CLAUDE.md stays (--add-dir); agents, skills and commands of the folder do not;
//   - settings that change while it runs are not taken (procs.Spec.SettingsStay).
//
// What they narrow holds in both cases. --allow project puts all of it in force. Both were seen to hold on 2.1.7, 2.1.100 and
// 2.1.329; only 2.1.7 loses CLAUDE.md by the second.

// fromProject is what has to be done about the files of a folder.
type fromProject struct {
	flags []string
	env   []string
	told  string // what the person is told; "" if nothing is done
	stays bool   // no later change of them counts
}

// keepAsked is the environment by which claude reads the CLAUDE.md of a folder given with --add-dir (2.1.329).
const keepAsked = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1"

// neutral are the settings that neither permit nor run anything.
var neutral = []string{
	"$schema", "model", "outputStyle", "language", "includeCoAuthoredBy", "attribution", "cleanupPeriodDays", "effortLevel",
	"alwaysThinkingEnabled", "spinnerTipsEnabled", "respectGitignore", "disabledMcpjsonServers", "companyAnnouncements",
	"enableAllProjectMcpServers", "enabledMcpjsonServers", // they start only what is in .mcp.json
}

// strict are the permission modes that permit nothing by themselves.
var strict = []string{"", "default", "manual", "plan", "dontAsk"}

// projectFiles are what is found of such files.
type projectFiles struct {
	allow, ask, deny []string
	mode             bool     // some mode that permits
	servers          []string // of .mcp.json
	more             []string // what else there is, for people
}

// maxSettings bounds a file of settings, in bytes, and maxClosing the flags that are made of it: an argument holds 128 KiB.
const (
	maxSettings = 256 << 10
	maxClosing  = 64 << 10
)

// closeProject looks at the files of a run's folder and gives what has to be done about them. flags are what the person hands
// on to claude, home is the folder of the person's own settings. It reads files, and blocks for as long as that takes.
func closeProject(cwd, home string, cfg Config) fromProject {
	if cfg.AllowProject || given(cfg.Flags, "--setting-sources") { // the person has said which files count
		return fromProject{}
	}
	found := projectFiles{}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		found.look(dir, home)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	var own []string
	for _, rule := range cfg.Allow {
		if given, ok := rooted(rule, cwd); ok {
			own = append(own, given)
		}
	}
	found.allow = slices.DeleteFunc(found.allow, func(rule string) bool {
		return slices.Contains(own, rule) || strings.HasPrefix(rule, "mcp__supervise__")
	})
	return found.close(cwd, cfg)
}

// given tells whether a flag is among those that are handed on.
func given(flags []string, flag string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
}

// look reads what lies in one folder.
func (p *projectFiles) look(dir, home string) {
	if claude := filepath.Join(dir, ".claude"); !same(claude, home) {
		p.settings(dir, filepath.Join(claude, "settings.json"))
		p.settings(dir, filepath.Join(claude, "settings.local.json"))
		p.definitions(filepath.Join(claude, "agents"))
	}
	// The members of a map have the very names that claude looks for; those of a struct would be found in any case.
	var mcp, servers map[string]json.RawMessage
	if !p.read(filepath.Join(dir, ".mcp.json"), &mcp) {
		return
	}
	if doc, ok := mcp["mcpServers"]; ok && json.Unmarshal(doc, &servers) != nil {
		p.more = append(p.more, "MCP servers that cannot be read")
	}
	p.servers = append(p.servers, slices.Sorted(maps.Keys(servers))...)
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	second, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(first, second)
}

// read reads a file of JSON; false if there is none. One that cannot be read counts as one that says more than is known.
func (p *projectFiles) read(path string, into any) bool {
	text, err := readText(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	if err != nil {
		p.more = append(p.more, "a "+filepath.Base(path)+" that cannot be read")
		return false
	}
	return true
}

// settings reads a file of settings of a folder.
func (p *projectFiles) settings(dir, path string) {
	var all map[string]json.RawMessage
	if !p.read(path, &all) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "permissions" {
			p.permissions(dir, all[name])
		} else if !slices.Contains(neutral, name) {
			p.more = append(p.more, name)
		}
	}
}

func (p *projectFiles) permissions(dir string, doc json.RawMessage) {
	var members map[string]json.RawMessage
	var said struct {
		Allow []string `json:"allow"`
		Ask   []string `json:"ask"`
		Deny  []string `json:"deny"`
		Mode  string   `json:"defaultMode"`
	}
	if json.Unmarshal(doc, &members) != nil || json.Unmarshal(doc, &said) != nil {
		p.more = append(p.more, "permissions that cannot be read")
		return
	}
	for _, rule := range said.Allow {
		if asked := askedAbout(rule, dir); asked != "" {
			p.allow = append(p.allow, asked)
		} else {
			p.more = append(p.more, "a rule that cannot be read")
		}
	}
	for put, those := range map[*[]string][]string{&p.ask: said.Ask, &p.deny: said.Deny} {
		for _, rule := range those {
			if _, err := rules.Parse(rule); err != nil {
				continue // claude might not take the others either
			}
			if narrowed, ok := rooted(rule, dir); ok {
				*put = append(*put, narrowed)
			}
		}
	}
	p.mode = p.mode || !slices.Contains(strict, said.Mode)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "allow", "ask", "deny", "defaultMode", "disableBypassPermissionsMode", "disableAutoMode":
		default:
			p.more = append(p.more, name)
		}
	}
}

// askedAbout gives the rule by which claude asks about what a rule of a folder allows: the same, or one about the whole tool where
// the rule has no form of which claude is known to take it; "" if it names no tool.
func askedAbout(rule, dir string) string {
	if r, err := rules.Parse(rule); err == nil {
		if asked, ok := rooted(r.String(), dir); ok {
			return asked
		}
	}
	tool, _, _ := strings.Cut(rule, "(")
	if r, err := rules.Parse(tool); err == nil {
		return r.Tool
	}
	return ""
}

// rooted gives a rule of a folder's settings as it has to be in other ones: a path from the folder (/src/**) becomes one from the
// root. There is none where the folder's name would be read as a pattern.
func rooted(rule, dir string) (_ string, ok bool) {
	r, err := rules.Parse(rule)
	if err != nil || r.Tool != "Read" && r.Tool != "Edit" || !strings.HasPrefix(r.Spec, "/") || strings.HasPrefix(r.Spec, "//") {
		return rule, true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // as claude sees where it works
		dir = real
	}
	r.Spec = "/" + filepath.Join(dir, r.Spec)
	return r.String(), !strings.ContainsAny(dir, "*?[]{}()!\\")
}

// close makes flags of what was found.
func (p *projectFiles) close(cwd string, cfg Config) fromProject {
	var what []string
	if n := len(p.allow); n > 0 {
		what = append(what, plural(n, "allowed rule", "allowed rules"))
	}
	if p.mode {
		what = append(what, "a permission mode")
	}
	if n := len(p.servers); n > 0 {
		what = append(what, plural(n, "MCP server", "MCP servers"))
	}
	what = append(what, p.more...)
	if len(what) == 0 {
		return fromProject{stays: true}
	}
	type permissions struct {
		Ask  []string `json:"ask,omitempty"`
		Deny []string `json:"deny,omitempty"`
	}
	settings := struct {
		Permissions permissions `json:"permissions"`
		Disabled    []string    `json:"disabledMcpjsonServers,omitempty"`
	}{permissions{Ask: slices.Concat(p.ask, p.allow), Deny: p.deny}, p.servers}
	doc := string(encode(settings))
	closed := fromProject{stays: true, told: "not taken from the folder's own files: " + foundInWords(what) + "; --allow project takes it"}
	if !given(cfg.Flags, "--permission-mode") && !given(cfg.Flags, "--dangerously-skip-permissions") && p.mode {
		closed.flags = append(closed.flags, "--permission-mode", "default")
	}
	if free := !given(cfg.Flags, "--settings") && len(doc) <= maxClosing; free {
		closed.flags = append(closed.flags, "--settings", doc)
		if len(p.more) == 0 {
			return closed
		}
	}
	closed.flags = append(closed.flags, "--setting-sources", "user", "--add-dir="+cwd)
	closed.env = []string{keepAsked}
	closed.told += " (nor are its agents, skills and commands)"
	return closed
}

// foundInWords lists what was found on one line that a terminal can show: a repository made it up.
func foundInWords(what []string) string {
	const most = 5
	if more := len(what) - most; more > 0 {
		what = append(slices.Clip(what[:most]), "and "+plural(more, "more", "more"))
	}
	for i, w := range what {
		what[i] = cutAt(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, w), 60)
	}
	return strings.Join(what, ", ")
}

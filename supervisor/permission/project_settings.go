package permission

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor/rules"
)

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 256 << 10

// Narrowing is what of a folder's settings holds: it lets nothing happen that would not happen without it.
type Narrowing struct {
	ask, deny []string
	Shape     map[string]any // settings that only shape what is said
}

// A shaping setting is handed over if its value is one that claude is known to take: one that it does not take would
// void the settings beside it.
var shaping = map[string]func(any) bool{
	"model":       isWord,
	"outputStyle": isWord,
	"language":    isWord,
	"effortLevel": func(v any) bool {
		return slices.Contains([]any{"low", "medium", "high", "xhigh", "max"}, v)
	},
	"includeCoAuthoredBy":   isBool,
	"alwaysThinkingEnabled": isBool,
	"respectGitignore":      isBool,
}

// effectless are settings without an effect on a run, of which nobody has to be told.
var effectless = []string{
	"$schema", "cleanupPeriodDays", "spinnerTipsEnabled", "companyAnnouncements", "disabledMcpjsonServers",
	"enableAllProjectMcpServers", "enabledMcpjsonServers", // they are about .mcp.json, whose servers are counted
}

func isBool(v any) bool { _, ok := v.(bool); return ok }

func isWord(v any) bool {
	const longest = 100
	word, ok := v.(string)
	return ok && word != "" && len(word) <= longest && !strings.ContainsFunc(word, func(r rune) bool { return r < ' ' })
}

// strict are the permission modes that permit nothing by themselves.
var strict = []string{"", "default", "manual", "plan", "dontAsk"}

// readSettings reads the settings that claude would read: the folder's own, and the local ones of its checkout and of
// the main one. own are the rules that the person has given.
func (p *InFolder) readSettings(f ProjectFolder, repo checkout, own []string) {
	var allow []string
	read := func(dir, name string) {
		if claude := filepath.Join(dir, ".claude"); !f.isPersons(claude) {
			allow = append(allow, p.Settings(dir, f.Cwd, filepath.Join(claude, name))...)
		}
	}
	read(f.Cwd, "settings.json")
	for _, dir := range uniq([]string{f.Cwd, repo.root, repo.main}) {
		if dir != "" {
			read(dir, "settings.local.json")
		}
	}
	for _, rule := range uniq(allow) {
		if !slices.Contains(own, rule) && !strings.HasPrefix(rule, "mcp__supervise__") {
			p.allowed++
		}
	}
	for _, dir := range withAbove(f.Cwd) {
		p.mcp(filepath.Join(dir, ".mcp.json"))
	}
}

// readJSON reads a file of JSON; false if there is none. One that cannot be read is said to be lost.
func (p *InFolder) readJSON(path string, into any) bool {
	text, err := readText(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	if err != nil {
		p.lost = append(p.lost, "a "+filepath.Base(path)+" that cannot be read")
		return false
	}
	return true
}

// mcp counts the servers of a .mcp.json. The members of a map have the very names that claude looks for.
func (p *InFolder) mcp(path string) {
	var doc, servers map[string]json.RawMessage
	if !p.readJSON(path, &doc) {
		return
	}
	if all, ok := doc["mcpServers"]; ok && json.Unmarshal(all, &servers) != nil {
		p.lost = append(p.lost, "MCP servers that cannot be read")
	}
	p.servers += len(servers)
}

// Settings reads a file of settings of dir for an agent in cwd, and returns what it allows.
func (p *InFolder) Settings(dir, cwd, path string) (allow []string) {
	var all map[string]json.RawMessage
	if !p.readJSON(path, &all) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var value any
		_ = json.Unmarshal(all[name], &value) // it is part of a document that was read
		switch shapes := shaping[name]; {
		case name == "permissions":
			allow = append(allow, p.permissions(dir, cwd, all[name])...)
		case shapes != nil && shapes(value):
			p.Shape[name] = value
		case !slices.Contains(effectless, name):
			p.lost = append(p.lost, name)
		}
	}
	return allow
}

func (p *InFolder) permissions(dir, cwd string, doc json.RawMessage) (allow []string) {
	var members map[string]json.RawMessage
	var said struct {
		Allow []string `json:"allow"`
		Ask   []string `json:"ask"`
		Deny  []string `json:"deny"`
		Mode  string   `json:"defaultMode"`
	}
	if json.Unmarshal(doc, &members) != nil || json.Unmarshal(doc, &said) != nil {
		p.lost = append(p.lost, "permissions that cannot be read")
		return nil
	}
	for put, those := range map[*[]string][]string{&p.ask: said.Ask, &p.deny: said.Deny} {
		for _, rule := range those {
			for _, from := range uniq([]string{dir, cwd}) {
				p.narrow(put, rule, from)
			}
		}
	}
	p.mode = p.mode || !slices.Contains(strict, said.Mode)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "allow", "ask", "deny", "defaultMode", "disableBypassPermissionsMode", "disableAutoMode":
		default:
			p.lost = append(p.lost, name)
		}
	}
	return said.Allow
}

// narrow adds a rule that narrows. Of one that cannot be put into other settings the whole tool is asked about.
func (p *InFolder) narrow(put *[]string, rule, dir string) {
	r, err := rules.Parse(rule)
	if err != nil {
		tool, _, _ := strings.Cut(rule, "(")
		if r, err := rules.Parse(tool); err == nil {
			p.ask = append(p.ask, r.Tool)
		}
		return // claude does not take it either
	}
	if moved, ok := rooted(r, dir); ok {
		*put = append(*put, moved)
	} else {
		p.ask = append(p.ask, r.Tool)
	}
}

// rooted returns a rule of a folder's settings as it has to be in other ones: a path from the folder (/src/**) becomes
// one from the root. There is none where the folder's name would be read as a pattern.
func rooted(r rules.Rule, dir string) (_ string, ok bool) {
	if r.Tool != "Read" && r.Tool != "Edit" || !strings.HasPrefix(r.Spec, "/") || strings.HasPrefix(r.Spec, "//") {
		return r.String(), true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // as claude sees where it works
		dir = real
	}
	r.Spec = "/" + filepath.Join(dir, r.Spec)
	return r.String(), !strings.ContainsAny(dir, "*?[]{}()!\\")
}

// settings are the settings by which the narrowing holds, as the values of a document.
func (p *InFolder) settings() map[string]any {
	doc := map[string]any{}
	maps.Copy(doc, p.Shape)
	for name, rules := range map[string][]string{"ask": uniq(p.ask), "deny": uniq(p.deny)} {
		var list []any
		for _, rule := range rules {
			list = append(list, rule)
		}
		if len(list) > 0 {
			set(doc, "permissions."+name, list)
		}
	}
	return doc
}

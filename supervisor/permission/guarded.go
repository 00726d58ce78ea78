package permission

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// Guarded is the folder of the person's own config, which decides what agents may do. A call that could write there is
// always asked about, once for each: no rule of a person's settings, of a project, of --allow or of an answer permits
// it, and no mode. Claude itself asks of no such folder: with acceptEdits it writes to all of the folder it works in,
// which may be the home, and its own rules do not hold for what Bash does. So the supervisor's hook before each call
// looks here, and what it finds is asked about.
//
// Of a command line it finds what the line names: a path in any form (relative, by a link, by ~ or $HOME, a pattern),
// and the folders above it as the operands of a program that moves or removes. A program that puts the path together
// when it runs is not found: with a rule that lets it run, an agent can do what its user can (doc.go of supervisor,
// "What is not held").
type Guarded struct {
	Folders []string // absolute; each is ~/.config/claude-supervise, or where XDG_CONFIG_HOME has it
	Files   []string // that the folders' files lead to, where those are links
	Home    string
}

// NewGuarded guards these folders, and the files in them that are links, where they lead.
func NewGuarded(home string, folders ...string) Guarded {
	g := Guarded{Home: home}
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		g.Folders = append(g.Folders, filepath.Clean(folder))
		if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
			g.Folders = append(g.Folders, real)
		}
		entries, _ := os.ReadDir(folder) // one that is not there has none
		for _, e := range entries[:min(len(entries), maxDefinitions)] {
			name := filepath.Join(folder, e.Name())
			if real, err := filepath.EvalSymlinks(name); err == nil && e.Type()&os.ModeSymlink != 0 {
				g.Files = append(g.Files, real)
			}
		}
	}
	g.Folders = uniq(g.Folders)
	return g
}

// WhyAsked is what a person is told of a call that touches it.
const WhyAsked = "It names your own claude-supervise config, which decides what agents may do."

// Look completes what is shown of a call: of one that touches the config it says so, and takes the rule away that would
// permit the same again.
func (g Guarded) Look(l supervisor.CallView, tool string, input json.RawMessage, cwd string) supervisor.CallView {
	if g.Touches(tool, input, cwd) {
		l.Rule, l.Preview = rules.Rule{}, WhyAsked+"\n"+l.Preview
	}
	return l
}

// Touches reports whether a call could write to the config. cwd is where the call is made.
func (g Guarded) Touches(tool string, input json.RawMessage, cwd string) bool {
	if len(g.Folders) == 0 {
		return false
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return false
	}
	if tool == "Bash" {
		var command string
		_ = json.Unmarshal(in["command"], &command) // of another type: none
		return g.touchedBy(command, cwd)
	}
	if rules.FileTool(tool) == "Read" {
		return false
	}
	found := false
	eachText(in, func(s string) { found = found || len(s) < maxPath && g.holds(g.expanded(s), cwd) })
	return found
}

// maxPath bounds a text that could be a path, in bytes.
const maxPath = 4096

// eachText calls do with each text of a tool's input.
func eachText(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case map[string]json.RawMessage:
		for _, member := range v {
			var inner any
			if json.Unmarshal(member, &inner) == nil {
				eachText(inner, do)
			}
		}
	case map[string]any:
		for _, member := range v {
			eachText(member, do)
		}
	case []any:
		for _, member := range v {
			eachText(member, do)
		}
	}
}

// expanded puts the home in the place of ~.
func (g Guarded) expanded(s string) string {
	if rest, tilde := strings.CutPrefix(s, "~"); tilde && (rest == "" || rest[0] == '/') {
		return g.Home + rest
	}
	return s
}

// touchedBy reports whether a command line names the config.
func (g Guarded) touchedBy(line, cwd string) bool {
	if g.within(cwd) {
		return true
	}
	for _, folder := range g.Folders {
		above, name := path.Split(folder)
		for _, named := range []string{folder, path.Join(path.Base(above), name), path.Join(name, "config.yaml")} {
			if strings.Contains(line, named) {
				return true
			}
		}
	}
	env := func(name string) string {
		switch name {
		case "HOME":
			return g.Home
		case "PWD":
			return cwd
		case "XDG_CONFIG_HOME":
			return filepath.Dir(g.Folders[0])
		}
		return ""
	}
	words, moves := rules.Named(line, env)
	for _, word := range words {
		if g.holds(word, cwd) || strings.Contains(word, "=") && g.holds(word[strings.IndexByte(word, '=')+1:], cwd) {
			return true
		}
	}
	for _, operands := range moves {
		if g.moved(operands, cwd) {
			return true
		}
	}
	return false
}

// holds reports whether a path, or a pattern of paths, is of the config.
func (g Guarded) holds(name, cwd string) bool {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsRune(name, 0) {
		return false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(cwd, name)
	}
	name = filepath.Clean(name)
	if strings.ContainsAny(name, "*?[") {
		return g.matched(name)
	}
	if g.within(name) {
		return true
	}
	if at := Locate(name, cwd); at.Real != "" && at.Real != name {
		return g.within(at.Real)
	}
	return false
}

// within reports whether a path is one of the config, by its name or as the file system knows it.
func (g Guarded) within(name string) bool {
	for _, folder := range g.Folders {
		if text.Under(strings.ToLower(name), strings.ToLower(folder)) { // some file systems do not tell cases apart
			return true
		}
	}
	file, err := os.Stat(name)
	if err != nil {
		return false
	}
	for _, guarded := range slices.Concat(g.Files, g.configs()) {
		if other, err := os.Stat(guarded); err == nil && os.SameFile(file, other) {
			return true
		}
	}
	return false
}

// configs are the files that are read.
func (g Guarded) configs() (all []string) {
	for _, folder := range g.Folders {
		all = append(all, filepath.Join(folder, "config.yaml"))
	}
	return all
}

// matched reports whether a pattern could stand for the folder or what lies in it.
func (g Guarded) matched(pattern string) bool {
	names := strings.Split(pattern, "/")
	for _, folder := range g.Folders {
		guarded := strings.Split(folder, "/")
		all := len(names) >= len(guarded)
		for i := 0; all && i < len(guarded); i++ {
			match, err := path.Match(names[i], guarded[i])
			all = err == nil && match
		}
		if all {
			return true
		}
	}
	return false
}

// moved reports whether a program that moves files is given a folder above the config: one below the home in any case;
// the home or one above it together with something that has the name of the next folder on the way.
func (g Guarded) moved(operands []string, cwd string) bool {
	for _, operand := range operands {
		at := Locate(operand, cwd)
		for _, folder := range g.Folders {
			rest, err := filepath.Rel(at.Path, folder)
			if err != nil || !filepath.IsLocal(rest) || rest == "." {
				continue
			}
			if g.Home != "" && at.Path != g.Home && text.Under(at.Path, g.Home) {
				return true
			}
			next, _, _ := strings.Cut(rest, "/")
			for _, other := range operands {
				if path.Base(other) == next {
					return true
				}
			}
		}
	}
	return false
}

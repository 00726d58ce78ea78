package permission

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/rules"
)

// Guarded is the folder of the person's own config, which decides what agents may do. A call that could write there is
// always asked about, once for each: no rule of a person's settings, of a project, of --allow or of an answer permits
// it, and no mode. Claude itself asks of no such folder: with acceptEdits it writes to all of the folder it works in,
// which may be the home, and its own rules do not hold for what Bash does. So the supervisor's hook before each call
// looks here, and what it finds is asked about.
//
// Of a command line it finds what the line names (guarded_line.go): a path in any form, relative to any folder on the
// way to the config that the line names too, and the folders above it as the operands of a program that moves or
// removes. What cannot be taken apart is asked about. A program that puts the path together when it runs is not found:
// with a rule that lets it run, an agent can do what its user can (doc.go of supervisor, "What is not held").
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
		if real, known := follow(folder); known && real != folder {
			g.Folders = append(g.Folders, real)
		}
		entries, _ := os.ReadDir(folder) // one that is not there has none
		for _, e := range entries[:min(len(entries), maxDefinitions)] {
			if real, known := follow(filepath.Join(folder, e.Name())); known && e.Type()&os.ModeSymlink != 0 {
				g.Files = append(g.Files, real)
			}
		}
	}
	g.Folders = uniq(g.Folders)
	return g
}

// What a person is told of a call that touches it, and of one that cannot be taken apart.
const (
	WhyAsked   = "It names your own claude-supervise config, which decides what agents may do."
	WhyUnclear = "It cannot be told whether it names your own claude-supervise config."
)

// Look completes what is shown of a call: of one that is asked about for the config it says so, and takes the rule away
// that would permit the same again.
func (g Guarded) Look(l ask.CallView, tool string, input json.RawMessage,
	site ask.CallSite) ask.CallView {
	if why := g.Why(tool, input, cmp.Or(site.Cwd, site.Folder)); why != "" {
		l.Rule, l.Preview = rules.Rule{}, why+"\n"+l.Preview
	}
	return l
}

// Why says why a person is to be asked before a call: it could write to the config; "" if it could not. cwd is where
// the call is made.
func (g Guarded) Why(tool string, input json.RawMessage, cwd string) string {
	if len(g.Folders) == 0 {
		return ""
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	var command string
	if json.Unmarshal(in["command"], &command) == nil && command != "" && !calls.Served(tool) {
		return g.whyLine(command, cwd) // of Bash, Monitor and whatever shell comes next
	}
	if rules.FileTool(tool) != "Edit" && !calls.Served(tool) {
		return ""
	}
	if schedulesFrom(cwd).named(g, in) {
		return WhySchedule
	}
	found, c := false, g.chain()
	eachText(in, func(s string) {
		found = found || s != "" && !strings.ContainsRune(s, 0) && c.names(g.expanded(s), cwd)
	})
	if found {
		return WhyAsked
	}
	return c.whyUnclear()
}

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

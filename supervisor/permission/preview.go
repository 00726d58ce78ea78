package permission

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// LookAt shows a call so that a person can judge it: of a command what it is and where it runs, of an edit what it
// changes in the file as that is now. What the model says of it comes after. cwd is the agent's folder.
func LookAt(tool string, input json.RawMessage, cwd string) supervisor.CallView {
	var in map[string]json.RawMessage
	var e evidence
	if json.Unmarshal(input, &in) != nil {
		e.members(input)
		return e.view(supervisor.CallView{})
	}
	said := func(name string) string {
		var s string
		_ = json.Unmarshal(in[name], &s) // of another type: none
		return s
	}
	is := func(name string) bool { // whatever else stands there, somebody might take for yes
		said := string(bytes.TrimSpace(in[name]))
		return said != "" && said != "false" && said != "null"
	}
	about := rules.FileTool(tool)
	if about != "" {
		return lookAtFile(tool, about, in, input, cwd)
	}
	var l supervisor.CallView
	if server, name, mcp := mcpTool(tool); mcp {
		e.line("tool %s of the MCP server %s", name, server)
	}
	e.members(input)
	switch {
	case tool == "Bash":
		l.What = strings.TrimSpace(said("command"))
		e.line("run's folder: %s", cwd) // a cd before may have left it
		if is("run_in_background") {
			e.line("It runs in the background.")
		}
		if is("dangerouslyDisableSandbox") {
			e.line("It runs outside the sandbox.")
			break // no rule about a command says that
		}
		l.Rule, _ = rules.Exactly(tool, l.What)
	case tool == "WebFetch":
		l.What = said("url")
		if u, err := url.Parse(l.What); err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") {
			l.Rule, _ = rules.Exactly(tool, "domain:"+strings.ToLower(u.Hostname()))
		}
	case strings.HasPrefix(tool, mcpPrefix):
		l.Rule, _ = rules.Exactly(tool, "")
	case tool == "Skill":
		e.line(
			"What its file says about tools and hooks is in force while it is used: it may permit calls, and run programs.")
		if l.What = said("skill"); l.What != "" {
			l.Rule, _ = rules.Exactly(tool, l.What)
		}
	case in["command"] == nil && in["path"] == nil && in["file_path"] == nil: // else the tool alone would be too much
		l.Rule, _ = rules.Exactly(tool, "")
	}
	return e.view(l)
}

const mcpPrefix = "mcp__"

// mcpTool takes the name of an MCP server's tool apart.
func mcpTool(tool string) (server, name string, mcp bool) {
	rest, mcp := strings.CutPrefix(tool, mcpPrefix)
	server, name, _ = strings.Cut(rest, "__")
	return server, name, mcp
}

// lookAtFile shows a call that is about one file.
func lookAtFile(tool, about string, in map[string]json.RawMessage, input json.RawMessage,
	cwd string) supervisor.CallView {
	var path string
	for _, name := range []string{"file_path", "notebook_path"} {
		if path == "" {
			_ = json.Unmarshal(in[name], &path) // of another type: none
		}
	}
	var e evidence
	if path == "" || strings.ContainsRune(path, 0) {
		e.members(input)
		return e.view(supervisor.CallView{})
	}
	target := Locate(path, cwd)
	l, named := supervisor.CallView{What: target.Path}, "/"+target.Path
	if rel, err := filepath.Rel(cwd, target.Path); err == nil && !target.outside && rel != "." {
		l.What, named = rel, "/"+rel
	}
	e.line("file: %s", target.Path)
	if target.Real != "" && target.Real != target.Path {
		e.line("which is a link to %s", target.Real)
	}
	if target.outside {
		e.line("outside the run's folder, %s", cwd)
	}
	if about == "Edit" {
		e.change(tool, in, input, target)
	} else {
		e.members(input)
	}
	if target.plain {
		l.Rule, _ = rules.Exactly(about, named)
	}
	return e.view(l)
}

// A target is the file that a call names.
type target struct {
	Path    string // absolute and clean, as it was named
	Real    string // where its links lead; "" if that is not known
	outside bool   // of the run's folder, by either
	plain   bool   // no link is on the way, so that the path says which file it is
}

// Locate finds out what a path names. It follows links by name only and opens nothing.
func Locate(path, cwd string) target {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	t := target{Path: filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(t.Path); err == nil {
		t.Real = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(t.Path)); err == nil &&
		!named(t.Path) { // it is to be made
		t.Real = filepath.Join(dir, filepath.Base(t.Path))
	}
	t.plain = t.Real == t.Path
	home, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		home = cwd
	}
	t.outside = !text.Under(t.Path, cwd) && !text.Under(t.Path, home) || t.Real != "" && !text.Under(t.Real, home)
	return t
}

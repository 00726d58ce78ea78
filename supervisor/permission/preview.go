package permission

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// LookAt shows a call so that a person can judge it: of a command what it is and where it runs, of an edit what it
// changes in the file as that is now. What the model says of it comes behind "it says:", and is no headline.
func LookAt(tool string, input json.RawMessage, site ask.CallSite) ask.CallView {
	is, e := calls.Of(tool), evidence{}
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		e.members(is, input)
		return e.view(ask.CallView{Headline: is.Headline(input)})
	}
	if is.Rule == calls.ByFile {
		return lookAtFile(tool, in, input, site)
	}
	if server, name, found := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__"); found && calls.Served(tool) {
		e.line("tool %s of the MCP server %s", name, server)
	}
	e.members(is, input)
	l := ask.CallView{Headline: is.Headline(input)}
	if is.Runs() {
		l.Cwd, l.Where = placed(site)
		e.place(l, site)
	}
	// A rule holds in one folder.
	if unusual := e.circumstances(is, in); !unusual && l.Cwd != checkpoints.ElsewhereUnknown {
		l.Rule = ruleFor(tool, is, in)
	}
	return e.view(l)
}

// ruleFor returns the rule that permits a call that is about no file; the zero Rule if none does.
func ruleFor(tool string, is calls.Tool, in map[string]json.RawMessage) rules.Rule {
	var named string
	if len(is.Head) > 0 {
		_ = json.Unmarshal(in[is.Head[0]], &named) // of another type: none
	}
	var r rules.Rule
	switch is.Rule {
	case calls.ByTool:
		r, _ = rules.Exactly(tool, "")
	case calls.ByHost:
		if u, err := url.Parse(named); err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") {
			r, _ = rules.Exactly(tool, "domain:"+strings.ToLower(u.Hostname()))
		}
	case calls.ByCommand, calls.ByName:
		if named != "" {
			r, _ = rules.Exactly(tool, named)
		}
	}
	return r
}

// circumstances adds what allowing a call lets happen that is easily missed in its input, and reports whether that is
// more than a rule about it could say.
func (e *evidence) circumstances(is calls.Tool, in map[string]json.RawMessage) (unusual bool) {
	set := func(name string) bool { // whatever else stands there, somebody might take for yes
		value := string(bytes.TrimSpace(in[name]))
		return value != "" && value != "false" && value != "null"
	}
	if set("run_in_background") {
		e.line("It runs in the background.")
	}
	if set("dangerouslyDisableSandbox") {
		e.line("It runs outside the sandbox.")
		unusual = true
	}
	if is.About != "" {
		e.line("%s", is.About)
	}
	return e.unknown(is, in) || unusual
}

// unknown says which members of an input nobody has decided about, and reports whether there are any.
func (e *evidence) unknown(is calls.Tool, in map[string]json.RawMessage) bool {
	names := is.Unknown(in)
	if _, row := calls.Known(is.Name); !row && !calls.Served(is.Name) {
		e.line("claude-supervise does not know this tool: what it does is not said here, and no rule is offered.")
		return true
	}
	if len(names) > 0 {
		e.line("claude-supervise does not know what %s does here, so no rule is offered.",
			text.Truncate(strings.Join(names, ", "), text.MaxNamed))
	}
	return len(names) > 0
}

// placed says where a call is made that runs something: as a checkpoints.ToolCall has it, and in few words.
func placed(site ask.CallSite) (cwd, where string) {
	home, known := follow(site.Folder)
	switch rel, err := filepath.Rel(home, site.Cwd); {
	case site.Cwd == "":
		return checkpoints.ElsewhereUnknown, "an unknown folder"
	case site.Cwd == site.Folder, known && site.Cwd == home:
		return "", ""
	case err == nil && filepath.IsLocal(rel):
		return site.Cwd, rel
	}
	return site.Cwd, site.Cwd
}

// place says in which folder a call runs something.
func (e *evidence) place(l ask.CallView, site ask.CallSite) {
	switch l.Cwd {
	case "":
		e.line("run's folder: %s", site.Folder)
	case checkpoints.ElsewhereUnknown:
		e.line("It is not known in which folder it runs. The run's folder: %s", site.Folder)
	default:
		e.line("folder: %s", l.Cwd)
		e.line("It does not run in the run's folder, %s", site.Folder)
	}
}

// lookAtFile shows a call that is about one file.
func lookAtFile(tool string, in map[string]json.RawMessage, input json.RawMessage,
	site ask.CallSite) ask.CallView {
	is, e := calls.Of(tool), evidence{}
	var path string
	_ = json.Unmarshal(in[is.Head[0]], &path) // of another type: none
	if path == "" || strings.ContainsRune(path, 0) {
		e.members(is, input)
		return e.view(ask.CallView{Headline: is.Headline(input)})
	}
	target := Locate(path, cmp.Or(site.Cwd, site.Folder), site.Folder)
	l, named := ask.CallView{Headline: calls.AtPath(target.Path)}, "/"+target.Path
	if !filepath.IsAbs(path) {
		l.Cwd, _ = placed(site) // the same call means another file elsewhere
	}
	if rel, err := filepath.Rel(site.Folder, target.Path); err == nil && !target.outside && rel != "." {
		l.Headline, named = calls.AtPath(rel), "/"+rel
	}
	e.line("file: %s", target.Path)
	switch target.Real {
	case target.Path:
	case "":
		e.line("It is not known where its links lead.")
	default:
		e.line("which is a link to %s", target.Real)
	}
	if target.outside {
		e.line("outside the run's folder, %s", site.Folder)
	}
	sure := !e.unknown(is, in)
	switch {
	case !sure, !is.Acts:
		e.members(is, input)
	default:
		sure = e.change(tool, in, input, target)
	}
	if sure && target.plain {
		l.Rule, _ = rules.Exactly(rules.FileTool(tool), named)
	}
	return e.view(l)
}

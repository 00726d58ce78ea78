package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"claude-supervise/supervisor/rules"
)

// A callView is what a person is shown of a call before it is permitted.
type callView struct {
	what    string // the command, path or address, for the question's text
	preview string
	rule    rules.Rule // that permits exactly this in the whole run; the zero Rule if none can
}

// maxPreview bounds what of a call a question carries, in bytes.
const maxPreview = 16 << 10

// lookAt shows a call so that a person can judge it: of a command what it is and where it runs, of an edit what it changes in
// the file as that is now. What the model says of it comes after. cwd is the agent's folder.
func lookAt(tool string, input json.RawMessage, cwd string) callView {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return callView{preview: preview(input)}
	}
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(in[name], &s) // of another type: none
		return s
	}
	is := func(name string) bool { // whatever else stands there, somebody might take for yes
		said := string(bytes.TrimSpace(in[name]))
		return said != "" && said != "false" && said != "null"
	}
	l := callView{preview: preview(input)}
	switch about := rules.FileTool(tool); {
	case tool == "Bash":
		l.what = strings.TrimSpace(text("command"))
		l.preview += "\nrun's folder: " + cwd // a cd before may have left it
		if is("run_in_background") {
			l.preview += "\nIt runs in the background."
		}
		if is("dangerouslyDisableSandbox") {
			l.preview += "\nIt runs outside the sandbox."
			return l // no rule about a command says that
		}
		l.rule, _ = rules.Exactly(tool, l.what)
	case about != "":
		l = lookAtFile(tool, about, in, input, cwd)
	case tool == "WebFetch":
		l.what = text("url")
		if u, err := url.Parse(l.what); err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") {
			l.rule, _ = rules.Exactly(tool, "domain:"+strings.ToLower(u.Hostname()))
		}
	case strings.HasPrefix(tool, "mcp__"):
		server, name, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
		l.preview = fmt.Sprintf("tool %s of the MCP server %s\n%s", name, server, l.preview)
		l.rule, _ = rules.Exactly(tool, "")
	case tool == "Skill":
		l.preview += "\nWhat its file says about tools and hooks is in force while it is used: it may permit calls, and run programs."
		if l.what = text("skill"); l.what != "" {
			l.rule, _ = rules.Exactly(tool, l.what)
		}
	case in["command"] == nil && in["path"] == nil && in["file_path"] == nil: // else the tool alone would be too much
		l.rule, _ = rules.Exactly(tool, "")
	}
	return l
}

// lookAtFile shows a call that is about one file.
func lookAtFile(tool, about string, in map[string]json.RawMessage, input json.RawMessage, cwd string) callView {
	var path string
	for _, name := range []string{"file_path", "notebook_path"} {
		if path == "" {
			_ = json.Unmarshal(in[name], &path) // of another type: none
		}
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return callView{preview: preview(input)}
	}
	target := locate(path, cwd)
	l, named := callView{what: target.path}, "/"+target.path
	if rel, err := filepath.Rel(cwd, target.path); err == nil && !target.outside && rel != "." {
		l.what, named = rel, "/"+rel
	}
	var b strings.Builder
	fmt.Fprintf(&b, "file: %s\n", target.path)
	if target.real != "" && target.real != target.path {
		fmt.Fprintf(&b, "which is a link to %s\n", target.real)
	}
	if target.outside {
		fmt.Fprintf(&b, "outside the run's folder, %s\n", cwd)
	}
	if about == "Edit" {
		b.WriteString(change(tool, in, input, target))
	} else {
		b.WriteString(members(input))
	}
	l.preview = bounded(strings.TrimRight(b.String(), "\n"))
	if target.plain {
		l.rule, _ = rules.Exactly(about, named)
	}
	return l
}

// preview shows a tool's input as it is, bounded.
func preview(input json.RawMessage) string { return bounded(members(input)) }

// members shows a tool's input: each member on its own line, texts unescaped.
func members(input json.RawMessage) string {
	if begin := bytes.TrimSpace(input); len(begin) == 0 || begin[0] != '{' || !json.Valid(input) {
		return string(input)
	}
	var b bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(input))
	_, _ = dec.Token() // the opening brace
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		fmt.Fprintf(&b, "%v: %s\n", name, text)
	}
	return strings.TrimRight(b.String(), "\n")
}

// bounded keeps the beginning of a preview, and says how much more there is.
func bounded(s string) string {
	if len(s) <= maxPreview {
		return s
	}
	kept := cutAt(s, maxPreview)
	return fmt.Sprintf("%s\n(%d bytes more)", kept, len(s)-len(kept))
}

// cutAt gives at most n bytes of a text, and breaks no rune.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A target is the file that a call names.
type target struct {
	path    string // absolute and clean, as it was named
	real    string // where its links lead; "" if that is not known
	outside bool   // of the run's folder, by either
	plain   bool   // no link is on the way, so that the path says which file it is
}

// locate finds out what a path names. It follows links by name only and opens nothing.
func locate(path, cwd string) target {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	t := target{path: filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(t.path); err == nil {
		t.real = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(t.path)); err == nil && !named(t.path) { // it is to be made
		t.real = filepath.Join(dir, filepath.Base(t.path))
	}
	t.plain = t.real == t.path
	home, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		home = cwd
	}
	t.outside = !under(t.path, cwd) && !under(t.path, home) || t.real != "" && !under(t.real, home)
	return t
}

func under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

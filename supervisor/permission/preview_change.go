package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
)

// This file shows what an edit would make of a file. The file is read at the moment in which the agent asks; claude
// itself refuses an edit of a file that has changed since it was read.

// maxCompared bounds the texts that are compared, in bytes each: the work grows faster than they do.
const maxCompared = 256 << 10

// An edit replaces a text by another one, as Edit and MultiEdit take it.
type edit struct {
	Old, New string
	All      bool
}

// UnmarshalJSON finds the members by their very names, as claude does. Those of a struct would be found in any case,
// and the person could be shown another change than the one that is made.
func (e *edit) UnmarshalJSON(doc []byte) error {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(doc, &in); err != nil {
		return err
	}
	for name, to := range map[string]any{"old_string": &e.Old, "new_string": &e.New, "replace_all": &e.All} {
		if in[name] == nil {
			continue
		}
		if err := json.Unmarshal(in[name], to); err != nil {
			return err
		}
	}
	return nil
}

// change shows what a call makes of the file that it names, as a unified diff where that can be had, else by its input.
func (e *evidence) change(tool string, in map[string]json.RawMessage, input json.RawMessage, t target) {
	before, err := readFile(t)
	after, made := "", false
	name := text.VisibleLine(filepath.Base(t.Path))
	switch {
	case tool == "NotebookEdit":
		e.cellChange(before, in, input)
		return
	case errors.Is(err, fs.ErrNotExist):
		var content string
		if tool == "Write" && json.Unmarshal(in["content"], &content) == nil && len(content) <= maxCompared {
			e.line("It is a new file.")
			e.diff(udiff.Unified("/dev/null", name, "", content))
			return
		}
		e.line("There is no such file yet.")
		e.members(input)
		return
	case err != nil:
		e.line("What it changes cannot be shown: %s.", err)
		e.members(input)
		return
	case tool == "Write":
		made = json.Unmarshal(in["content"], &after) == nil
	case tool == "Edit":
		var one edit
		if made = json.Unmarshal(input, &one) == nil; made {
			after, made = one.apply(before)
		}
	case tool == "MultiEdit":
		var several []edit
		made, after = json.Unmarshal(in["edits"], &several) == nil && len(several) <= maxEdits, before
		for i := 0; made && i < len(several); i++ {
			after, made = several[i].apply(after)
		}
	}
	switch {
	case !made:
		e.line("The file does not hold what is to be replaced.")
		e.members(input)
	case len(after) > maxCompared:
		e.line("What it changes is too much to be compared.")
		e.members(input)
	case before == after:
		e.line("It changes nothing.")
	default:
		e.diff(udiff.Unified(name, name, before, after))
	}
}

// maxEdits bounds the edits of one call that are played through.
const maxEdits = 200

// apply gives the text after the edit; false if it is not of this text, or makes too much of it.
func (e edit) apply(text string) (string, bool) {
	n := strings.Count(text, e.Old)
	if e.Old == "" || n == 0 || n > 1 && !e.All || len(text)+n*len(e.New) > 4*maxCompared {
		return "", false
	}
	return strings.ReplaceAll(text, e.Old, e.New), true
}

// cellChange shows a change of one cell of a notebook.
func (e *evidence) cellChange(notebook string, in map[string]json.RawMessage, input json.RawMessage) {
	var id, source, mode, kind string
	_, _, _ = json.Unmarshal(in["cell_id"], &id), json.Unmarshal(in["new_source"], &source),
		json.Unmarshal(in["edit_mode"], &mode)
	_ = json.Unmarshal(in["cell_type"], &kind)
	was, found := cell(notebook, id)
	if !found || mode == "insert" || len(source) > maxCompared {
		e.members(input)
		return
	}
	if mode != "" {
		e.value("edit_mode: ", mode)
	}
	if kind != "" {
		e.value("cell_type: ", kind)
	}
	if mode == "delete" {
		source = ""
	}
	name := "cell " + text.VisibleLine(id)
	e.diff(udiff.Unified(name, name, was, source))
}

// cell gives the source of a cell of a notebook; false if it has no such cell.
func cell(notebook, id string) (string, bool) {
	var doc struct {
		Cells []struct {
			ID     string          `json:"id"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if json.Unmarshal([]byte(notebook), &doc) != nil || id == "" {
		return "", false
	}
	for _, cell := range doc.Cells {
		if cell.ID != id {
			continue
		}
		var lines []string
		var whole string
		if json.Unmarshal(cell.Source, &lines) == nil {
			return strings.Join(lines, ""), true
		}
		return whole, json.Unmarshal(cell.Source, &whole) == nil
	}
	return "", false
}

var errNotText = errors.New("the file is not text")

// readFile reads the file that a call names.
func readFile(t target) (string, error) {
	path := t.Real
	if path == "" {
		if path = t.Path; named(path) {
			return "", errors.New("it is a link that leads nowhere")
		}
	}
	return readText(path, maxCompared)
}

// readText reads a file of text. What is no regular file is not opened in a way that would wait for it, and has no
// text.
func readText(path string, most int64) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if of := new(fs.PathError); errors.As(err, &of) {
		return "", of.Err
	} else if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", supervisor.ErrNotRegular
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(text)) > most:
		return "", fmt.Errorf("the file is larger than %d KiB", most>>10)
	case !utf8.Valid(text):
		return "", errNotText
	}
	return string(text), nil
}

// named reports whether anything has this name, a link that leads nowhere included.
func named(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

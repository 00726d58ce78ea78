package permission

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/text"
)

// This file shows what a call makes of the file that it names. The file is read at the moment in which the agent asks,
// and once more before the call is allowed (supervisor/engine): claude also changes one that has changed since.
//
// A change is shown as a diff only where it is certain that claude makes that one (preview_edit.go, preview_cell.go),
// of every release that we support: e2e TestWhatIsShownOfAChangeIsWhatClaudeWrites compares what was shown with what is
// written. Else it is said why it cannot be shown, the input stands there whole, and no rule is offered.

// maxCompared bounds the texts that are compared, in bytes each: the work grows faster than they do.
const maxCompared = 256 << 10

// change shows what a call makes of the file that it names, and reports whether that is certain.
func (e *evidence) change(tool string, in map[string]json.RawMessage, input json.RawMessage, t target) bool {
	was, err := readFile(t)
	isNew := errors.Is(err, fs.ErrNotExist)
	var diff string
	switch {
	case err != nil && !isNew:
	case tool == "NotebookEdit":
		diff, err = e.cellChange(was, in)
	default:
		name, from := text.VisibleLine(filepath.Base(t.Path)), "/dev/null"
		if isNew {
			e.line("It is a new file.")
		} else {
			from = name
		}
		var after string
		if after, err = was.after(tool, isNew, in); err == nil && !isNew && after == was.raw {
			e.line("It changes nothing.")
			return true
		}
		if err == nil {
			diff = udiff.Unified(from, name, was.raw, after)
		}
	}
	if err != nil {
		e.line("What it makes of the file cannot be shown: %s.", err)
		e.members(calls.Of(tool), input)
		return false
	}
	e.diff(diff)
	return true
}

package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/supervisor/text"
)

// cellChange shows what NotebookEdit makes of a notebook, and returns the diff of the one cell that it replaces. claude
// writes the notebook anew from what JavaScript has read of it.
func (e *evidence) cellChange(notebook fileText, in map[string]json.RawMessage) (string, error) {
	source, err := stringIn(in, "new_source")
	if err != nil {
		return "", err
	}
	var id, mode, kind string
	for name, to := range map[string]*string{"cell_id": &id, "edit_mode": &mode, "cell_type": &kind} {
		if in[name] == nil {
			continue
		}
		if *to, err = stringIn(in, name); err != nil {
			return "", err
		}
	}
	if len(source) > maxCompared {
		return "", errTooMuch
	}
	cells, ok := cellsOf(notebook.raw)
	if !ok || notebook.odd != "" {
		return "", errors.New("the file does not read as a notebook")
	}
	at := cellAt(cells, id)
	if at < 0 && (id != "" || mode != "insert") {
		return "", errors.New("the notebook has no such cell")
	}
	name, was := "cell "+text.VisibleLine(id), ""
	switch mode {
	case "insert":
		name = "new cell"
		if at < 0 {
			e.line("It is a new cell, the first one, of type %s.", kind)
		} else {
			e.line("It is a new cell after cell %s, of type %s.", id, kind)
		}
	case "", "replace", "delete":
		if was, ok = sourceOf(cells[at]); !ok {
			return "", errors.New("the cell's source is no text")
		}
		if mode == "delete" {
			e.line("The cell is deleted, with its outputs.")
			source = ""
		} else {
			e.line("The cell's outputs, if it has any, are removed.")
		}
		if kind != "" {
			e.line("It becomes one of type %s.", kind)
		}
	default:
		return "", fmt.Errorf("nothing is known of the edit_mode %s", text.Line(mode, text.MaxNamed))
	}
	e.line("The other cells keep their sources; the notebook's own form may change.")
	return udiff.Unified(name, name, was, source), nil
}

// A cell has its members by their very names, as claude finds them: those of a struct would be found in any case.
type cell map[string]json.RawMessage

// cellsOf returns the cells of a notebook.
func cellsOf(notebook string) (cells []cell, ok bool) {
	var doc map[string]json.RawMessage
	return cells, json.Unmarshal([]byte(notebook), &doc) == nil && json.Unmarshal(doc["cells"], &cells) == nil
}

// cellAt finds a cell by its id, or by its place as in cell-3; -1 if there is none.
func cellAt(cells []cell, named string) int {
	if named == "" {
		return -1
	}
	for i, c := range cells {
		if id, err := stringIn(c, "id"); err == nil && id == named {
			return i
		}
	}
	if place, is := strings.CutPrefix(named, "cell-"); is {
		if i, err := strconv.ParseUint(place, 10, 31); err == nil && int(i) < len(cells) {
			return int(i)
		}
	}
	return -1
}

// sourceOf returns the source of a cell, which is a text or its lines.
func sourceOf(c cell) (string, bool) {
	var lines []string
	if json.Unmarshal(c["source"], &lines) == nil {
		return strings.Join(lines, ""), true
	}
	whole, err := stringIn(c, "source")
	return whole, err == nil
}

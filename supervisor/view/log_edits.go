package view

import (
	"context"
	"errors"
	"io/fs"

	"claude-supervise/procs/stream"
)

// An Edit is a change of a file that a call has made.
type Edit struct {
	Tool    string `json:"-"` // Edit or Write
	File    string `json:"file_path"`
	Old     string `json:"old_string"` // of Edit
	New     string `json:"new_string"`
	Content string `json:"content"` // of Write: all that is in the file then
}

// Edits returns what the calls in the log have changed by Edit and Write, in the order in which they were made, without
// those that failed or were not let through. It is nothing where no agent has printed anything.
func (l RunLog) Edits(ctx context.Context) (edits []Edit, err error) {
	var order []string
	asked := map[string]Edit{}
	made := map[string]bool{}
	err = l.eachEdit(ctx, func(id string, edit Edit) {
		order, asked[id] = append(order, id), edit
	}, func(id string) error {
		made[id] = true
		return nil
	})
	for _, id := range order {
		if made[id] {
			edits = append(edits, asked[id])
		}
	}
	return edits, err
}

// Edited reports whether Edits would return anything. It reads the log until that is known.
func (l RunLog) Edited(ctx context.Context) (bool, error) {
	err := l.eachEdit(ctx, func(string, Edit) {}, func(string) error { return errEdited })
	if errors.Is(err, errEdited) {
		return true, nil
	}
	return false, err
}

var errEdited = errors.New("an edit was made")

// eachEdit calls asked for each edit in the log, once, and made for each that was made, with the id of its call.
func (l RunLog) eachEdit(ctx context.Context, asked func(id string, edit Edit), made func(id string) error) error {
	known := map[string]bool{} // by id, whether it is not made yet
	err := l.Each(ctx, func(line LogLine) error {
		var e stream.Entry
		if !stream.Decode(line.Line, &e) { // no protocol, cut by a crash, or an answer
			return nil
		}
		for _, b := range e.Line.Message.Content {
			_, again := known[b.ID]
			edit := Edit{Tool: b.Name}
			switch {
			case e.Line.Type == "user" && known[b.ToolUseID]:
				if known[b.ToolUseID] = b.IsError; b.IsError {
					continue
				}
				if err := made(b.ToolUseID); err != nil {
					return err
				}
			case e.Line.Type == "assistant" && b.ID != "" && (b.Name == "Edit" || b.Name == "Write") && !again &&
				stream.Decode(b.Input, &edit):
				known[b.ID] = true
				asked(b.ID, edit)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

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
func (l RunLog) Edits(ctx context.Context) ([]Edit, error) {
	var order []string
	asked := map[string]Edit{}
	made := map[string]bool{}
	err := l.Each(ctx, func(line LogLine) error {
		var e stream.Entry
		if !stream.Decode(line.Line, &e) { // no protocol, cut by a crash, or an answer
			return nil
		}
		for _, b := range e.Line.Message.Content {
			_, again := asked[b.ID]
			edit := Edit{Tool: b.Name}
			switch {
			case e.Line.Type == "user" && b.ToolUseID != "":
				made[b.ToolUseID] = !b.IsError
			case e.Line.Type == "assistant" && b.ID != "" && (b.Name == "Edit" || b.Name == "Write") && !again &&
				stream.Decode(b.Input, &edit):
				order, asked[b.ID] = append(order, b.ID), edit
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var edits []Edit
	for _, id := range order {
		if made[id] {
			edits = append(edits, asked[id])
		}
	}
	return edits, err
}

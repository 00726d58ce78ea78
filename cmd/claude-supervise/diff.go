package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// diffOf is what a run, or the agent of it that is named, has changed, agent by agent: of one with a worktree what
// differs there from where it began, of others what their own edits have made.
func diffOf(ctx context.Context, d view.Details) (string, error) {
	r, err := view.OpenReader()
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // only read
	var all strings.Builder
	for _, a := range d.Run.Agents {
		if d.Agent != "" && a.ID != d.Agent {
			continue
		}
		var changed, where string
		if w, is := d.Worktrees[a.ID]; is && w.Base != "" {
			where = "in its worktree"
			changed, err = worktree.Diff(ctx, w.Path, w.Branch, w.Base, d.Run.Cwd)
		} else {
			where = "by its own edits"
			changed, err = editsOf(ctx, r, a.ID)
		}
		switch {
		case err != nil:
			changed = "what it changed cannot be shown: " + err.Error()
		case changed == "":
			continue
		}
		fmt.Fprintf(&all, "%s, %s:\n%s\n\n", a.ID, where, strings.TrimRight(changed, "\n"))
	}
	if all.Len() == 0 {
		return "Nothing was changed by edits, or in a worktree.\n", nil
	}
	return strings.TrimSuffix(all.String(), "\n"), nil
}

// An edit is a call of the agent that changes a file.
type edit struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input struct {
		File    string `json:"file_path"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
		Content string `json:"content"`
	} `json:"input"`
}

// editsOf are the edits of an agent that were made, as its log has them, in their order.
func editsOf(ctx context.Context, r view.Reader, agent string) (string, error) {
	log, err := r.RunLog(ctx, agent)
	if err != nil {
		return "", err
	}
	var order []string
	diffs := map[string]string{}
	made := map[string]bool{}
	err = log.Each(ctx, func(line view.LogLine) error {
		var kept struct {
			Line struct {
				Type    string `json:"type"`
				Message struct {
					Content []json.RawMessage `json:"content"`
				} `json:"message"`
			} `json:"line"`
		}
		if json.Unmarshal(line.Line, &kept) != nil { // a line of another form, or an answer
			return nil
		}
		said := kept.Line
		for _, part := range said.Message.Content {
			var call edit
			var result struct {
				Of    string `json:"tool_use_id"`
				Error bool   `json:"is_error"`
			}
			switch {
			case said.Type == "user" && json.Unmarshal(part, &result) == nil && result.Of != "":
				made[result.Of] = !result.Error
			case said.Type == "assistant" && json.Unmarshal(part, &call) == nil && call.ID != "":
				if diff := call.diff(); diff != "" && diffs[call.ID] == "" {
					order, diffs[call.ID] = append(order, call.ID), diff
				}
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var all strings.Builder
	for _, id := range order {
		if made[id] {
			all.WriteString(diffs[id])
		}
	}
	return all.String(), err
}

// diff is what the call makes of its file, "" for a call that edits none.
func (e edit) diff() string {
	switch e.Name {
	case "Edit":
		return udiff.Unified(e.Input.File, e.Input.File, e.Input.Old+"\n", e.Input.New+"\n")
	case "Write":
		return udiff.Unified("/dev/null", e.Input.File, "", e.Input.Content)
	}
	return ""
}

package request

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"claude-supervise/cmd/internal/items"
	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/supervisor/task"
)

// pool returns the tasks of a pool, one for each item; nil where there is none. In place of a template stands the task
// itself.
func (o *Request) pool(ctx context.Context, f Flags, file taskfile.File) ([]task.Child, error) {
	if file.Each == nil && f.each == "" {
		if file.Template != nil {
			return nil, usage("the task file says with child what is done with each item, but not of what: add each, " +
				"or give --each 'COMMAND'")
		}
		return nil, nil
	}
	if len(file.Children) > 0 {
		return nil, usage("--each makes a pool, and the task file states children: give one of the two")
	}
	template, shared := file.Template, file.Brief.Context
	if template == nil {
		template, shared = &taskfile.Child{Task: taskfile.Task{Prompt: o.Prompt, Brief: o.Brief}}, ""
	}
	if !template.Names() {
		return nil, usage("no text of the task says {item}: each agent of the pool would do the same; nothing was started")
	}
	if f.Detach && !InBackground() && (file.Each == nil || file.Each.Lines != "-") {
		return nil, nil // the supervisor in the background looks for them, once
	}
	found, what, err := items.Of(ctx, o.Cwd, f.each, file.Each, o.linesOfStdin)
	if err != nil {
		return nil, usage("%s: %w; nothing was started", what, err)
	}
	all := make([]task.Child, len(found))
	for i, item := range found {
		all[i] = template.Item(item, i+1, shared)
	}
	return all, nil
}

// linesOfStdin returns the items that stand on stdin, and keeps them for a supervisor in the background.
func (o *Request) linesOfStdin() ([]string, error) {
	if o.Stdin != "" {
		return nil, errors.New("the task was read from there")
	}
	var read strings.Builder
	found, err := items.Lines(io.TeeReader(os.Stdin, &read))
	o.Stdin = read.String()
	return found, err
}

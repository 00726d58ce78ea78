package commands

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/items"
	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/supervisor/host"
)

// tasks returns what is handed in, each with the id of its run: the task, or one for each item of a pool.
func (f *runFlags) tasks(ctx context.Context, t flow.Task) ([]flow.Task, error) {
	file, err := f.stated(t.File)
	if err != nil {
		return nil, err
	}
	switch {
	case f.each == "" && file.Each == nil && file.Template != nil:
		return nil, exitcode.Usage("the task file says with child what is done with each item, but not of what: add each, " +
			"or give --each 'COMMAND'; nothing was submitted")
	case f.each == "" && file.Each == nil:
		t.Run = host.NewRun()
		return []flow.Task{t}, checkRepository(t.Repo)
	case len(file.Children) > 0:
		return nil, exitcode.Usage("--each makes a run of each item, and the task file states children: give one of the two")
	case t.File != "" && !file.Names() && !strings.Contains(t.Prompt+t.Repo, "{item}"):
		return nil, exitcode.Usage("no text of the task says {item}: each run would do the same; nothing was submitted")
	}
	found, what, err := items.Of(ctx, ".", f.each, file.Each, f.linesOfStdin)
	if err != nil {
		return nil, exitcode.Usage("%s: %w; nothing was submitted", what, err)
	}
	var tasks []flow.Task
	for i, item := range found {
		one := t
		filled := strings.NewReplacer("{item}", item, "{index}", strconv.Itoa(i+1))
		one.Run, one.Prompt, one.Repo = host.NewRun(), filled.Replace(t.Prompt), filled.Replace(t.Repo)
		one.Name = filled.Replace(t.Name)
		if t.File != "" {
			if one.File, err = fileAbout(file, item, i+1); err != nil {
				return nil, exitcode.Usage("-f %s: %w; nothing was submitted", f.file, err)
			}
		}
		if err := errors.Join(f.fits(one), checkRepository(one.Repo)); err != nil {
			return nil, err
		}
		tasks = append(tasks, one)
	}
	return tasks, nil
}

// stated reads the text of a task file; "": there is none.
func (f *runFlags) stated(text string) (taskfile.File, error) {
	if text == "" {
		return taskfile.File{}, nil
	}
	file, err := taskfile.Parse([]byte(text))
	if invalid := new(yamlfile.Invalid); errors.As(err, &invalid) {
		return file, exitcode.Usage("-f %s cannot be used; nothing was submitted\n  %s", f.file,
			strings.ReplaceAll(invalid.Error(), "\n", "\n  "))
	}
	return file, err
}

// fileAbout returns the text of the task file of the run of one item, at a place from 1.
func fileAbout(file taskfile.File, item string, place int) (string, error) {
	one, err := file.About(item, place)
	if err != nil {
		return "", err
	}
	text, err := one.Write()
	return string(text), err
}

// linesOfStdin returns the items that stand on stdin.
func (f *runFlags) linesOfStdin() ([]string, error) {
	if slices.Contains([]string{f.file, f.answers, f.prompt}, "-") {
		return nil, errors.New("something else was read from there")
	}
	return items.Lines(os.Stdin)
}

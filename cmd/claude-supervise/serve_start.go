package main

import (
	"context"
	"path/filepath"
	"strings"

	"claude-supervise/cmd/internal/serving"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Start starts a run in the background, by the command that does. The same key stands for the same run; with another
// request it is refused.
func (p onPage) Start(ctx context.Context, r service.Start) (run string, made bool, err error) {
	if (strings.TrimSpace(r.Prompt) == "") == (r.Task == "") {
		return "", false, service.Misfilled("prompt", "give either a prompt or a task file")
	}
	cwd, err := serving.Within(p.folders, "cwd", r.Cwd)
	if err != nil {
		return "", false, err
	}
	field, args := "prompt", []string{"run", "--cwd", cwd, "--name", r.Name}
	if r.Task == "" {
		args = append(args, "-")
	} else {
		field = "task"
		path := r.Task
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if path, err = serving.Within(p.folders, "task", path); err != nil {
			return "", false, err
		}
		args = append(args, "-f", path)
	}
	return startAs(ctx, r, field, args)
}

// startAs starts what was asked for by the arguments of run. What that refuses is refused for a field.
func startAs(ctx context.Context, r service.Start, field string, args []string) (run string, made bool, err error) {
	run, err = onState(func(c client.Client) (string, error) {
		run := host.NewRun()
		if r.Key != "" {
			run = host.RunOf(r.Key)
			if err := r.Claim(c.Dirs.RunDir(run)); err != nil {
				return "", err
			}
			if there, err := started(ctx, c, run); there || err != nil {
				return run, err
			}
		}
		if _, err = inTheBackground(c, run, strings.NewReader(r.Prompt), nil, args...); err == nil {
			made = true
			return run, nil
		}
		if there, wrong := started(ctx, c, run); there || wrong != nil { // by another call with this key
			return run, wrong
		}
		service.Release(c.Dirs.RunDir(run)) // the key is free for a better one
		return "", service.Misfilled(field, "%v", err)
	})
	return run, made, err
}

// started reports whether there is a run of this id.
func started(ctx context.Context, c client.Client, run string) (bool, error) {
	_, err := c.Store.Run(ctx, run)
	if view.NoSuchID(err) {
		return false, nil
	}
	return err == nil, err
}

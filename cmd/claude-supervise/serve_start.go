package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// pageFolders returns folders without links; runs may be started there, and below. source is where they are named.
func pageFolders(source string, given []string) ([]string, error) {
	var folders []string
	for _, path := range given {
		whole, err := wholePath(path)
		if err != nil {
			return nil, usage("%s: %w; nothing is served", source, err)
		}
		if info, err := os.Stat(whole); err != nil || !info.IsDir() {
			return nil, usage("%s: %s is not a folder; nothing is served", source, path)
		}
		folders = append(folders, whole)
	}
	return folders, nil
}

// wholePath returns a path from the root, without links.
func wholePath(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(whole)
}

// misfilled refuses a start for what is in one of its fields.
func misfilled(field, format string, args ...any) error {
	return &service.Refusal{Reason: service.Unfit, Field: field,
		Text: fmt.Sprintf(format+"; nothing was started", args...)}
}

// within returns the path in a field, without links; a *service.Refusal if it leaves the folders that the page may use.
func (p onPage) within(what, path string) (string, error) {
	refusal := &service.Refusal{Reason: service.Elsewhere, Field: what, Command: "claude-supervise serve --folder DIR",
		Text: fmt.Sprintf("%s %s is in no folder that this page may start runs in; nothing was started", what, path)}
	if !filepath.IsAbs(path) {
		return "", misfilled(what, "%s takes a path from the root, not %q", what, path)
	}
	whole, err := filepath.EvalSymlinks(path)
	if err != nil { // of what lies elsewhere it is not even said whether it is there
		whole = filepath.Clean(path)
	}
	for _, folder := range p.folders {
		if below, wrong := filepath.Rel(folder, whole); wrong != nil || !filepath.IsLocal(below) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", misfilled(what, "there is no %s", path)
		}
		return whole, err
	}
	return "", refusal
}

// Start starts a run in the background, by the command that does. The same key stands for the same run; with another
// request it is refused.
func (p onPage) Start(ctx context.Context, r service.Start) (run string, made bool, err error) {
	if (strings.TrimSpace(r.Prompt) == "") == (r.Task == "") {
		return "", false, misfilled("prompt", "give either a prompt or a task file")
	}
	cwd, err := p.within("cwd", r.Cwd)
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
		if path, err = p.within("task", path); err != nil {
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
			if err := forRequest(c.Dirs.RunDir(run), r); err != nil {
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
		_ = os.Remove(requestOf(c.Dirs.RunDir(run))) // the key is free for a better one
		return "", misfilled(field, "%v", err)
	})
	return run, made, err
}

// requestOf is where the folder of a run with a key says what it was started with: a link, which is made whole or not
// at all, and leads nowhere.
func requestOf(folder string) string { return filepath.Join(folder, "request") }

// forRequest has the run of a key stand for a request; a *service.Refusal if it stands for another.
func forRequest(folder string, r service.Start) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if err = os.Symlink(sum, requestOf(folder)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	if before, err := os.Readlink(requestOf(folder)); err != nil || before == sum {
		return err
	}
	return service.Refused("this Idempotency-Key came with another request before; give a new request a new key; " +
		"nothing was started")
}

// started reports whether there is a run of this id.
func started(ctx context.Context, c client.Client, run string) (bool, error) {
	_, err := c.Store.Run(ctx, run)
	if view.NoSuchID(err) {
		return false, nil
	}
	return err == nil, err
}

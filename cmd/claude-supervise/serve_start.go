package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/view"
)

// pageFolders gives the folders that --folder names, without links; runs may be started there, and below.
func pageFolders(given []string) ([]string, error) {
	var folders []string
	for _, path := range given {
		whole, err := wholePath(path)
		if err != nil {
			return nil, usage("--folder: %w; nothing is served", err)
		}
		if info, err := os.Stat(whole); err != nil || !info.IsDir() {
			return nil, usage("--folder: %s is no folder; nothing is served", path)
		}
		folders = append(folders, whole)
	}
	return folders, nil
}

// wholePath gives a path from the root, without links.
func wholePath(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(whole)
}

// within gives a path without links; a *web.Refusal if it leaves the folders that the page may use.
func (a pageActions) within(what, path string) (string, error) {
	refusal := &web.Refusal{Status: http.StatusForbidden, Command: "claude-supervise serve --folder DIR",
		Text: fmt.Sprintf("%s %s is in no folder that this page may start runs in; nothing was started", what, path)}
	if !filepath.IsAbs(path) {
		return "", refused("%s takes a path from the root, not %q; nothing was started", what, path)
	}
	whole, err := filepath.EvalSymlinks(path)
	if err != nil { // of what lies elsewhere it is not even said whether it is there
		whole = filepath.Clean(path)
	}
	for _, folder := range a.folders {
		if below, wrong := filepath.Rel(folder, whole); wrong != nil || !filepath.IsLocal(below) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", refused("%s: there is no %s; nothing was started", what, path)
		}
		return whole, err
	}
	return "", refusal
}

// Start starts a run in the background, by the command that does. The same key stands for the same run.
func (a pageActions) Start(ctx context.Context, r web.Start) (run string, made bool, err error) {
	if (strings.TrimSpace(r.Prompt) == "") == (r.Task == "") {
		return "", false, refused("give either a prompt or a task file; nothing was started")
	}
	cwd, err := a.within("cwd", r.Cwd)
	if err != nil {
		return "", false, err
	}
	args := []string{"run", "--cwd", cwd, "--name", r.Name}
	if r.Task == "" {
		args = append(args, "-")
	} else {
		path := r.Task
		if !filepath.IsAbs(path) {
			path = filepath.Join(cwd, path)
		}
		if path, err = a.within("task", path); err != nil {
			return "", false, err
		}
		args = append(args, "-f", path)
	}
	c, err := openClient()
	if err != nil {
		return "", false, err
	}
	defer func() { _ = c.Close() }() // nothing was written
	run = host.NewRun()
	if r.Key != "" {
		run = host.RunOf(r.Key)
		if there, err := started(ctx, c, run); there || err != nil {
			return run, false, err
		}
	}
	if _, err = inTheBackground(c, run, strings.NewReader(r.Prompt), nil, args...); err == nil {
		return run, true, nil
	}
	if there, wrong := started(ctx, c, run); there || wrong != nil { // by another call with this key
		return run, false, wrong
	}
	return "", false, refused("%v", err)
}

// started reports whether there is a run of this id.
func started(ctx context.Context, c client.Client, run string) (bool, error) {
	_, err := c.Run(ctx, run)
	if view.NoSuchID(err) {
		return false, nil
	}
	return err == nil, err
}

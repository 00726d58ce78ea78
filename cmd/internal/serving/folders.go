package serving

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/service"
)

// SetDefaults gives the flags of serve that the person has not given the values of their own config. What it
// returns names where the folders are named.
func (f *Flags) SetDefaults(given *pflag.FlagSet, folders *[]string, c config.Config) (source string) {
	if !f.Chosen && c.Serve.Listen != "" {
		f.Listen, f.Chosen = c.Serve.Listen, true
	}
	if !given.Changed("host") {
		f.Hosts = c.Serve.Hosts
	}
	source = "--folder"
	if !given.Changed("folder") {
		*folders, source = c.Serve.Folders, "serve.folders in "+c.Path
	}
	if u, err := url.Parse(c.Serve.URL); err == nil && u.Hostname() != "" {
		f.Hosts = append(f.Hosts, u.Hostname())
	}
	return source
}

// Folders returns folders without links; runs may be started there, and below. source is where they are named.
func Folders(source string, given []string) ([]string, error) {
	var folders []string
	for _, path := range given {
		whole, err := WholePath(path)
		if err != nil {
			return nil, exitcode.Usage("%s: %w; nothing is served", source, err)
		}
		if info, err := os.Stat(whole); err != nil || !info.IsDir() {
			return nil, exitcode.Usage("%s: %s is not a folder; nothing is served", source, path)
		}
		folders = append(folders, whole)
	}
	return folders, nil
}

// WholePath returns a path from the root, without links.
func WholePath(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(whole)
}

// Within returns the path in a field, without links; a *service.Refusal if it leaves the folders that the page may use.
func Within(folders []string, what, path string) (string, error) {
	refusal := &service.Refusal{Reason: service.Elsewhere, Field: what, Command: "claude-supervise serve --folder DIR",
		Text: fmt.Sprintf("%s %s is in no folder that this page may start runs in; nothing was started", what, path)}
	if !filepath.IsAbs(path) {
		return "", service.Misfilled(what, "%s takes a path from the root, not %q", what, path)
	}
	whole, err := filepath.EvalSymlinks(path)
	if err != nil { // of what lies elsewhere it is not even said whether it is there
		whole = filepath.Clean(path)
	}
	for _, folder := range folders {
		if below, wrong := filepath.Rel(folder, whole); wrong != nil || !filepath.IsLocal(below) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", service.Misfilled(what, "there is no %s", path)
		}
		return whole, err
	}
	return "", refusal
}

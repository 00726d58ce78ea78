package main

import (
	"fmt"
	"os"
	"path/filepath"

	"claude-supervise/cmd/internal/news"
)

// newDemoFolder makes a folder for a demo.
func newDemoFolder() (string, error) {
	folder, err := os.MkdirTemp("", news.DemoFolder)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // agents see where a link to the temporary folder leads
	}
	if err != nil {
		return "", fmt.Errorf("the demo gets no folder to work in; nothing was started; --cwd DIR names one: %w", err)
	}
	return folder, nil
}

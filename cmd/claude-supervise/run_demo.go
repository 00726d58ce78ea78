package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// demoFolder is how the name of a demo's own folder begins.
const demoFolder = "supervise-demo-"

// newDemoFolder makes a folder for a demo.
func newDemoFolder() (string, error) {
	folder, err := os.MkdirTemp("", demoFolder)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder) // agents see where a link to the temporary folder leads
	}
	if err != nil {
		return "", fmt.Errorf("the demo gets no folder to work in; nothing was started; --cwd DIR names one: %w", err)
	}
	return folder, nil
}

// placed is the folder of a run as it is told, with whose it is where that is a demo's.
func placed(cwd string) string {
	if strings.HasPrefix(filepath.Base(cwd), demoFolder) {
		return cwd + " (the demo's own)"
	}
	return cwd
}

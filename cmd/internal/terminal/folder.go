package terminal

import (
	"os"
	"path/filepath"

	"claude-supervise/supervisor/questions"
)

// OnDisk is where a person answers from, in a folder of this machine.
func OnDisk(dir string) questions.Place {
	return questions.Place{Dir: dir, Stat: func(path string) error { _, err := os.Stat(path); return err }}
}

// FromHome shortens a folder for people, as a shell does.
func FromHome(folder string) string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return folder
	}
	if below, err := filepath.Rel(home, folder); err == nil && filepath.IsLocal(below) {
		return filepath.Join("~", below)
	}
	return folder
}

package terminal

import (
	"os"
	"path/filepath"
)

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

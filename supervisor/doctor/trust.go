package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/text"
)

// What is trusted: managed settings, the person's own settings, and the person's flags. Nothing else grants or runs
// anything; supervisor/doc.go says what holds that.

// managedSettings is where an administrator's settings lie.
const managedSettings = "/etc/claude-code/managed-settings.json"

// trustIn is what doctor has to say of a folder: what is trusted there, and what of the folder's own files is not.
func trustIn(cwd, claude string) Finding {
	own := permission.InFolder{Narrowing: permission.Narrowing{Shape: map[string]any{}}}
	sources := []string{}
	if _, err := os.Stat(managedSettings); err == nil {
		sources = append(sources, managedSettings)
	}
	settings := filepath.Join(claude, "settings.json")
	if _, err := os.Stat(settings); err == nil {
		n := len(own.Settings(cwd, cwd, settings))
		sources = append(sources, fmt.Sprintf("%s (%s)", settings, text.Plural(n, "allowed rule", "allowed rules")))
	}
	if len(sources) == 0 {
		sources = []string{"no settings of yours"}
	}
	lost := permission.LookInFolder(permission.ProjectFolder{Cwd: cwd, Claude: claude},
		supervisor.Config{}).LostInWords()
	if lost == "" {
		lost = "nothing in this folder's own files to be left out"
	}
	return Finding{Name: "trust", OK: true, Text: strings.Join(sources, ", ") + "; " + lost}
}

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/text"
)

// What is trusted: managed settings, the person's own settings, and the person's flags. Nothing else grants or runs
// anything; supervisor/doc.go says what holds that.

// trustIn is what doctor has to say of a folder: what is trusted there, and what of the folder's own files is not.
func trustIn(cwd, claude string) Finding {
	own := permission.InFolder{Narrowing: permission.Narrowing{Shape: map[string]any{}}}
	sources := []string{}
	managed := filepath.Join(permission.ManagedFolder(), "managed-settings.json")
	if _, err := os.Stat(managed); err == nil {
		sources = append(sources, managed)
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
		conf.Config{}).LostInWords()
	if lost == "" {
		lost = "nothing in this folder's own files to be left out"
	}
	return Finding{Name: "trust", OK: true, Text: strings.Join(sources, ", ") + "; " + lost}
}

// settingsOf are the findings about the person's own settings: one for each that breaks a promise of runs, or would if
// runs did not hold it.
func settingsOf(cwd, claude string) (found []Finding) {
	for _, u := range permission.PersonSettings(claude, nil, cwd).Undercuts() {
		found = append(found, Finding{Name: "settings", OK: u.Held, Text: u.String()})
	}
	if found == nil {
		found = []Finding{{Name: "settings", OK: true, Text: "none of your settings breaks a promise of runs"}}
	}
	return found
}

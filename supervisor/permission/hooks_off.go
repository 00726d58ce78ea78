package permission

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// HasHook reports whether the person's settings, in their folder .claude, have a hook for an event.
func HasHook(claude, event string) bool {
	var settings struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	raw, err := readText(filepath.Join(claude, "settings.json"), maxSettings)
	return err == nil && json.Unmarshal([]byte(raw), &settings) == nil && settings.Hooks[event] != nil
}

// HooksOff says which setting keeps claude from calling the person's own hooks in a session in a folder that nobody
// supervises, and what to do; "": none does. Runs do not need those. The folder of the person's settings is .claude.
// Measured on 2.1.332: disableAllHooks counts wherever it stands, allowManagedHooksOnly in an administrator's settings.
func HooksOff(claude, cwd string) string {
	sources := PersonSettings(claude, nil, cwd).sources
	for _, name := range []string{"settings.json", "settings.local.json"} {
		path := filepath.Join(cwd, ".claude", name)
		var settings map[string]any
		if raw, err := readText(path, maxSettings); err == nil && json.Unmarshal([]byte(raw), &settings) == nil {
			sources = append(sources, source{path, settings, false})
		}
	}
	for _, s := range sources {
		for _, name := range []string{"disableAllHooks", "allowManagedHooksOnly"} {
			if s.settings[name] != true || name == "allowManagedHooksOnly" && !s.managed {
				continue
			}
			says := fmt.Sprintf("%s in %s keeps claude from calling the hooks of `init --sessions`: such sessions ask on their "+
				"screens alone. ", name, s.from)
			switch {
			case !s.managed:
				return says + "To have them ask here, remove it"
			case name == "disableAllHooks":
				return says + "To have them ask here, ask your administrator to remove it"
			}
			return says + "To have them ask here, ask your administrator to add those hooks to that file; `init --sessions " +
				"--dry-run` shows them"
		}
	}
	return ""
}

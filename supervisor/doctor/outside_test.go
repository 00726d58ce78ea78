package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/sessions"
)

func TestAClaudeThatLeavesTheSettingsOutForAHookIsNamed(t *testing.T) {
	dirs, folder, cwd := checkpoints.Dirs{State: t.TempDir()}, t.TempDir(), t.TempDir()
	if err := sessions.WriteModes(dirs, sessions.Modes{cwd: sessions.ModeAsk}); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(folder, "settings.json")
	for _, c := range []struct {
		settings, version string
		lacks             bool
	}{
		{`{"hooks":{"Elicitation":[],"PermissionRequest":[]}}`, "2.1.7", true},
		{`{"hooks":{"Elicitation":[],"PermissionRequest":[]}}`, "2.1.332", false},
		{`{"hooks":{"Elicitation":[],"PermissionRequest":[]}}`, "", false},
		{`{"hooks":{"PermissionRequest":[]}}`, "2.1.7", false},
	} {
		if err := os.WriteFile(settings, []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		f := sessionsIn(dirs, cwd, folder, c.version)
		if len(f) != 1 || f[0].Lacks != c.lacks || c.lacks && !strings.Contains(f[0].Text, settings) {
			t.Errorf("of %s on %q it says %+v", c.settings, c.version, f)
		}
	}
}

package host

import (
	"os"
	"path/filepath"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/records"
)

func TestACommandIsStartedWithoutTheSettingsOfClaudeInItsFolder(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := []byte(`{"permissions": {"allow": ["Bash(make:*)"]}}`)
	if err := os.WriteFile(filepath.Join(folder, ".claude", "settings.json"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	m := Machine{Dirs: checkpoints.Dirs{State: t.TempDir()}, Claude: t.TempDir()}
	s := supervisor.State{Records: records.Records{Run: &supervisor.Run{ID: "r-00000001", Cwd: folder}},
		Config: conf.Config{Exec: []string{"/bin/agent"}}}
	spec := procs.Spec{Dir: folder}
	untaken, err := m.inProject(&spec, s, "a-000001")
	if err != nil || untaken != "" || len(spec.Flags)+len(spec.Extra) > 0 {
		t.Errorf("it is given %q %q, told %q, error %v", spec.Flags, spec.Extra, untaken, err)
	}
}

package request

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/supervisor/doctor"
)

func TestDoctorSaysWhereEachDefaultComesFrom(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Chdir(t.TempDir())
	path := filepath.Join(home, "claude-supervise", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("hold: 10m\nmodel: opus\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var f Flags
	cmd := &cobra.Command{Use: "run"}
	AddFlags(cmd, &f)
	found := InForce("/bin/claude", cmd.Flags())
	if !found.OK || found.Text != path {
		t.Fatalf("%+v", found)
	}
	for _, want := range []doctor.Setting{{Flag: "model", Value: "opus", From: "config.yaml:2"},
		{Flag: "claude", Value: "/bin/claude", From: "flag"}, {Flag: "delegate", Value: "ask", From: FromDefault}} {
		if !slices.Contains(found.Settings, want) {
			t.Errorf("%v is not in %v", want, found.Settings)
		}
	}
}

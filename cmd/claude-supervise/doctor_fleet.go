package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor/doctor"
)

// versionPatience is how long doctor waits for a program of ours to say its version.
const versionPatience = 30 * time.Second

// fleetFound says which of the programs of a fleet are here, and whether they are of this program's release. It begins
// with words of ours: a report has those, and no path.
func fleetFound(ctx context.Context) doctor.Finding {
	f := doctor.Finding{Name: "fleet", OK: true}
	path, _, err := programs.Find(fleetProgram)
	switch {
	case err != nil:
		f.OK, f.Text = false, err.Error()
		return f
	case path == "":
		f.Text = "not installed; only claude-supervise fleet needs it"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	printed, err := exec.CommandContext(ctx, path, "--version").Output()
	said := strings.TrimSpace(string(printed))
	switch {
	case err != nil:
		f.OK = false
		f.Text = fmt.Sprintf("does not start: %s: %v; install %s again, or remove it", path, err, fleetProgram)
		return f
	case said == release.Line(fleetProgram):
		f.Text = "the same release as this program (" + path + ")"
	default:
		f.Text = fmt.Sprintf("another release than this program: %s says %q, not %q; install both of one release", path,
			said, release.Line(fleetProgram))
	}
	if server, _, err := programs.Find(fleetProgram + "-dev"); err == nil && server == "" {
		f.Text += "; without " + fleetProgram + "-dev, the server of fleet dev"
	}
	return f
}

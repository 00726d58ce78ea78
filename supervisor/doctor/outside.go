package doctor

import (
	"context"
	"fmt"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/sessions"
)

// Elicits reports whether the claude that is found here calls a hook for what MCP servers ask. It waits for claude to
// say its version.
func Elicits(env []string) bool {
	path, err := FindClaude("", env)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), doctorPatience)
	defer cancel()
	version, err := claude.Version(ctx, path)
	return err == nil && claude.ReleaseOf(version).Elicits
}

// sessionsIn is what is to be said of the sessions in a folder that nobody supervises; nothing where the person has not
// asked for their questions. The version is that of the claude that is found here, "" where it is not known.
func sessionsIn(dirs checkpoints.Dirs, cwd, folder, version string) []Finding {
	modes, err := sessions.ReadModes(dirs)
	f := Finding{Name: "sessions", OK: true}
	off := permission.HooksOff(folder, cwd)
	switch mode := modes.Of(cwd); {
	case err != nil:
		f.OK, f.Text = false, err.Error()
	case mode == sessions.ModeOff:
		return nil
	case off != "":
		f.Lacks, f.Text = true, off
	case version != "" && !claude.ReleaseOf(version).Elicits && permission.HasHook(folder, "Elicitation"):
		f.Lacks, f.Text = true, fmt.Sprintf("claude %s leaves all of %s out, for a hook in it that it does not know "+
			"(Elicitation): its sessions ask on their screens alone. To have them ask here, run `claude-supervise init "+
			"--sessions` again, or update claude", version, filepath.Join(folder, "settings.json"))
	case mode == sessions.ModeNotify:
		f.Text = "what ordinary sessions ask in this folder is shown here, and answered on their screens"
	default:
		f.Text = "what ordinary sessions ask in this folder is asked here, too"
	}
	return []Finding{f}
}

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/skill"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/sessions"
)

// everywhere is how the mode of all folders is shown.
const everywhere = "all folders"

// wantsSessions is what is to be done for the questions of ordinary sessions: the hooks in the person's own settings,
// and the mode of this folder, or with User of all that have none of their own. The last mode takes the hooks with it.
func wantsSessions(f Flags) ([]change, error) {
	mode := sessions.Mode(f.Sessions)
	if !slices.Contains([]sessions.Mode{sessions.ModeAsk, sessions.ModeNotify, sessions.ModeOff}, mode) {
		return nil, exitcode.Usage("--sessions takes ask, notify or off, and not %q", f.Sessions)
	}
	if f.Hook {
		return nil, exitcode.Usage("--sessions does nothing else: call init again for --hook")
	}
	settings, err := initPlace(true)
	if err != nil {
		return nil, err
	}
	folder := ""
	if !f.User {
		if folder, err = os.Getwd(); err == nil {
			folder, err = filepath.EvalSymlinks(folder)
		}
		if err != nil {
			return nil, fmt.Errorf("the current folder is not known: %w", err)
		}
	}
	dirs, err := client.DefaultDirs()
	if err != nil {
		return nil, err
	}
	modes, err := sessions.ReadModes(dirs)
	if err != nil {
		return nil, err
	}
	next := sessions.Modes{}
	for at, m := range modes {
		next[at] = m
	}
	if next[folder] = mode; f.Undo {
		if delete(next, folder); f.User {
			clear(next)
		}
	}
	part := skill.Sessions(doctor.Elicits(os.Environ()))
	hooks, err := personsFile{place: settings, rel: settings.settings, part: part}.wanted(len(next) == 0)
	set := change{shown: "sessions in " + folder, said: " " + string(mode)}
	if folder == "" {
		set.shown = "sessions in " + everywhere
	}
	before, known := modes[folder]
	switch {
	case f.Undo && !known && len(next) == len(modes):
		set.said = "have no mode of their own"
	case f.Undo:
		set.verb, set.said = removes, ": their mode"
	case known && before == mode:
		set.said = "are set to " + string(mode) + " already"
	default:
		set.verb, set.said = verb{"set", "set"}, " to "+string(mode)
	}
	if set.verb == stays {
		set.shown = "The " + set.shown
	}
	set.do = func() error { return sessions.WriteModes(dirs, next) }
	if len(next) == 0 { // what is off at once does not wait for settings that cannot be changed
		if err != nil && set.verb != stays {
			hooks.verb, hooks.said, err = stays, "stays as it is: "+err.Error(), nil
		}
		return []change{set, hooks}, err
	}
	if !f.Undo && mode != sessions.ModeOff {
		hooks.note = hookNote(filepath.Dir(filepath.Join(settings.base, settings.settings)), folder)
	}
	return []change{hooks, set}, err
}

// hookNote says what would keep claude from calling the hooks.
func hookNote(claude, folder string) string {
	if folder == "" {
		folder = claude // has no settings of a project below it
	}
	if off := permission.HooksOff(claude, folder); off != "" {
		return off
	}
	if _, err := exec.LookPath("claude-supervise"); err != nil {
		return "claude-supervise is not on your PATH: claude finds it only there"
	}
	return "sessions that are open now ask here once they are started again"
}

package conf

import (
	"slices"
	"strings"

	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/text"
)

// Trusted lists what the person's flags let happen in a run beyond their settings, each in words. It is empty where the
// settings alone decide.
func (cfg Config) Trusted() []string {
	all := slices.Clone(cfg.Allow)
	if cfg.AllowProject {
		all = append(all, "all that the folder's own files permit and run (--allow project)")
	}
	if cfg.AllowSessions {
		all = append(all, "messages to and from your other sessions (--allow sessions)")
	}
	if slices.Contains(cfg.Delegate, AutoDelegations) {
		all = append(all, "agents start others (--delegate auto)")
	}
	if _, loose := claude.HarmlessFlags(cfg.Flags); len(loose) > 0 {
		all = append(all, "flags of claude: "+strings.Join(loose, " "))
	}
	for i := range all {
		all[i] = text.Visible(all[i])
	}
	return all
}

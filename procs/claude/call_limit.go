package claude

import (
	"strconv"
	"time"

	"claude-supervise/procs"
)

// defaultCallLimit is how long the Bash tool lets a command run that is given no limit of its own, on all releases that
// were measured.
const defaultCallLimit = 120 * time.Second

// CallLimit tells how long a process with this environment may run if the Bash tool of an agent has started it,
// directly or by a script; env is as in Spec. After that the tool puts it in the background, where its caller does not
// hear of its end, or ends it, where there is no background (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS) or its command
// begins with sleep. The model may give a command a limit of its own, which nothing tells the command. false: it was
// not started so, and there is no limit.
func CallLimit(env []string) (time.Duration, bool) {
	if procs.Lookup(env, "CLAUDECODE") == "" {
		return 0, false
	}
	ms, err := strconv.ParseInt(procs.Lookup(env, "BASH_DEFAULT_TIMEOUT_MS"), 10, 32)
	if err != nil || ms <= 0 {
		return defaultCallLimit, true
	}
	return time.Duration(ms) * time.Millisecond, true
}

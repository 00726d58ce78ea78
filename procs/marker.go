package procs

import (
	"slices"
	"strconv"
	"strings"
)

// The environment variables that mark every process of a launch.
const (
	EnvRun    = "CLAUDE_SUPERVISE_RUN"
	EnvAgent  = "CLAUDE_SUPERVISE_AGENT"
	EnvLaunch = "CLAUDE_SUPERVISE_LAUNCH"
)

// EnvState carries the folder of the state beside them: a run that is started inside an agent finds its parent there,
// whatever HOME and XDG_STATE_HOME say.
const EnvState = "CLAUDE_SUPERVISE_STATE"

// A Marker says which launch a process belongs to. It is inherited by whatever a child starts, in the environment and,
// on Linux, as a resource limit that limits nothing, and found again by Sweep after the supervisor that made the launch
// is gone.
type Marker struct {
	Run, Agent string
	Launch     int
}

func (m Marker) env() []string {
	return []string{EnvRun + "=" + m.Run, EnvAgent + "=" + m.Agent, EnvLaunch + "=" + strconv.Itoa(m.Launch)}
}

// on reports whether an environment, as NUL-terminated entries, carries the marker.
func (m Marker) on(environ string) bool {
	missing := m.env()
	for entry := range strings.SplitSeq(environ, "\x00") {
		missing = slices.DeleteFunc(missing, func(want string) bool { return want == entry })
		if len(missing) == 0 {
			return true
		}
	}
	return false
}

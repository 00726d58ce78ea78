package procs

import (
	"os"
	"strconv"
	"strings"
)

// Inside tells whether this process was started by a launch, by its own environment or that of a process above it: an
// agent can take the marker out of what it starts, yet not out of itself. env is as in Spec.
func Inside(env []string) (Marker, bool) {
	if env == nil {
		env = os.Environ()
	}
	if m, ok := markerIn(env); ok {
		return m, true
	}
	for pid := os.Getppid(); pid > 1; {
		if m, ok := markerIn(strings.Split(environ(pid), "\x00")); ok {
			return m, true
		}
		p, err := read(pid)
		if err != nil || p.parent == pid {
			break
		}
		pid = p.parent
	}
	return Marker{}, false
}

// markerIn reads the marker of an environment.
func markerIn(env []string) (Marker, bool) {
	m := Marker{Run: lookup(env, EnvRun), Agent: lookup(env, EnvAgent)}
	m.Launch, _ = strconv.Atoi(lookup(env, EnvLaunch)) // without a number it is a marker all the same
	return m, m.Run != "" && m.Agent != ""
}

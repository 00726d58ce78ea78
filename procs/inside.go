package procs

import (
	"os"
	"strconv"
	"strings"
)

// Inside reports whether this process was started by a launch, by its own environment or that of a process above it: an
// agent can take the marker out of what it starts, yet not out of itself. env is as in Spec.
func Inside(env []string) (Marker, bool) {
	m, _, ok := insideOf(ownOr(env), os.Getppid())
	return m, ok
}

// StateOf gives the folder of the state in which the run of a launch is kept that has started this process, as the
// marker that Inside finds says it; "" where it does not.
func StateOf(env []string) string {
	_, state, _ := insideOf(ownOr(env), os.Getppid())
	return state
}

// Unmarked reports whether this process was started by a launch that can only be told by its tag: its environment was
// taken from it, and the processes above it are gone or say nothing.
func Unmarked(env []string) bool {
	_, marked := Inside(env)
	return !marked && tagged()
}

func ownOr(env []string) []string {
	if env == nil {
		return os.Environ()
	}
	return env
}

// insideOf gives the marker of a process: that of its environment, else of the first one above it that has one.
func insideOf(env []string, parent int) (m Marker, state string, ok bool) {
	if m, ok := markerIn(env); ok {
		return m, lookup(env, EnvState), true
	}
	for pid := parent; pid > 1; {
		env := strings.Split(environ(pid), "\x00")
		if m, ok := markerIn(env); ok {
			return m, lookup(env, EnvState), true
		}
		p, err := read(pid)
		if err != nil || p.parent == pid {
			break
		}
		pid = p.parent
	}
	return Marker{}, "", false
}

// markerIn reads the marker of an environment.
func markerIn(env []string) (Marker, bool) {
	m := Marker{Run: lookup(env, EnvRun), Agent: lookup(env, EnvAgent)}
	m.Launch, _ = strconv.Atoi(lookup(env, EnvLaunch)) // without a number it is a marker all the same
	return m, m.Run != "" && m.Agent != ""
}

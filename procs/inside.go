package procs

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// Inside reports whether this process was started by a launch, by its own environment or that of a process above it: an
// agent can take the marker out of what it starts, yet not out of itself. env is as in Spec.
func Inside(env []string) (Marker, bool) {
	p := placeOfThis(env)
	return p.marker, p.inside
}

// StateOf returns the folder of the state in which the run of a launch is kept that has started this process, as the
// marker that Inside finds says it; "" where it does not.
func StateOf(env []string) string {
	return placeOfThis(env).state
}

// Unmarked reports whether this process was started by a launch that can only be told by its tag: its environment was
// taken from it, and the processes above it are gone or say nothing.
func Unmarked(env []string) bool {
	_, marked := Inside(env)
	return !marked && tagged()
}

// A place says whether a process is inside a launch, and in which. The zero place is outside.
type place struct {
	marker Marker
	state  string // the folder of the state in which its run is kept
	inside bool
}

// above is the place of this process as the processes above it tell. It is looked up once: a process that was started
// inside a launch stays so, whatever becomes of those above it, and none gets into one later.
var above = sync.OnceValue(func() place { return placeBelow(os.Getppid()) })

func placeOfThis(env []string) place {
	if p := placeIn(env); p.inside {
		return p
	}
	return above()
}

// placeOf returns the place of a process: that which its environment tells, else that of the first one above it that
// tells one.
func placeOf(env []string, parent int) place {
	if p := placeIn(env); p.inside {
		return p
	}
	return placeBelow(parent)
}

// placeBelow returns the place of what a process has started without a marker.
func placeBelow(parent int) place {
	for pid := parent; pid > 1; {
		if p := placeIn(strings.Split(environ(pid), "\x00")); p.inside {
			return p
		}
		p, err := read(pid)
		if err != nil || p.parent == pid {
			break
		}
		pid = p.parent
	}
	return place{}
}

func placeIn(env []string) place {
	m, ok := markerIn(env)
	if !ok {
		return place{}
	}
	return place{m, Lookup(env, EnvState), true}
}

// markerIn reads the marker of an environment.
func markerIn(env []string) (Marker, bool) {
	m := Marker{Run: Lookup(env, EnvRun), Agent: Lookup(env, EnvAgent)}
	m.Launch, _ = strconv.Atoi(Lookup(env, EnvLaunch)) // without a number it is a marker all the same
	return m, m.Run != "" && m.Agent != ""
}

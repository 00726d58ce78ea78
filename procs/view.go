package procs

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A view is the process table as one look has found it. Several may hold the same: it is only read.
type view struct {
	all  []process
	err  error
	ties func() *ties // what binds the processes to launches: read once, by the first who wants to know
}

var views = looks[glance, *view]{look: newView}

// A glance says what a look at the table is for.
type glance struct {
	since uint64 // what began earlier is of no interest
	of    Marker // nor what belongs to other launches of this supervisor than this one; zero: all of interest
}

// looked is when the last look began, in ns since 1970.
var looked atomic.Int64

// enough is for how long a look serves those who look ahead.
const enough = time.Second

// newView looks for all who ask: from the earliest beginning that one of them wants to know of.
func newView(asked []glance) *view {
	looked.Store(time.Now().UnixNano())
	since, of := asked[0].since, map[Marker]bool{}
	for _, g := range asked {
		since = min(since, g.since)
		if g.of == (Marker{}) {
			of = nil
		} else if of != nil {
			of[g.of] = true
		}
	}
	v := &view{}
	v.all, v.err = readTable(since, of)
	v.ties = sync.OnceValue(v.tie)
	return v
}

// lookAhead learns what is there as a process starts, at since: none of that is the agent's. It leaves little to look
// at when the process ends and somebody waits. Of many that start one after the other only some look, for each look
// is at all processes.
func lookAhead(since uint64) {
	if time.Since(time.Unix(0, looked.Load())) >= enough {
		_, _ = table(since)
	}
}

// table lists the processes that began at since or later, as they are after it was called.
func table(since uint64) ([]process, error) {
	v := views.ask(glance{since: since})
	var all []process
	for _, p := range v.all {
		if p.start >= since {
			all = append(all, p)
		}
	}
	return all, v.err
}

// ties find the processes of a launch in a view without a walk through all of them, which each of a thousand launches
// that end at once would take. All of this was read after the last of those who share the view had asked. Nothing of it
// is kept for another look: an exec gives a process another environment.
type ties struct {
	known    map[identity]process
	children map[int][]process   // by the parent's number
	sessions map[int][]process   // by the session's number
	tagged   map[tag][]process   // by the tag of a launch
	marked   map[string][]marked // by the entry of the environment that names the agent
	lineage  []identity          // this process and those that it descends from
}

// A marked process has entries of a Marker in its environment.
type marked struct {
	process
	environ string // no other entries than these
}

func (v *view) tie() *ties {
	t := &ties{
		known: map[identity]process{}, children: map[int][]process{}, sessions: map[int][]process{},
		tagged: map[tag][]process{}, marked: map[string][]marked{}, lineage: lineage(),
	}
	for _, p := range v.all {
		t.known[p.identity] = p
		t.children[p.parent] = append(t.children[p.parent], p)
		if p.ended {
			continue
		}
		t.sessions[p.session] = append(t.sessions[p.session], p)
		if tag, ok := tagOf(p.pid); ok {
			t.tagged[tag] = append(t.tagged[tag], p)
		}
		t.mark(p)
	}
	return t
}

// mark reads the environment of a process. Hostile ones name several agents.
func (t *ties) mark(p process) {
	var entries, agents []string
	for entry := range strings.SplitSeq(environ(p.pid), "\x00") {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case EnvAgent:
			agents = append(agents, entry)
			fallthrough
		case EnvRun, EnvLaunch:
			entries = append(entries, entry)
		}
	}
	m := marked{p, strings.Join(entries, "\x00")}
	slices.Sort(agents)
	for _, agent := range slices.Compact(agents) {
		t.marked[agent] = append(t.marked[agent], m)
	}
}

// of returns the processes that live and carry the marker in one way or another, or are in the session, if that is not
// 0.
func (t *ties) of(m Marker, session int) []process {
	found := slices.Clone(t.tagged[m.tag()])
	if session > 0 {
		found = append(found, t.sessions[session]...)
	}
	for _, p := range t.marked[EnvAgent+"="+m.Agent] {
		if m.on(p.environ) {
			found = append(found, p.process)
		}
	}
	return found
}

// addDescendants adds to a set of processes the children of its members, and theirs, that began at since or later.
func (t *ties) addDescendants(set map[identity]bool, since uint64) {
	var parents []identity
	for id := range set {
		parents = append(parents, id)
	}
	for len(parents) > 0 {
		id := parents[0]
		parents = parents[1:]
		if _, ok := t.known[id]; !ok {
			continue // gone: its number may be another's
		}
		for _, p := range t.children[id.pid] {
			if p.start >= since && !set[p.identity] {
				set[p.identity] = true
				parents = append(parents, p.identity)
			}
		}
	}
}

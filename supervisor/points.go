package supervisor

import (
	"maps"
	"slices"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
)

// The points that packing and unpacking pass beside those of their events.
const (
	PackWritten   = "after pack written"  // all is written, and may not be on the disk yet
	UnpackPlanned = "before unpack files" // nothing is changed yet
	// the run is taken over from whoever had it, and not yet here
	UnpackTakenOver = "after taking over"
	UnpackKept      = "after unpack logs" // logs and transcripts are in place, the work is not
)

// A point stands on both sides of each save and of each effect, and so between any two of them. A test can have itself
// called at each (Supervisor.At, Client.At), to kill the process there; outside tests that is nil. Their names are made
// from what can be saved and done, so that nothing new can be left out.
const (
	BeforeSave   = "before save " // of an event
	AfterSave    = "after save "
	BeforeEffect = "before "
	AfterEffect  = "after "
	BeforeNote   = "before note " // of what a client writes: what it leaves in the inbox, and the forgetting of a run
	AfterNote    = "after note "
)

// EntryPrune is no note, but as final: the forgetting of a run.
const EntryPrune = "prune" // no note, but as final

// Points lists the names of all points, in a stable order.
func Points() []string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, BeforeSave+kind, AfterSave+kind)
	}
	for _, kind := range slices.Sorted(slices.Values(effect.Kinds)) {
		all = append(all, BeforeEffect+string(kind), AfterEffect+string(kind))
	}
	for _, kind := range []string{EntryAnswer, EntryChange, EntryStop, EntryMessage, EntryRevoke, EntrySnapshot,
		ask.EntryNested, EntryNestedSeen, EntryNestedLeft, EntryPrune} {
		all = append(all, BeforeNote+kind, AfterNote+kind)
	}
	return append(all, PackWritten, UnpackTakenOver, UnpackPlanned, UnpackKept)
}

// At passes a point.
func At(reached func(point string), point string) {
	if reached != nil {
		reached(point)
	}
}

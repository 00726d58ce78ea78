package supervisor

import (
	"maps"
	"slices"
)

// A point stands on both sides of each save and of each effect, and so between any two of them. A test can have itself
// called at each (Supervisor.At, Client.At), to kill the process there; outside tests that is nil. Their names are made
// from what can be saved and done, so that nothing new can be left out.
const (
	beforeSave = "before save " // of an event
	afterSave  = "after save "
	beforeDeed = "before "
	afterDeed  = "after "
	beforeNote = "before note " // of what a client writes: what it leaves in the inbox, and the forgetting of a run
	afterNote  = "after note "
)

const notePrune = "prune" // no note, but as final

// Points lists the names of all points, in a stable order.
func Points() []string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(bodies)) {
		all = append(all, beforeSave+kind, afterSave+kind)
	}
	for _, deed := range slices.Sorted(maps.Keys(acts)) {
		all = append(all, beforeDeed+string(deed), afterDeed+string(deed))
	}
	for _, kind := range []string{noteAnswer, noteChange, noteStop, noteMessage, noteRevoke, noteNested, noteNestedSeen, noteNestedLeft, notePrune} {
		all = append(all, beforeNote+kind, afterNote+kind)
	}
	return append(all, packWritten, unpackPlanned, unpackKept)
}

// at passes a point.
func at(reached func(point string), point string) {
	if reached != nil {
		reached(point)
	}
}

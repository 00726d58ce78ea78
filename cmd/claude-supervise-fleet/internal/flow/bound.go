package flow

import "errors"

// Who reaches the server and has no key can repeat what it has kept: what a worker has told, how it has left a run, a
// stop. Package seal refuses what was sealed for another run or as another kind of thing. What is repeated to the same
// run is known here: by the epoch and a count (what a worker tells), the epoch (how it leaves), the execution and the
// update (a stop), the update and the question (an answer). An attempt itself is known in the blob store, where a
// worker claims each epoch (internal/worker).
//
// Builds from before this say less. Of them is taken what names the run and the epoch in its content; no stop, and no
// wish to try again at once.

// changeBound marks in histories that the workflow looks at that.
const changeBound = "bound to the run"

// errOtherEpoch says that the end of an attempt is not that of the present one.
var errOtherEpoch = errors.New("how its worker left it was not said of this attempt")

// isRepeated reports whether what a worker tells was told before, or does not name the run.
func (r *run) isRepeated(s Seen) bool {
	if s.Old && s.Run == nil || s.Seq > 0 && s.Seq <= r.told {
		return true
	}
	r.told = max(r.told, s.Seq)
	return false
}

// isOf reports whether a worker has left the run in this epoch.
func (o Outcome) isOf(epoch int) bool {
	if o.Old && o.Seen.Run == nil {
		return o.Full || o.Back && o.Seen.Epoch == epoch // the attempt is made again
	}
	return o.Seen.Epoch == epoch
}

package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"claude-supervise/supervisor"
)

// GoesOn reports whether a run can be gone on with from a snapshot of it, or its end be handed in, on some machine: the
// snapshot is whole, with all that it rests on. An error says that this cannot be known here, as where a newer
// release took the snapshot. It blocks for as long as unpacking it into the temporary folder takes.
func GoesOn(file string) (bool, error) {
	in, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = in.Close() }() // only read
	dir, err := os.MkdirTemp("", "claude-supervise-snapshot-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nobody knows of it
	a, err := readChain(&progress{}, in, file, dir, DefaultMaxWork)
	if errors.Is(err, errNotPack) || errors.Is(err, fs.ErrNotExist) { // one that it rests on
		return false, nil
	}
	if err != nil {
		return false, err
	}
	state, err := stateOf(a.run)
	if err != nil || checkRecords(state) != nil {
		return false, nil //nolint:nilerr // no release has written such records
	}
	return true, nil
}

// endedIn is the error of going on with a run that has ended, and in which nothing can be tried again.
func endedIn(s supervisor.State) error {
	root := s.Agents.Get(s.Run.Root)
	if s.Run.EndedAt == nil || root.Revivable() || s.Retries() {
		return nil
	}
	return fmt.Errorf("in this snapshot %s has ended (%s: %s): there is nothing to continue, so nothing was changed",
		s.Run.ID, root.Status, root.Reason)
}

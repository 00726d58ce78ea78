package supervisor

import (
	"errors"

	"claude-supervise/checkpoints"
)

// ErrOwned means that another process supervises the run.
var ErrOwned = checkpoints.ErrOwned

// ErrEnded means that the end of a run is saved: there is nothing left to stop.
var ErrEnded = checkpoints.ErrEnded

// ErrBug marks errors that no circumstance explains, such as a run with two writers.
var ErrBug = errors.New("internal error")

// ErrNotRegular says that a file is none that can be read whole, such as a pipe.
var ErrNotRegular = errors.New("it is not a regular file")

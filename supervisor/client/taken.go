package client

import (
	"errors"

	"claude-supervise/checkpoints"
)

// A TakenError says that somebody else's answer came first.
type TakenError = checkpoints.TakenError

// A PackedError says that the run goes on elsewhere: nothing was saved here.
type PackedError = checkpoints.PackedError

// TooLate reports whether an answer was refused because nobody waits for it any more, or it is on its way already.
func TooLate(err error) bool {
	return errors.Is(err, checkpoints.ErrWithdrawn) || errors.Is(err, checkpoints.ErrDelivering) ||
		errors.Is(err, checkpoints.ErrUnanswered)
}

// Unsaved reports whether something could not be saved because of the database, such as on a full disk. Nothing was
// refused.
func Unsaved(err error) bool { return checkpoints.Unsaved(err) }

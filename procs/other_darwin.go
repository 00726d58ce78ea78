package procs

import "errors"

// Tag does nothing: here no limit of another process can be set.
func (o Other) Tag() error { return errors.ErrUnsupported }

func outsideTagged(int) bool { return false }

// terminalOf is not told by this system but by a device number that has no name.
func terminalOf(int) string { return "" }

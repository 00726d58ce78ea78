package procs

import "errors"

// BecomeSubreaper is errors.ErrUnsupported: orphans go to launchd, which reaps them.
func BecomeSubreaper() error { return errors.ErrUnsupported }

func launchReaped() {}

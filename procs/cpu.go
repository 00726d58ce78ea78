package procs

import (
	"errors"
	"runtime"
	"time"
)

// CPU returns how much processor time, user and system, the process and everything that belongs to its launch have
// spent so far: what lives now, and what of it was waited for by its parent. Beside silence it tells an agent that
// works from one that hangs. It is counted in steps of 10 ms for each process, and may fall: the time of what ends as
// an orphan is lost.
//
// It may be called at any time, and looks at the system's process table for it: at each process that began after this
// one, tens of microseconds. The error is os.ErrProcessDone once the process has ended, errors.ErrUnsupported on
// systems that do not say (macOS).
func (p *Process) CPU() (time.Duration, error) {
	if runtime.GOOS != "linux" {
		return 0, errors.ErrUnsupported
	}
	living, err := p.belonging(&sweep{marker: p.Spec.Marker, since: p.id.start})
	var sum time.Duration
	for _, one := range living {
		sum += one.cpu
	}
	return sum, err
}

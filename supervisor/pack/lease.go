package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claude-supervise/checkpoints/files"

	"golang.org/x/sys/unix"
)

// Whoever starts a supervisor on one of several machines can bound by time how long it may go on: a file `lease` in the
// folder of the run's snapshots says until when. Past that, the supervisor says nothing to its agents and begins no
// turn, until the lease is renewed. So a supervisor that stood still, or whose machine was cut off, has lost the run by
// the time somebody else may have it, though nobody could tell it.
//
// The time is of the machine's own clock since it was booted, suspension included: nobody sets it. It begins anew at
// the next boot, so a lease names the boot it is of: one of an earlier boot has run out.

const leaseName = "lease"

type leaseFile struct {
	Until int64  `json:"until"` // nanoseconds of leaseClock
	Boot  string `json:"boot"`  // as thisBoot names it; "": of a worker of an earlier release
}

// errNoLease means that the time of the lease has passed.
var errNoLease = errors.New("the lease of this machine on the run has run out: it cannot reach the fleet's " +
	"server, or stood still; nothing is delivered and no turn begun until it is renewed")

// Lease lets the supervisor of a run go on until a time of LeaseClock; it has to be called again before. dir is the one
// that `run --snapshots` is given. The folder of the run is made where it is not there.
func Lease(dir, run string, until time.Duration) error {
	folder := filepath.Join(dir, run)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	boot, err := thisBoot()
	if err != nil {
		return fmt.Errorf("it cannot be read which boot of this machine the lease is of: %w", err)
	}
	doc, err := json.Marshal(leaseFile{int64(until), boot})
	if err != nil {
		return err
	}
	return files.ReplaceFile(filepath.Join(folder, leaseName), doc, 0o600)
}

// LeaseClock is the time since the machine was booted.
func LeaseClock() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(leaseClock, &now); err != nil {
		return 0, fmt.Errorf("the clock of leases cannot be read: %w", err)
	}
	return time.Duration(now.Nano()), nil
}

// leased is nil where nobody bounds the run by time, or the time has not come.
func (f *Folder) leased() error {
	content, err := f.content(leaseName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var l leaseFile
	if err := json.Unmarshal(content, &l); err != nil {
		return fmt.Errorf("it is not a lease: %w", err)
	}
	now, err := LeaseClock()
	if err != nil {
		return err
	}
	boot, err := thisBoot()
	if err != nil {
		return err
	}
	if int64(now) >= l.Until || l.Boot != "" && l.Boot != boot {
		return errNoLease
	}
	return nil
}

//go:build linux && (amd64 || arm64)

package checkpoints

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"claude-supervise/checkpoints/files"
)

// A recorder keeps what was done to the files of one folder, in order, and what had been acknowledged by when. From
// that it makes the images that a disk could hold after a power cut at any moment:
//   - what was synced is there;
//   - of what was written since, any sectors of 512 bytes are, the others hold what they held;
//   - of new sizes any is there; what was never written reads as zeros or as anything;
//   - of the names made, moved and removed since their folder was synced, any is;
//   - what a failed sync should have brought to the disk may be lost for good, whatever sync succeeds later.
//
// It is told only of calls that succeeded, and takes each for atomic but for its sectors.
type recorder struct {
	mu      sync.Mutex
	folder  string
	done    []recorded
	fails   func(kind string) bool // makes a call fail with EIO; nil: none does
	ignores func(kind string) bool // takes these calls for not made; nil: none
}

type recorded struct {
	kind, name, to string
	at, size       int64
	data           []byte
	made           int  // with callMade
	lazily         bool // and the last of them may be lost
}

const (
	callMade       = "made" // so many operations were, by now
	callSyncFailed = "sync failed"
)

func (r *recorder) before(c diskCall) syscall.Errno {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasSuffix(c.path, "-shm") || r.fails == nil || !r.fails(c.kind) {
		return 0
	}
	if c.kind == callSync {
		r.add(recorded{kind: callSyncFailed, name: filepath.Base(c.path)})
	}
	return syscall.EIO
}

func (r *recorder) after(c diskCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasSuffix(c.path, "-shm") { // an index of the log that is made anew from it
		return
	}
	r.add(recorded{kind: c.kind, name: filepath.Base(c.path), at: c.at, size: c.size, data: slices.Clone(c.data)})
}

func (r *recorder) add(what recorded) {
	if r.ignores == nil || !r.ignores(what.kind) {
		r.done = append(r.done, what)
	}
}

func (r *recorder) acknowledge(n int, lazily bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, recorded{kind: callMade, made: n, lazily: lazily})
}

// system is the one of this package's own calls, recorded too.
func (r *recorder) system() system {
	sys := theSystem
	sys.rename = func(from, to string) error {
		err := os.Rename(from, to)
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.add(recorded{kind: callRename, name: filepath.Base(from), to: filepath.Base(to)})
		}
		return err
	}
	sys.remove = func(path string) error {
		err := os.Remove(path)
		if err == nil {
			r.after(diskCall{kind: callUnlink, path: path})
		}
		return err
	}
	sys.rewrite = func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r.after(diskCall{kind: callWrite, path: path, data: text})
		if errno := r.before(diskCall{kind: callSync, path: path}); errno != 0 {
			return errno
		}
		r.after(diskCall{kind: callSync, path: path})
		return rewrite(path)
	}
	sys.syncDir = func(dir string) error {
		err := files.SyncDir(dir)
		if err == nil && dir == r.folder {
			r.after(diskCall{kind: callSyncDir, path: dir + "/."})
		}
		return err
	}
	return sys
}

// A file on the forgetful disk: what is safe, and what was done to it since.
type file struct {
	safe  []byte
	since []recorded
}

type namespace map[string]*file

type disk struct {
	random *rand.Rand
	now    namespace // as programs see it
	safe   namespace
	since  []func(namespace)
}

// afterPowerCut returns the files that a disk could hold if the power failed after so many of the recorded calls, up to
// which operation all was acknowledged by then, and how many were made.
func (r *recorder) afterPowerCut(calls int, random *rand.Rand) (files map[string][]byte, acknowledged, made int) {
	d := disk{random: random, now: namespace{}, safe: namespace{}}
	for _, c := range r.done[:calls] {
		if c.kind == callMade {
			if made = c.made; !c.lazily {
				acknowledged = made
			}
			continue
		}
		d.do(c)
	}
	kept := d.luck()
	for _, change := range d.since {
		if kept() {
			change(d.safe)
		}
	}
	files = map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(d.safe)) { // the order in which luck is drawn must not change
		f := d.safe[name]
		d.settle(f, d.luck())
		files[name] = f.safe
	}
	return files, acknowledged, made
}

// luck says of one thing after another whether it has reached the disk: all, none, or some.
func (d *disk) luck() func() bool {
	chance := []float64{0, 1, 0.5, 0.1, 0.9}[d.random.IntN(5)]
	return func() bool { return d.random.Float64() < chance }
}

func (d *disk) rename(change func(namespace)) {
	change(d.now)
	d.since = append(d.since, change)
}

func (d *disk) do(c recorded) {
	f := d.now[c.name]
	if f == nil && c.kind != callSyncDir && c.kind != callUnlink {
		f = new(file)
		d.rename(func(n namespace) { n[c.name] = f })
	}
	switch c.kind {
	case callOpen, callRead:
	case callWrite, callTruncate:
		f.since = append(f.since, c)
	case callSync:
		d.settle(f, func() bool { return true })
	case callSyncFailed:
		d.settle(f, d.luck())
	case callUnlink:
		d.rename(func(n namespace) { delete(n, c.name) })
	case callRename:
		d.rename(func(n namespace) { delete(n, c.name); n[c.to] = f })
	case callSyncDir:
		for _, change := range d.since {
			change(d.safe)
		}
		d.since = nil
	default:
		panic(fmt.Sprintf("the disk knows no %q", c.kind))
	}
}

// settle decides what of a file's changes is on the disk.
func (d *disk) settle(f *file, kept func() bool) {
	const sector = 512
	for _, c := range f.since {
		if c.kind == callTruncate {
			if kept() {
				f.safe = d.sized(f.safe, c.size)
			}
			continue
		}
		for at, data := c.at, c.data; len(data) > 0; {
			n := min(int64(len(data)), sector-at%sector)
			if kept() {
				f.safe = d.sized(f.safe, max(int64(len(f.safe)), at+n))
				copy(f.safe[at:], data[:n])
			}
			at, data = at+n, data[n:]
		}
	}
	f.since = nil
}

// sized cuts a file or makes it longer, with zeros or with what lay there.
func (d *disk) sized(text []byte, size int64) []byte {
	if size <= int64(len(text)) {
		return text[:size]
	}
	filler := byte(0)
	if d.random.IntN(2) == 0 {
		filler = byte(d.random.IntN(256))
	}
	return append(text, bytes.Repeat([]byte{filler}, int(size)-len(text))...)
}

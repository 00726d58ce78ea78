package pack

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
)

// A snapshot that rests on others is read from the one that rests on none, each with what is new in it. Nothing of it
// is believed either: each file has to be the one whose sum the next one names, and what all of them hold together is
// bounded like one.

// readChain reads a pack file, and those on which it rests: they lie beside it. file is its path, "-" if it has none.
func readChain(bar *progress, r io.Reader, file, dir string, maxWork int64) (*archive, error) {
	p := &archive{dir: dir, kinds: map[string]byte{}}
	if file == "-" {
		return p, p.read(r, maxWork)
	}
	bar.expect(file)
	r = bar.reading(r)
	var begun bytes.Buffer
	m, err := readManifest(io.TeeReader(r, &begun))
	if err != nil {
		return nil, err
	}
	files, err := chainOf(m, filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		bar.expect(f.path)
	}
	for i, f := range slices.Backward(files) {
		if err := p.readRested(bar, f.path, maxWork); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(f.path), err)
		}
		if p.manifest.Snapshot.base() != f.base || i == len(files)-1 && f.base != "" {
			return nil, notPack("%s was replaced while it was read", filepath.Base(f.path))
		}
		p.begin()
	}
	return p, p.read(io.MultiReader(&begun, r), maxWork)
}

func (m *snapshotManifest) base() string {
	if m == nil {
		return ""
	}
	return m.Base
}

type rested struct{ path, base string }

// chainOf returns the files on which a snapshot rests, the nearest first, and holds each against the sum that the next
// one names.
func chainOf(m manifest, folder string) ([]rested, error) {
	var files []rested
	for m.Snapshot.base() != "" {
		if len(files) > 2*maxChain {
			return nil, notPack("it is based on more than %d others", 2*maxChain)
		}
		path := filepath.Join(folder, m.Snapshot.Base)
		sum, err := sumOf(path)
		if err != nil {
			return nil, fmt.Errorf("the snapshot is based on %s, which cannot be read: %w; nothing was changed: copy it beside "+
				"the snapshot, or take an older one", m.Snapshot.Base, err)
		}
		if sum != m.Snapshot.Sum {
			return nil, fmt.Errorf("%w: %s, on which it is based, is not the file that it was made with, or is cut short; copy "+
				"it again, or take an older snapshot", errNotPack, m.Snapshot.Base)
		}
		before := m.Run
		if m, err = manifestIn(path); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if m.Run != before {
			return nil, notPack("it is based on a snapshot of another run")
		}
		files = append(files, rested{path, m.Snapshot.base()})
	}
	return files, nil
}

func sumOf(path string) (string, error) {
	f, err := openRegular(path, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func (p *archive) readRested(bar *progress, path string, maxWork int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	return p.read(bar.reading(f), maxWork)
}

// begin makes ready for the snapshot that rests on what was read so far.
func (p *archive) begin() {
	before := *p
	p.base, p.seen, p.belongs = &before, map[string]bool{}, nil
	p.manifest, p.run, p.places = manifest{}, checkpoints.Exported{}, nil
}

// follows holds a snapshot against the one on which it rests, and takes out what it says is gone.
func (p *archive) follows() error {
	was, is := p.base.manifest, p.manifest
	if is.Run != was.Run || is.Folder != was.Folder || is.Work != was.Work || is.Snapshot.base() == "" ||
		was.Snapshot == nil || is.Snapshot.Number <= was.Snapshot.Number {
		return notPack("it does not follow the snapshot on which it is based")
	}
	gone := map[string]bool{}
	for _, name := range is.Snapshot.Removed {
		gone[filesPrefix+name] = true
	}
	p.trees = maps.Clone(p.trees)
	maps.DeleteFunc(p.trees, func(agent string, _ []entry) bool { return is.Worktrees[agent] == nil })
	p.entries = slices.DeleteFunc(slices.Clone(p.entries), func(e entry) bool { return gone[e.name] })
	p.kinds, p.places = map[string]byte{}, map[string]int{}
	for i, e := range p.entries {
		p.places[e.name] = i
		if err := p.standsIn(e); err != nil {
			return err
		}
	}
	return nil
}

// history puts the events that a snapshot rests on before those that are new in it.
func (p *archive) history() error {
	before, after := p.base.run.Events, p.manifest.Snapshot.After
	if after > int64(len(before)) {
		return notPack("its history begins after event %d, and the snapshot on which it is based has %d", after, len(before))
	}
	p.run.Events = append(slices.Clip(before[:after]), p.run.Events...)
	return nil
}

// replace makes way for an entry that the snapshot below has, too.
func (p *archive) replace(e entry) error {
	if p.base == nil {
		return nil
	}
	if p.seen[e.name] && e.kind != tar.TypeDir {
		return notPack("%.100q is there twice", e.name)
	}
	p.seen[e.name] = true
	if p.kinds[e.name] == e.kind {
		delete(p.kinds, e.name)
	}
	return nil
}

// continueEntry appends to an entry that the snapshot below has.
func (p *archive) continueEntry(e entry, at string, content io.Reader) error {
	offset, err := strconv.ParseInt(at, 10, 64)
	i, there := p.places[e.name]
	if err != nil || !there || p.base == nil || e.kind != tar.TypeReg || strings.HasPrefix(e.name, "work/") ||
		offset < 0 || offset > p.entries[i].size {
		return notPack("%.100q continues at %.20q of what is not there", e.name, at)
	}
	f, err := os.OpenFile(p.path(p.entries[i]), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("read the pack file: %w", err)
	}
	defer func() { _ = f.Close() }() // what fails, fails before
	if err := f.Truncate(offset); err != nil {
		return fmt.Errorf("read the pack file: %w", err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return fmt.Errorf("read the pack file: %w", err)
	}
	if err := copied(f, content, e); err != nil {
		return err
	}
	p.entries[i].size = offset + e.size
	return nil
}

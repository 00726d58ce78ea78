package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/git"
)

// A archive is a pack file that was read, and whose form was checked. What its entries hold lies in a folder of ours
// under numbers, so that no name in it has met a file system yet.
type archive struct {
	manifest manifest
	run      checkpoints.Exported
	entries  []entry
	bundles  []entry            // of the work, each of what is new since the one before
	trees    map[string][]entry // the same of the worktree of each agent
	dir      string
	belongs  map[string]bool // what the run's agents may have in it
	kinds    map[string]byte // the type of each entry, and of each folder that one stands in
	work     int64           // bytes of work so far, unpacked
	other    int64           // of all else
	staged   int             // contents in the folder
	base     *archive        // while a snapshot that rests on another one is read: that one
	seen     map[string]bool // the same: what it has held so far
	places   map[string]int  // the same: where among entries those of the other one stand
}

// An entry is a file, folder or symlink of a pack file.
type entry struct {
	name   string
	kind   byte // tar.TypeReg, TypeDir, TypeSymlink
	exec   bool
	link   string
	size   int64
	number int // of its content in the archive's folder
}

// read reads a pack file. maxWork bounds the work in it, in bytes unpacked. What it refuses is errNotPack, or says that
// a newer release made it.
func (p *archive) read(r io.Reader, maxWork int64) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return unreadable(err)
	}
	z.Multistream(false)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(err)
		}
		if err := p.take(h, t, maxWork); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(z, 1<<20)); err != nil { // padding, and the checksum behind it
		return unreadable(err)
	}
	if p.run.Run.ID == "" {
		return notPack("it holds no run")
	}
	return nil
}

func unreadable(err error) error {
	var local *fs.PathError // what the disk says, not the file
	if errors.As(err, &local) {
		return fmt.Errorf("read the pack file: %w", err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return notPack("it is cut short; copy it again")
	}
	for _, broken := range []error{gzip.ErrHeader, gzip.ErrChecksum, tar.ErrHeader} {
		if errors.Is(err, broken) {
			return notPack("it is of another kind, or was changed on its way")
		}
	}
	return notPack("%v", err)
}

// take takes the next entry. The manifest and the run come first, so that all others can be held against them.
func (p *archive) take(h *tar.Header, content io.Reader, maxWork int64) error {
	switch {
	case h.Typeflag == tar.TypeGNUSparse, slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), isSparse):
		return notPack("%.100q has holes", h.Name) // which could be as large as any disk
	case p.staged >= git.MaxEntries || len(p.entries) >= git.MaxEntries:
		return notPack("it holds more than %d files", git.MaxEntries)
	case p.manifest.Format == 0:
		return p.document(h, content, manifestName, maxManifest, &p.manifest, p.checkManifest)
	case p.run.Run.ID == "":
		return p.document(h, content, runName, maxRunDocument, &p.run, p.checkRun)
	}
	e := entry{name: strings.TrimSuffix(h.Name, "/"), kind: h.Typeflag, exec: h.Mode&0o100 != 0,
		link: h.Linkname, size: h.Size}
	if err := p.replace(e); err != nil {
		return err
	}
	if err := p.admit(e); err != nil {
		return err
	}
	sum, limit, what := &p.other, int64(maxPacked), "logs and transcripts"
	if strings.HasPrefix(e.name, "work/") {
		sum, limit, what = &p.work, maxWork, "work (--max-size lets more in)"
	}
	if *sum += e.size; *sum > limit {
		return notPack("it unpacks to more than %d MiB of %s", limit>>20, what)
	}
	if at := h.PAXRecords[offsetRecord]; at != "" {
		return p.continueEntry(e, at, content)
	}
	if e.number = p.staged; e.kind == tar.TypeReg {
		p.staged++
		if err := p.stage(e, content); err != nil {
			return err
		}
	}
	if e.name == bundleName {
		p.bundles = append(p.bundles, e)
		return nil
	}
	if agent, is := treeOf(e.name); is {
		if p.trees == nil {
			p.trees = map[string][]entry{}
		}
		p.trees[agent] = append(p.trees[agent], e)
		return nil
	}
	if i, there := p.places[e.name]; there {
		p.entries[i] = e
		return nil
	}
	p.entries = append(p.entries, e)
	return nil
}

func isSparse(record string) bool { return strings.HasPrefix(record, "GNU.sparse.") }

// document reads one of the two documents.
func (p *archive) document(h *tar.Header, content io.Reader, name string, limit int64, into any,
	check func() error) error {
	if h.Name != name || h.Typeflag != tar.TypeReg {
		return notPack("%.60q is where %s should be", h.Name, name)
	}
	if h.Size > limit {
		return notPack("its %s is larger than %d MiB", name, limit>>20)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return unreadable(err)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
		return notPack("its %s cannot be read: %v", name, err)
	}
	return check()
}

func (p *archive) checkManifest() error {
	if err := p.manifest.check(); err != nil {
		return err
	}
	if p.base != nil {
		return p.follows()
	}
	if base := p.manifest.Snapshot.base(); base != "" {
		return fmt.Errorf("the snapshot is based on %s and cannot be read without it; nothing was changed: unpack it by its "+
			"name, in the folder that holds both", base)
	}
	return nil
}

// checkRun holds the run against the manifest and what a run is.
func (p *archive) checkRun() error {
	if p.base != nil {
		if err := p.history(); err != nil {
			return err
		}
	}
	if err := p.run.Check(); errors.Is(err, checkpoints.ErrMalformed) {
		return notPack("%v", err)
	} else if err != nil {
		return err
	}
	if p.run.Run.ID != p.manifest.Run || p.run.Run.Cwd != p.manifest.Folder {
		return notPack("its manifest and its run are not of one kind")
	}
	return nil
}

// admit tells why an entry may not be there: its place, its form, or another entry that it would go through or over.
func (p *archive) admit(e entry) error {
	if err := entryName(e.name); err != nil {
		return err
	}
	work := strings.HasPrefix(e.name, filesPrefix) && p.manifest.Work == workFiles
	switch {
	case e.kind != tar.TypeReg && !(work && (e.kind == tar.TypeDir || e.kind == tar.TypeSymlink)):
		return notPack("%.100q is of a kind that does not belong there", e.name)
	case !work && !p.expected(e.name): // it is held against the records of its own file
		return notPack("%.100q does not belong in it", e.name)
	case p.kinds[e.name] != 0 && !(e.kind == tar.TypeDir && p.kinds[e.name] == tar.TypeDir):
		return notPack("%.100q is there twice", e.name)
	case e.kind == tar.TypeSymlink:
		if err := linkTarget(strings.TrimPrefix(e.name, filesPrefix), e.link); err != nil {
			return err
		}
	}
	return p.standsIn(e)
}

// standsIn takes note of an entry, and of the folders that it stands in.
func (p *archive) standsIn(e entry) error {
	p.kinds[e.name] = e.kind
	for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
		if kind := p.kinds[dir]; kind != 0 && kind != tar.TypeDir {
			return notPack("%.100q is in %.100q, which is not a folder", e.name, dir)
		}
		p.kinds[dir] = tar.TypeDir
	}
	return nil
}

// expected reports whether a file that is not of the folder's own belongs into the pack of this run.
func (p *archive) expected(name string) bool {
	if name == bundleName {
		return p.manifest.Work == workGit
	}
	if agent, is := treeOf(name); is {
		return p.manifest.Worktrees[agent] != nil
	}
	if p.belongs == nil {
		p.belongs = map[string]bool{}
		for _, a := range p.run.Agents {
			p.belongs[logsPrefix+a.ID+".jsonl"], p.belongs[logsPrefix+a.ID+".checkpoint.json"] = true, true
			for _, name := range keptCopies(p.run, a.ID) {
				p.belongs[logsPrefix+name] = true
			}
			p.belongs[transcriptsDir+a.SessionID+".jsonl"], p.belongs[transcriptsDir+a.SessionID+"/"] = true, true
		}
	}
	if rest, ok := strings.CutPrefix(name, transcriptsDir); ok {
		if session, _, within := strings.Cut(rest, "/"); within {
			name = transcriptsDir + session + "/"
		}
	}
	return p.belongs[name]
}

// treeOf returns the agent of whose worktree an entry is.
func treeOf(name string) (agent string, is bool) {
	rest, below := strings.CutPrefix(name, treesPrefix)
	agent, is = strings.CutSuffix(rest, treesSuffix)
	return agent, is && below
}

func (p *archive) path(e entry) string { return filepath.Join(p.dir, strconv.Itoa(e.number)) }

// stage keeps the content of an entry.
func (p *archive) stage(e entry, content io.Reader) error {
	f, err := os.OpenFile(p.path(e), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("read the pack file: %w", err)
	}
	err = copied(f, content, e)
	if closing := f.Close(); err == nil && closing != nil {
		err = fmt.Errorf("read the pack file: %w", closing)
	}
	return err
}

// copied copies the content of an entry into a file of ours.
func copied(f *os.File, content io.Reader, e entry) error {
	n, err := io.Copy(f, content)
	switch {
	case err != nil:
		return unreadable(err)
	case n != e.size:
		return notPack("%.100q is shorter than it says", e.name)
	}
	return nil
}

// under returns the entries below a prefix, in their order.
func (p *archive) under(prefix string) []entry {
	var found []entry
	for _, e := range p.entries {
		if strings.HasPrefix(e.name, prefix) {
			found = append(found, e)
		}
	}
	return found
}

// PackedRunIn returns the id of the run that a pack file holds, by its first lines.
func PackedRunIn(r io.Reader) (string, error) {
	m, err := readManifest(r)
	return m.Run, err
}

// readManifest reads what a pack file says of itself.
func readManifest(r io.Reader) (manifest, error) {
	m, _, err := beginning(r)
	return m, err
}

// beginning reads what a pack file says of itself, and gives what comes after it.
func beginning(r io.Reader) (m manifest, rest *tar.Reader, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return m, nil, unreadable(err)
	}
	rest = tar.NewReader(z)
	h, err := rest.Next()
	if err != nil {
		return m, nil, unreadable(err)
	}
	err = new(archive).document(h, rest, manifestName, maxManifest, &m, m.check)
	return m, rest, err
}

// manifestIn is readManifest for a file.
func manifestIn(path string) (manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return manifest{}, err
	}
	defer func() { _ = f.Close() }() // only read
	return readManifest(f)
}

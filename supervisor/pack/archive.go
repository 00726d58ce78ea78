package pack

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A packer writes the entries of a pack file, in the order in which it is given them.
type packer struct {
	gzip  *gzip.Writer
	tar   *tar.Writer
	at    time.Time
	bytes int64 // of all entries so far, unpacked
	work  int64 // the same of those of the work alone

	sizes bool     // nothing is written, only bytes are counted: those of files
	bar   progress // of the files
}

func newPacker(w io.Writer, at time.Time) *packer {
	z := gzip.NewWriter(w)
	return &packer{gzip: z, tar: tar.NewWriter(z), at: at.UTC().Truncate(time.Second)}
}

// close ends the file.
func (p *packer) close() error { return errors.Join(p.tar.Close(), p.gzip.Close()) }

func (p *packer) header(h *tar.Header) error {
	if p.sizes {
		p.bytes += h.Size
		return nil
	}
	h.ModTime, h.Format = p.at, tar.FormatPAX
	if p.bytes += h.Size; strings.HasPrefix(h.Name, "work/") {
		p.work += h.Size
	}
	if err := p.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("pack %s: %w", h.Name, err)
	}
	return nil
}

// document writes a value as JSON.
func (p *packer) document(name string, v any) error {
	if p.sizes {
		return nil
	}
	doc, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if err := p.header(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(doc))}); err != nil {
		return err
	}
	_, err = p.tar.Write(doc)
	return err
}

// file writes the file at a path of root, as it is now, under a name. A file that shrinks meanwhile is an error, one
// that grows is cut.
func (p *packer) file(root *os.Root, at, name string) error {
	f, err := root.Open(at)
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("pack %s: it is not a file any more", name)
	}
	mode := int64(0o600)
	if info.Mode()&0o100 != 0 {
		mode = 0o700
	}
	if err := p.header(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size()}); err != nil {
		return err
	}
	if p.sizes {
		return nil
	}
	if _, err := io.CopyN(p.tar, p.bar.reading(f), info.Size()); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}

// fileAt is file for a path of its own.
func (p *packer) fileAt(at, name string) error {
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	return errors.Join(p.file(root, filepath.Base(at), name), root.Close())
}

// tree writes all below a folder of root under a prefix, sorted; skip leaves an entry out. It gives what is neither
// file, folder nor symlink, which cannot be packed.
func (p *packer) tree(root *os.Root, below, prefix string, skip func(name string, d fs.DirEntry) bool) (odd []string,
	err error) {
	err = fs.WalkDir(root.FS(), below, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("pack %s: %w", at, err)
		}
		if at == below {
			return nil
		}
		if skip != nil && skip(at, d) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		name := prefix + at
		switch {
		case d.IsDir():
			return p.header(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700})
		case d.Type()&fs.ModeSymlink != 0:
			target, err := root.Readlink(at)
			if err != nil {
				return fmt.Errorf("pack %s: %w", at, err)
			}
			if linkTarget(at, target) != nil {
				odd = append(odd, at+" (a symlink out of the folder)")
				return nil
			}
			return p.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o700})
		case d.Type().IsRegular():
			return p.file(root, at, name)
		}
		odd = append(odd, at+" (neither file nor folder)")
		return nil
	})
	return odd, err
}

// files writes the regular files below a folder of root; there are none if it is not there.
func (p *packer) files(root *os.Root, below, prefix string) error {
	var names []string
	err := fs.WalkDir(root.FS(), below, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, at)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pack %s: %w", below, err)
	}
	slices.Sort(names)
	for _, at := range names {
		if err := p.file(root, at, path.Join(prefix, at)); err != nil {
			return err
		}
	}
	return nil
}

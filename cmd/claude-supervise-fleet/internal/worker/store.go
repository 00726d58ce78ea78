package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor/pack"
)

// A Store keeps the snapshots of runs.
type Store struct {
	Bucket *blob.Bucket
	Key    *seal.Key
}

const sealedSuffix = ".age"

var (
	blobName     = regexp.MustCompile(`^([0-9]{6})/([^/]+)\.age$`) // below its run: epoch and file
	snapshotFile = regexp.MustCompile(`^[0-9]{6,9}\.tar\.gz$`)
)

func blobKey(run string, epoch int, file string) string {
	return "runs/" + run + "/" + snapshotName(epoch, file) + sealedSuffix
}

// snapshotName names a snapshot among those of its run. Later ones sort higher.
func snapshotName(epoch int, file string) string { return fmt.Sprintf("%06d/%s", epoch, file) }

// Put seals a snapshot and uploads it. When it returns nil, it is safe: the store lists it as it was sent.
func (s Store) Put(ctx context.Context, run string, epoch int, path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	key := blobKey(run, epoch, filepath.Base(path))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what is not closed by then is not written
	out, err := s.Bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream",
		BeforeWrite: forNoOthers})
	if err != nil {
		return err
	}
	sent := &counted{Writer: out}
	if err := s.Key.File(key, sent, in); err != nil {
		cancel()
		return errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return err
	}
	kept, err := s.Bucket.Attributes(ctx, key)
	switch {
	case err != nil:
		return fmt.Errorf("the blob store took %s, and does not have it: %w", key, err)
	case kept.Size != sent.n:
		return fmt.Errorf("the blob store took %d bytes of %s, and has %d", sent.n, key, kept.Size)
	}
	return nil
}

// counted counts what is written.
type counted struct {
	io.Writer
	n int64
}

// Write writes.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}

// Delete removes a file of an epoch; one that is not there is removed.
func (s Store) Delete(ctx context.Context, run string, epoch int, file string) error {
	err := s.Bucket.Delete(ctx, blobKey(run, epoch, file))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}

// snapshots returns the names of a run's snapshots by epoch, oldest first.
func (s Store) snapshots(ctx context.Context, run string) (map[int][]string, error) {
	all := map[int][]string{}
	err := s.each(ctx, run, func(epoch int, file string) error {
		if snapshotFile.MatchString(file) {
			all[epoch] = append(all[epoch], file)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, names := range all {
		slices.SortFunc(names, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
	}
	return all, nil
}

// each lists what there is of a run: files, each with its epoch.
func (s Store) each(ctx context.Context, run string, each func(epoch int, file string) error) error {
	below := "runs/" + run + "/"
	for list := s.Bucket.List(&blob.ListOptions{Prefix: below}); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the blob store cannot be listed: %w", err)
		}
		m := blobName.FindStringSubmatch(strings.TrimPrefix(object.Key, below))
		if m == nil {
			continue
		}
		epoch, err := strconv.Atoi(m[1])
		if err == nil {
			err = each(epoch, m[2])
		}
		if err != nil {
			return err
		}
	}
}

// write seals what is small, and keeps it under a key; onlyNew: unless there is something.
func (s Store) write(ctx context.Context, key string, content []byte, onlyNew bool) error {
	var sealed bytes.Buffer
	if err := s.Key.File(key, &sealed, bytes.NewReader(content)); err != nil {
		return err
	}
	return s.Bucket.WriteAll(ctx, key, sealed.Bytes(), &blob.WriterOptions{ContentType: "application/octet-stream",
		IfNotExist: onlyNew, BeforeWrite: forNoOthers})
}

// forNoOthers keeps a file of a store that is a folder from those who may not look into its folder.
func forNoOthers(as func(any) bool) error {
	var file *os.File
	if !as(&file) {
		return nil // it is no file
	}
	folder, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return file.Chmod(info.Mode().Perm() & folder.Mode().Perm())
}

// get downloads a snapshot into a folder, under its own name.
func (s Store) get(ctx context.Context, run string, epoch int, file, folder string) error {
	key := blobKey(run, epoch, file)
	sealed, err := os.CreateTemp(folder, ".sealed-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(sealed.Name()); _ = sealed.Close() }() // nobody needs it any more
	if err := s.Bucket.Download(ctx, key, sealed, nil); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(folder, file), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(s.Key.Open(key, out, sealed), out.Close())
	if err != nil {
		return errors.Join(fmt.Errorf("the snapshot %s: %w", key, err), os.Remove(out.Name()))
	}
	return nil
}

// An Origin is where a run goes on from.
type Origin struct {
	Epoch int    // whose snapshot it is; 0: there is none
	File  string // the path of the snapshot, with what it rests on beside it
}

// Newest downloads the snapshots of the newest epoch before an epoch that has some, into folder/RUN, which is made.
// What cannot be opened is left out and told. Try is given them newest first, until it returns nil or there are no
// more: then the epoch before is tried. Where there is none, or none will do, the origin is the zero value. A snapshot
// that only this machine cannot unpack is an error: going on from an older one would lose what others can go on from.
func (s Store) Newest(ctx context.Context, run string, before int, folder string,
	try func(file string) error) (Origin, []string, error) {
	all, err := s.snapshots(ctx, run)
	if err != nil {
		return Origin{}, nil, err
	}
	var told []string
	for epoch := before - 1; epoch > 0; epoch-- {
		if len(all[epoch]) == 0 {
			continue
		}
		into := filepath.Join(folder, run)
		here, missed, err := s.download(ctx, run, epoch, all[epoch], into)
		if told = append(told, missed...); err != nil {
			return Origin{}, told, err
		}
		for _, name := range slices.Backward(here) {
			file := filepath.Join(into, name)
			err := try(file)
			if err == nil {
				return Origin{Epoch: epoch, File: file}, told, nil
			}
			if ctx.Err() != nil {
				return Origin{}, told, ctx.Err()
			}
			if goesOn, unread := pack.GoesOn(file); goesOn || unread != nil {
				return Origin{}, told, fmt.Errorf("the run cannot be unpacked here: %w", err)
			}
			told = append(told, fmt.Sprintf("snapshot %s of epoch %d was not used: %v", name, epoch, err))
		}
	}
	return Origin{}, told, nil
}

// download puts the snapshots of an epoch into a folder, which is made anew, and returns the names of those that open.
// Of the others it is told why they do not.
func (s Store) download(ctx context.Context, run string, epoch int, names []string, into string) (here, told []string,
	err error) {
	if err := errors.Join(os.RemoveAll(into), os.MkdirAll(into, 0o700)); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		err := s.get(ctx, run, epoch, name, into)
		switch {
		case err == nil:
			here = append(here, name)
		case errors.Is(err, seal.ErrForged) || gcerrors.Code(err) == gcerrors.NotFound:
			told = append(told, fmt.Sprintf("a snapshot was not used: %v", err))
		default:
			return nil, told, fmt.Errorf("the snapshots cannot be downloaded: %w", err)
		}
	}
	return here, told, nil
}

// Keep removes the snapshots of epochs before one whose newest snapshot was read, and is whole. What people are shown
// of an earlier epoch stays until that epoch has it.
func (s Store) Keep(ctx context.Context, run string, epoch int) error {
	all, err := s.snapshots(ctx, run)
	if err != nil || len(all[epoch]) == 0 {
		return err
	}
	for old, names := range all {
		if old >= epoch {
			continue
		}
		for _, name := range names {
			if err := s.Delete(ctx, run, old, name); err != nil {
				return err
			}
		}
		for _, r := range []Record{ShowRecord, LogRecord} {
			if has, err := s.Bucket.Exists(ctx, blobKey(run, epoch, string(r))); err != nil || !has {
				continue // it stays
			}
			if err := s.Delete(ctx, run, old, string(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

package checkpoints

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadCheckpoint reads a checkpoint file of any form that is regular, this user's, no symlink in its last step and at
// most checkpointMax bytes long: an agent may have named it, and a FIFO would hold us for ever. Errors:
// errNotCheckpoint, errNotOurs, errTooLarge, and those of the file system (fs.ErrNotExist).
func ReadCheckpoint(path string) (*Checkpoint, error) {
	folder, err := openFolder(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", shown(path), bare(err))
	}
	defer func() { _ = folder.Close() }() // only read
	found, err := checkpointIn(folder, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", shown(path), err)
	}
	return found.Checkpoint, nil
}

// openFolder opens a folder, and nothing else: a FIFO of that name does not hold us.
func openFolder(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}

// openIn opens a file by its name in a folder, no symlink, and waits for nobody. What it makes has mode 0600.
func openIn(folder *os.File, name string, flags int) (*os.File, error) {
	path := filepath.Join(folder.Name(), name)
	for {
		fd, err := unix.Openat(int(folder.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, unix.EINTR):
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// readIn reads a file of this user by its name in a folder, one that holds at most so many bytes. Of one that holds
// more it returns these, with errTooLarge.
func readIn(folder *os.File, name string, most int64) (text []byte, info fs.FileInfo, err error) {
	f, err := openIn(folder, name, unix.O_RDONLY)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, nil, fmt.Errorf("%w: a symbolic link", errNotOurs)
	case errors.Is(err, unix.ENXIO): // a socket
		return nil, nil, fmt.Errorf("%w: not a regular file", errNotOurs)
	case err != nil:
		return nil, nil, bare(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, nil, bare(err)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%w: not a regular file", errNotOurs)
	case !ours(info):
		return nil, nil, fmt.Errorf("%w: another user's", errNotOurs)
	}
	text, err = io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, nil, bare(err)
	case int64(len(text)) > most:
		return text[:most], info, fmt.Errorf("%w: more than %d MiB", errTooLarge, most>>20)
	}
	return text, info, nil
}

// Write replaces the file at path, whose folder must exist. Whatever happens, the file is afterwards the old one or the
// new one, whole, and mode 0600 if new; when Write returns nil it is the new one, on the disk.
func (c *Checkpoint) Write(path string) error { return c.put(path, replaceFile) }

// Publish is Write where none is that ReadCheckpoint can read; one that is there stays as it is, and is no error. It
// does not wait for the disk: a power cut may leave none, or a part of one, which the next Publish replaces.
func (c *Checkpoint) Publish(path string) error {
	return c.put(path, func(path string, text []byte) error {
		err := putUpOnce(path, text, func(*Replacement) error { return nil })
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := ReadCheckpoint(path); !errors.Is(err, errNotCheckpoint) {
			return nil
		}
		return replaceFile(path, text)
	})
}

func (c *Checkpoint) put(path string, put func(path string, text []byte) error) error {
	text, err := c.encode()
	if err == nil {
		err = put(path, text)
	}
	if err != nil {
		return fmt.Errorf("write checkpoint %s: %w", path, err)
	}
	return nil
}

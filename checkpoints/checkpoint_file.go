package checkpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"claude-supervise/checkpoints/files"
)

// ReadCheckpoint reads a checkpoint file of any form that is regular, this user's, no symlink in its last step and at
// most checkpointMax bytes long: an agent may have named it, and a FIFO would hold us for ever. Errors:
// errNotCheckpoint, errNotOurs, errTooLarge, and those of the file system (fs.ErrNotExist).
func ReadCheckpoint(path string) (*Checkpoint, error) {
	folder, err := files.OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", files.Shown(path), files.Bare(err))
	}
	defer func() { _ = folder.Close() }() // only read
	found, err := checkpointIn(folder, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", files.Shown(path), err)
	}
	return found.Checkpoint, nil
}

// Write replaces the file at path, whose folder must exist. Whatever happens, the file is afterwards the old one or the
// new one, whole, and mode 0600 if new; when Write returns nil it is the new one, on the disk.
func (c *Checkpoint) Write(path string) error { return c.put(path, files.ReplacePrivate) }

// Publish is Write where none is that ReadCheckpoint can read; one that is there stays as it is, and is no error. It
// does not wait for the disk: a power cut may leave none, or a part of one, which the next Publish replaces.
func (c *Checkpoint) Publish(path string) error {
	return c.put(path, func(path string, text []byte) error {
		err := files.PutOnce(path, text, func(*files.Replacement) error { return nil })
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := ReadCheckpoint(path); !errors.Is(err, errNotCheckpoint) {
			return nil
		}
		return files.ReplacePrivate(path, text)
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

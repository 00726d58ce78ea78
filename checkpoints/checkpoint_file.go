package checkpoints

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ReadCheckpoint reads a checkpoint file that is regular, this user's, no symlink in its last step and at most
// CheckpointMax bytes long: an agent may have named it, and a FIFO would hold us for ever. Errors: ErrNotCheckpoint,
// ErrTooLarge, and those of the file system (fs.ErrNotExist).
func ReadCheckpoint(path string) (*Checkpoint, error) {
	text, err := readOwnFile(path)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", path, err)
	}
	c, err := ParseCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", path, err)
	}
	return c, nil
}

func readOwnFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || !ours(info):
		return nil, fmt.Errorf("%w: no regular file of this user", ErrNotCheckpoint)
	}
	text, err := io.ReadAll(io.LimitReader(f, CheckpointMax+1))
	if err == nil && len(text) > CheckpointMax {
		err = ErrTooLarge
	}
	return text, err
}

// Write replaces the file at path, whose folder must exist. Whatever happens, the file is afterwards the old one or the new
// one, whole, and mode 0600 if new; when Write returns nil it is the new one, on the disk.
func (c *Checkpoint) Write(path string) error {
	text, err := c.Encode()
	if err == nil {
		err = replaceFile(path, text)
	}
	if err != nil {
		return fmt.Errorf("write checkpoint %s: %w", path, err)
	}
	return nil
}

func replaceFile(path string, text []byte) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// MakePrivate makes a folder that only this user can look into, or takes others' rights from one that is there. The
// error says that it is another user's, or none: who wants to keep something there should keep it elsewhere.
func MakePrivate(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Never by its name: it may be replaced by a link meanwhile.
	folder, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("%s is %w: %w", path, ErrUnsafeDir, err)
	}
	defer func() { _ = folder.Close() }() // only read
	info, err := folder.Stat()
	if err != nil || !Ours(info) {
		return fmt.Errorf("%s is %w", path, ErrUnsafeDir)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return folder.Chmod(info.Mode().Perm() &^ 0o077)
}

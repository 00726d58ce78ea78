package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// What is not read, or not used.
var (
	ErrNotOurs   = errors.New("not a file of ours")
	ErrTooLarge  = errors.New("too large")
	ErrUnsafeDir = errors.New("not a folder of ours") // a symlink or another user's, as somebody else can arrange in /tmp
)

// OpenFolder opens a folder, and nothing else: a FIFO of that name does not hold us.
func OpenFolder(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}

// OpenIn opens a file by its name in a folder, no symlink, and waits for nobody. What it makes has mode 0600.
func OpenIn(folder *os.File, name string, flags int) (*os.File, error) {
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

// ReadIn reads a file of this user by its name in a folder, one that holds at most so many bytes. Of one that holds
// more it returns these, with ErrTooLarge.
func ReadIn(folder *os.File, name string, most int64) (text []byte, info fs.FileInfo, err error) {
	f, err := OpenIn(folder, name, unix.O_RDONLY)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, nil, fmt.Errorf("%w: a symbolic link", ErrNotOurs)
	case errors.Is(err, unix.ENXIO): // a socket
		return nil, nil, fmt.Errorf("%w: not a regular file", ErrNotOurs)
	case err != nil:
		return nil, nil, Bare(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, nil, Bare(err)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%w: not a regular file", ErrNotOurs)
	case !Ours(info):
		return nil, nil, fmt.Errorf("%w: another user's", ErrNotOurs)
	}
	text, err = io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, nil, Bare(err)
	case int64(len(text)) > most:
		return text[:most], info, fmt.Errorf("%w: more than %d MiB", ErrTooLarge, most>>20)
	}
	return text, info, nil
}

// Bare takes the path out of an error that is told with one.
func Bare(err error) error {
	if of, is := errors.AsType[*fs.PathError](err); is {
		return of.Err
	}
	return err
}

// Ours reports whether a file or folder is this user's.
func Ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

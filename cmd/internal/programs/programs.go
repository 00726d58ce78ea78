// Package programs is about the programs of this project: where this one lies, and how another one takes its place.
package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"claude-supervise/supervisor/doctor"
)

// Own is the path of this program, without links: called by another name it is another program (claude-answer).
func Own() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("this program does not know its own path: %w", err)
	}
	return self, nil
}

// Find returns the path of another program of this project, which lies beside this one or in an absolute folder of
// $PATH, and the folder of this one; "" where it is not there.
func Find(name string) (path, folder string, err error) {
	self, err := Own()
	if err != nil {
		return "", "", err
	}
	folder = filepath.Dir(self)
	return doctor.FindProgram(name, folder, os.Environ()), folder, nil
}

// Exec has another program of this project take the place of this process. It returns only where that cannot be: with
// the error of absent, which is given the folder of this program, where the other is not there.
func Exec(name string, args []string, absent func(folder string) error) error {
	path, folder, err := Find(name)
	if err != nil {
		return err
	}
	if path == "" {
		return absent(folder)
	}
	if err := syscall.Exec(path, append([]string{path}, args...), os.Environ()); err != nil {
		return fmt.Errorf("cannot start %s: %w; nothing was started", path, err)
	}
	return nil
}

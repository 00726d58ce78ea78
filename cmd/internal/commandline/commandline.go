// Package commandline reads a command that a person gives as one text, such as --exec 'deploy --dry-run {}'.
//
// It runs nothing.
package commandline

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"mvdan.cc/sh/v3/shell"
)

// Split splits a command line into a program and its arguments as a shell would, quotes and variables included; nothing
// is run by one. It is for a program of another machine: whether this one has it does not matter.
func Split(line string, getenv func(string) string) ([]string, error) {
	words, err := shell.Fields(line, getenv)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be split into words: %w", line, err)
	}
	if len(words) == 0 {
		return nil, errors.New("it names no program")
	}
	return words, nil
}

// Parse is Split, and looks for the program now, so that what is misspelt is known before it is needed. The program
// comes back as an absolute path.
func Parse(line string, getenv func(string) string) ([]string, error) {
	words, err := Split(line, getenv)
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath(words[0])
	if wrong := new(exec.Error); errors.As(err, &wrong) {
		return nil, fmt.Errorf("%q: %w", wrong.Name, wrong.Err)
	}
	if err != nil {
		return nil, err
	}
	words[0], err = filepath.Abs(path)
	return words, err
}

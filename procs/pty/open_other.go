//go:build !linux

package pty

import (
	"os"

	"github.com/creack/pty"
)

func open() (person, tty *os.File, err error) { return pty.Open() }

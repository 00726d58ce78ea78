package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"claude-supervise/checkpoints"
)

// A Mark is a file of the state whose time says when a person did something last.
type Mark string

// The marks of a person.
const (
	Looked Mark = "looked"     // when they looked at what goes on
	Told   Mark = "told-until" // until when they were told what happened
)

// At returns the time of a mark; zero if it was not set, or cannot be read.
func (m Mark) At(d checkpoints.Dirs) time.Time {
	info, err := os.Lstat(filepath.Join(d.State, string(m)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Set sets a mark. It makes no state: where there is none, the error is an fs.ErrNotExist.
func (m Mark) Set(d checkpoints.Dirs, at time.Time) error {
	if _, err := os.Stat(d.Database()); err != nil {
		return err
	}
	path := filepath.Join(d.State, string(m))
	err := os.Chtimes(path, at, at)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Chtimes(path, at, at))
}

// firstTold is how far back a person is told of what happened who never was before.
const firstTold = 24 * time.Hour

// ToldUntil returns until when the person was told what happened in their runs; the time a day ago if they never were.
func ToldUntil(d checkpoints.Dirs) time.Time {
	if at := Told.At(d); !at.IsZero() {
		return at
	}
	return checkpoints.Now().Add(-firstTold)
}

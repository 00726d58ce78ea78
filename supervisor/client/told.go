package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// told is the file that says until when the person was told what happened.
const told = "told-until"

// firstTold is how far back a person is told of what happened who never was before.
const firstTold = 24 * time.Hour

// ToldUntil returns until when the person was told what happened in their runs; where they never were, or that cannot
// be read, the time a day ago.
func ToldUntil(dirs checkpoints.Dirs) time.Time {
	text, _ := os.ReadFile(filepath.Join(dirs.State, told))
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	if err != nil {
		return checkpoints.Now().Add(-firstTold)
	}
	return at
}

// Told takes note that the person was told what happened until a moment. Where there is no state there was nothing.
func Told(dirs checkpoints.Dirs, until time.Time) error {
	err := files.ReplaceFile(filepath.Join(dirs.State, told), []byte(until.UTC().Format(time.RFC3339Nano)+"\n"), 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

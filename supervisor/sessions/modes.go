package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor/text"
)

// Mode is what a person wants of the sessions of a folder.
type Mode string

// The modes.
const (
	ModeAsk    Mode = "ask"    // their questions are shown and answered here, too
	ModeNotify Mode = "notify" // they are shown here, and answered on their screens
	ModeOff    Mode = "off"    // nothing of them is here
)

// Modes are the modes by folder, each with all that is below it; "": everywhere. What none is for is off.
type Modes map[string]Mode

// Of returns the mode of the sessions that work in a folder: that of the nearest one above it.
func (m Modes) Of(folder string) Mode {
	best, mode := -1, ModeOff
	for at, of := range m {
		if (at == "" || text.Under(folder, at)) && len(at) > best {
			best, mode = len(at), of
		}
	}
	return mode
}

// maxModes bounds the file of the modes, in bytes.
const maxModes = 1 << 20

func modesFile(d checkpoints.Dirs) string { return filepath.Join(d.State, "sessions.json") }

// ReadModes returns the modes that a person has set. Without a file there are none.
func ReadModes(d checkpoints.Dirs) (Modes, error) {
	folder, err := files.OpenFolder(d.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	doc, _, err := files.ReadIn(folder, filepath.Base(modesFile(d)), maxModes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", modesFile(d), err)
	}
	var m Modes
	if err := json.Unmarshal(doc, &m); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", modesFile(d), err)
	}
	return m, nil
}

// WriteModes keeps the modes; with none the file is removed. Hooks that wait in a folder that is off now leave at once.
func WriteModes(d checkpoints.Dirs, m Modes) error {
	if len(m) == 0 {
		err := os.Remove(modesFile(d))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	doc, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.State, 0o700); err != nil {
		return err
	}
	return files.ReplacePrivate(modesFile(d), append(doc, '\n'))
}

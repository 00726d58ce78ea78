package host

import (
	"errors"
	"io/fs"
	"os"

	"claude-supervise/supervisor/findings"
)

// makeShared makes that folder, if it is not there. An agent that finds none sees so itself.
func (m Machine) makeShared(run string) {
	if err := os.Mkdir(findings.SharedFolder(m.Dirs, run), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		m.Log.Error().Err(err).Msg("no folder for findings")
	}
}

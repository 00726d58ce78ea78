package worktree

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/git"
)

// MaxMoment bounds what is kept of the work at one question: what has changed since the one before, in bytes.
const MaxMoment = 256 << 20

// MaxPlainMoment is the same of a folder without git, which is kept whole: of all its files.
const MaxPlainMoment = 64 << 20

// MomentsOf opens what is kept of the work at the questions of a run. Who does not supervise the run only reads it.
func MomentsOf(dirs checkpoints.Dirs, run string) *git.Store {
	return &git.Store{Folder: dirs.RunFile(run, checkpoints.MomentsFolder), Limit: MaxMoment, Plain: MaxPlainMoment}
}

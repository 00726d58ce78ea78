package client

import (
	"io/fs"

	"claude-supervise/checkpoints"
)

// ReplaceFile writes a person's file whole: whatever happens, it is afterwards the old one or the new one. Its folder
// must exist. It does not follow a symlink at path; it replaces it.
func ReplaceFile(path string, content []byte, mode fs.FileMode) error {
	return checkpoints.ReplaceFile(path, content, mode)
}

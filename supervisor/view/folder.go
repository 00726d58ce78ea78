package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"claude-supervise/checkpoints/files"
)

// folderPatience is how long a look at a folder may take: a disk that is elsewhere may not answer.
const folderPatience = 200 * time.Millisecond

// FolderGone reports whether a run's folder is known not to be there any more. It blocks for a moment at most: a folder
// on a disk that does not answer may be there.
func FolderGone(path string) bool {
	_, err := files.Within(folderPatience, func() error {
		_, err := os.Stat(path)
		return err
	})
	return errors.Is(err, fs.ErrNotExist)
}

// ResumeCommand is the command by which a program continues a run: in another folder, if its own is gone.
func ResumeCommand(program, run string, folderGone bool) string {
	command := program + " resume " + run
	if folderGone {
		command += " --cwd DIR"
	}
	return command
}

// LookForFolder finds out whether a run that somebody has to resume still has its folder, and says so if not.
func (v *RunView) LookForFolder() {
	if v.SupervisorPID != 0 || v.EndedAt != nil || v.Packed || !FolderGone(v.Cwd) {
		return
	}
	v.FolderGone = true
	v.Reason = fmt.Sprintf("its folder is gone: %s; to continue in another, run: %s", v.Cwd,
		ResumeCommand("claude-supervise", v.ID, true))
}

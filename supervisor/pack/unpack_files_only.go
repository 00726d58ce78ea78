package pack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/supervisor/text"
)

// UnpackedFiles says what came out of a pack file of which only the work was unpacked.
type UnpackedFiles struct {
	Run    string
	At     time.Time // when it was packed
	InTurn []string  // agents whose turns it lacks
	Told   []string  // what was done, for people
}

// UnpackFiles puts what the agents of a run have written into a folder, as the pack file at a path has it. The folder
// is one that is empty or missing, or, of a run in a repository, a clone of that without local changes. The run may
// have ended. Nothing of it but its work is taken, so this machine knows as little of it as before. What it reads is
// believed in nothing; where something is wrong, nothing is changed. It blocks for as long as that takes.
func UnpackFiles(ctx context.Context, file, folder string) (f UnpackedFiles, err error) {
	in, err := os.Open(file)
	if err != nil {
		return f, err
	}
	defer func() { _ = in.Close() }() // only read
	staging, err := os.MkdirTemp("", "claude-supervise-unpack-")
	if err != nil {
		return f, err
	}
	defer func() { _ = os.RemoveAll(staging) }() // nobody knows of it
	u := unpacking{UnpackOptions: UnpackOptions{Folder: folder, File: file, MaxWork: DefaultMaxWork}, cwd: folder,
		scratch: filepath.Join(staging, "scratch")}
	content := filepath.Join(staging, "content")
	if err := errors.Join(os.Mkdir(content, 0o700), os.Mkdir(u.scratch, 0o700)); err != nil {
		return f, err
	}
	if u.archive, err = readChain(&progress{}, in, file, content, u.MaxWork); err != nil {
		return f, err
	}
	m := &u.archive.manifest
	f.Run, f.At = m.Run, m.Created
	if m.Snapshot != nil {
		f.At, f.InTurn = m.Snapshot.At, m.Snapshot.Lost
	}
	if n := len(m.Worktrees); n > 0 {
		f.Told = append(f.Told, text.Plural(n, "worktree of an agent stays", "worktrees of agents stay")+
			" in the file: what was not merged is in no folder of the run's own")
		m.Worktrees = nil
	}
	switch {
	case m.Work == workNone:
		return f, errors.New("there is no work in the file; nothing was changed")
	case m.Work == workFiles && !vacant(folder):
		return f, fmt.Errorf("%s is not empty, or in the work tree of a repository; nothing was changed: name another "+
			"folder", folder)
	case m.Work == workFiles:
		u.made = missingFolders(folder)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return f, err
		}
	}
	if err := u.planWork(ctx); err != nil {
		u.unmake()
		return f, err
	}
	if u.git != nil {
		f.Told, err = append(f.Told, u.told...), u.git.do(ctx, u.MaxWork)
	} else {
		err = u.files.do()
	}
	if err != nil {
		return f, fmt.Errorf("%w. Some of its files may be in %s", err, folder)
	}
	unix.Sync()
	return f, nil
}

// Broken reports whether an error of UnpackFiles says that the file is not whole, or is none: another may be.
func Broken(err error) bool { return errors.Is(err, errNotPack) || errors.Is(err, fs.ErrNotExist) }

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/supervisor/text"
)

const (
	maxChanged = 50 // paths that are listed
	maxFailed  = 3  // and of those that cannot be looked through
	// clockSteps is by how much the time of a file may be before that of what came before it: the kernel's is coarse.
	clockSteps = 100 * time.Millisecond
)

// ChangedSince returns the files at or below some paths in a folder that were written since a time, in their order, by
// their paths in it, and those that are gone, by paths in it, too: nil if they are not known. It says in words what it
// cannot know: a file whose time was set back is not found, and what leads out of the folder is not followed. It reads
// no file, at most maxEntriesRead names, and stops with ctx.
func ChangedSince(ctx context.Context, folder string, paths []string, since time.Time, gone []string) (changed []string,
	unknown string) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, "What was changed could not be looked for: " + text.FirstLine(err.Error())
	}
	defer func() { _ = root.Close() }()                                         // only read
	files, read, failed, seen := root.FS(), 0, []string(nil), map[string]bool{} // paths may lie below each other
	since = since.Add(-clockSteps)
	for _, at := range paths {
		err := fs.WalkDir(files, path.Clean(at), func(name string, e fs.DirEntry, err error) error {
			switch read++; {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case read > maxEntriesRead:
				return errListedTooMuch
			case err != nil && errors.Is(err, fs.ErrNotExist):
				return nil // it is not made yet, or gone
			case err != nil:
				return err
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			case e.IsDir():
				return nil
			}
			info, err := e.Info()
			if err == nil && !info.ModTime().Before(since) && !seen[name] {
				seen[name] = true
				changed = append(changed, text.Line(name, text.MaxNamed))
			}
			return nil
		})
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s (%s)", text.Line(at, text.MaxNamed), text.FirstLine(err.Error())))
		}
	}
	for _, name := range gone {
		below := func(at string) bool { return text.Under(filepath.Join("/", name), filepath.Join("/", at)) }
		if slices.ContainsFunc(paths, below) {
			changed = append(changed, text.Line(name, text.MaxNamed)+" (deleted)")
		}
	}
	if unknown = "Deleted files are not listed."; gone != nil { // what is kept is begun when the agent goes on
		unknown = "Files deleted in the first moment after the question are not listed."
	}
	if n := len(changed) - maxChanged; n > 0 {
		changed, unknown = changed[:maxChanged], fmt.Sprintf("And %d more. ", n)+unknown
	}
	if len(failed) > 0 {
		unknown += " Not looked through: " + strings.Join(text.FirstOf(failed, maxFailed), ", ")
	}
	return changed, unknown
}

package worktree

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"claude-supervise/supervisor/git"
)

// Changed names the files that a worktree has other than the commit that it began at, each with what became of it, in
// their order: committed ones, and those in its folder that are not. path is its folder; of one that is gone the branch
// is looked at, in the repository of the folder that the run works in. Nothing of it that git would run is run. It is
// an error if neither is there any more.
func Changed(ctx context.Context, path, branch, base, cwd string) ([]string, error) {
	tip := "HEAD"
	if _, err := os.Lstat(path); path == "" || errors.Is(err, os.ErrNotExist) {
		path, tip = cwd, "refs/heads/"+branch
	}
	s, drop, err := git.TempShadow(ctx, path, scratchForWorktrees)
	if err != nil {
		return nil, err
	}
	defer drop()
	commit, err := git.GitsWord(s.Own(ctx, "rev-parse", "--quiet", "--verify", "--end-of-options", tip+"^{commit}"))
	if err == nil && commit == "" {
		err = errors.New("its folder and its branch are gone")
	}
	if err != nil {
		return nil, err
	}
	committed, err := s.Differences(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	changed := map[string]string{}
	for name, entry := range committed {
		changed[name] = name
		if entry.Mode == "" {
			changed[name] += " (deleted)"
		}
	}
	if tip == "HEAD" {
		if _, err := s.TakeOver(ctx); err != nil {
			return nil, err
		}
		loose, err := s.Uncommitted(ctx)
		if err != nil {
			return nil, err
		}
		for _, entry := range loose { // XY, a space, and the path from the top
			if len(entry) > 3 {
				changed[entry[3:]] = entry[3:] + " (not committed)"
			}
		}
	}
	return slices.Sorted(maps.Values(changed)), nil
}

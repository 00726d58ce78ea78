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
func Changed(ctx context.Context, path, branch, base, cwd string) (changed []string, err error) {
	err = look(ctx, path, branch, cwd, func(s *git.Shadow, commit string, there bool) error {
		changed, err = changes(ctx, s, base, commit, there)
		return err
	})
	return changed, err
}

// Diff is what Changed names, as git shows it: new files that are not committed are in it, too.
func Diff(ctx context.Context, path, branch, base, cwd string) (diff string, err error) {
	err = look(ctx, path, branch, cwd, func(s *git.Shadow, commit string, there bool) error {
		args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
			"--ignore-submodules=dirty", base}
		if !there {
			args = append(args, commit)
		} else if _, err := s.TakeOver(ctx); err != nil {
			return err
		} else if _, err := s.In(ctx, "index", nil, "add", "--intent-to-add", "--all", "--", "."); err != nil {
			return err
		}
		out, err := s.In(ctx, "index", nil, append(args, "--")...)
		diff = string(out)
		return err
	})
	return diff, err
}

// look opens a worktree, or of one that is gone its branch, and gives the commit at its end.
func look(ctx context.Context, path, branch, cwd string,
	at func(s *git.Shadow, commit string, there bool) error) error {
	tip := "HEAD"
	if _, err := os.Lstat(path); path == "" || errors.Is(err, os.ErrNotExist) {
		path, tip = cwd, "refs/heads/"+branch
	}
	s, drop, err := git.TempShadow(ctx, path, scratchForWorktrees)
	if err != nil {
		return err
	}
	defer drop()
	commit, err := git.GitsWord(s.Own(ctx, "rev-parse", "--quiet", "--verify", "--end-of-options", tip+"^{commit}"))
	if err == nil && commit == "" {
		err = errors.New("its folder and its branch are gone")
	}
	if err != nil {
		return err
	}
	return at(s, commit, tip == "HEAD")
}

func changes(ctx context.Context, s *git.Shadow, base, commit string, there bool) ([]string, error) {
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
	if there {
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

package worktree

import (
	"context"
	"fmt"

	"claude-supervise/procs"
	"claude-supervise/supervisor/git"
)

// Repair has a repository that was renamed or moved find its worktrees again, and these the repository: each names the
// other by an absolute path. top is the top of its work tree, paths are those of its worktrees, absolute. It can be
// done again at any time.
func Repair(ctx context.Context, run, top string, paths []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, TidyTime, fmt.Errorf("it took longer than %v", TidyTime))
	defer cancel()
	s, drop, err := git.TempShadow(ctx, top, scratchForWorktrees)
	if err != nil {
		return err
	}
	defer drop()
	g := repo{Shadow: s, marker: procs.Marker{Run: run, Launch: MarkerName}}
	return g.worktree(ctx, append([]string{"repair"}, paths...)...)
}

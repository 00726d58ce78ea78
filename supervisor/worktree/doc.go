// Package worktree makes a git worktree for an agent, looks through it when the agent ends, and removes it where
// nothing was left in it. It also looks for the files that an agent names, within a bound (disk.go).
//
//	Make ──▶ the agent works ──▶ Look ──▶ removed, or kept with the commands that merge or drop it
//
// It never changes the person's own work tree or branch.
package worktree

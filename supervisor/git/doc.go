// Package git asks git what has changed in a work tree, and makes what is in it portable, without any program of the
// repository: filters, hooks and settings do not run. It works in a shadow (shadow.go), a git folder of our own. What
// work trees were at moments it keeps in a store (store.go), for snapshots and packs.
//
// It makes no worktree for agents: package worktree does.
package git

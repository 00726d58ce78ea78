package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// carryFolder is the folder, in that of a fork, of what keeping it needs for itself.
const carryFolder = "keep"

// Keep takes over what a run has made of the answer to a question that was answered differently, and then has stop stop
// the other runs that have answered it and go on: what it returns is told. Unless sure, nothing is changed, and what it
// would do is said. What cannot be taken over whole is not taken over at all, and no run is stopped then. One that was
// killed meanwhile is completed by the next.
func Keep(ctx context.Context, c client.Client, id string, sure bool,
	stop func(ctx context.Context, run string) (becomes string, err error)) (becomes string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitPatience) // one that has begun is ended by itself
	defer cancel()
	r, err := c.Reader().Run(ctx, id)
	if err != nil {
		return "", err
	}
	s, err := view.State(ctx, c.Store, r.ID)
	if err != nil {
		return "", err
	}
	others, known, err := rivals(ctx, c, s.Run)
	if err != nil {
		return "", err
	}
	if s.Run.Forked == nil && !known {
		return "", Refused("no question of %s was answered differently; nothing was changed", r.ID)
	}
	all := []string{"The work of " + r.ID + " is in " + r.Cwd + " already."}
	if s.Run.Forked != nil {
		if all[0], err = takeOver(ctx, c, s, sure); err != nil {
			return "", err
		}
		if from, err := c.Reader().Run(ctx, s.Run.Forked.Run); err == nil && from.Forked != nil && sure {
			all = append(all, "That is the folder of "+from.ID+", which continues from a question itself. To take it on: "+
				program+" keep "+from.ID)
		}
	}
	for _, other := range others {
		if !sure {
			all = append(all, other+" would be stopped.")
			continue
		}
		stopped, failed := stop(ctx, other)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		all = append(all, stopped)
	}
	return strings.Join(all, "\n"), err
}

// takeOver takes over what a fork has left in its worktree: into the folder of the agent that was asked.
func takeOver(ctx context.Context, c client.Client, s supervisor.State, sure bool) (string, error) {
	run, w := s.Run.ID, s.Agents.Get(s.Run.Root).Worktree
	refused := func(format string, args ...any) error {
		return &Refusal{Reason: Conflict, Text: fmt.Sprintf(format, args...) + "; nothing was changed"}
	}
	if s.Run.EndedAt == nil {
		return "", refused("%s has not ended (%s). To wait for it: %s wait %[1]s. To end it: %[3]s stop %[1]s",
			run, s.Run.Status, program)
	}
	if w == nil || w.State == checkpoints.WorktreeNone || w.State == checkpoints.WorktreeRemoved || w.Moment == nil {
		return run + " has changed nothing.", nil
	}
	by, drop := w.Commands(w.From)
	byHand := ""
	if len(by) > 0 {
		byHand = ". To merge it by hand: " + strings.Join(by, " && ")
	}
	if view.FolderGone(w.From) {
		if w.IsCopy() {
			return "", refused("the folder that takes it over is gone: %s. What the run has made is in %s", w.From, w.Path)
		}
		by, _ = w.Commands("NEW_FOLDER")
		by = append([]string{w.RepairCommand("NEW_FOLDER")}, by...)
		return "", refused("the folder that takes it over is gone: %s. If it was moved, merge it by hand: %s", w.From,
			strings.Join(by, " && "))
	}
	carry := git.Carry{Folder: c.Dirs.RunFile(run, carryFolder), Since: worktree.MomentsOf(c.Dirs, w.Moment.Run),
		Moment: w.Moment.ID, From: w.Path, Into: w.From}
	if w.Path == "" || view.FolderGone(w.Path) {
		if w.IsCopy() {
			return "", refused("the copy in which %s worked is gone: %s", run, w.Path)
		}
		carry.From, carry.Tip = "", "refs/heads/"+w.Branch
	}
	do := carry.Look
	if sure {
		do = carry.Do
	}
	done, err := do(ctx)
	switch {
	case errors.Is(err, git.ErrNoMoment):
		return "", refused("the work at the question is not kept any more, so it is not known what %s has changed%s", run,
			byHand)
	case err != nil:
		return "", refused("%v%s", err, byHand)
	}
	return carried(s, done, sure, drop), nil
}

// maxCarried is how many files are named that were taken over.
const maxCarried = 20

// carried says what was taken over, and what is left of it elsewhere.
func carried(s supervisor.State, done git.Carried, sure bool, drop []string) string {
	run, w := s.Run.ID, s.Agents.Get(s.Run.Root).Worktree
	n := len(done.Put) + len(done.Drop)
	if n == 0 {
		return "All that " + run + " has changed is in " + done.Top + " already."
	}
	var names []string
	for _, name := range done.Put {
		names = append(names, text.PlainLine(name))
	}
	for _, name := range done.Drop {
		names = append(names, text.PlainLine(name)+" (removed)")
	}
	files := text.Plural(n, "file", "files")
	say := fmt.Sprintf("Taken over from %s into %s, not committed: %s", run, done.Top, files)
	switch {
	case !sure:
		say = fmt.Sprintf("Would be taken over from %s into %s, not committed: %s", run, done.Top, files)
	case done.Resumes:
		say = fmt.Sprintf("What was begun before is completed: taken over from %s into %s, not committed: %s", run, done.Top,
			files)
	}
	for _, name := range text.FirstOf(names, maxCarried) {
		say += "\n  " + name
	}
	if w.Commits > 0 {
		say += fmt.Sprintf("\nIts %s on the branch %s.", text.Plural(w.Commits, "commit stays", "commits stay"), w.Branch)
	}
	if sure && len(drop) > 0 {
		say += "\nIts worktree is not needed any more. To remove it: " + strings.Join(drop, " && ")
	}
	return say
}

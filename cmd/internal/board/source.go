package board

import (
	"context"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// A Source is where the board's data come from.
type Source interface {
	// Watch gives what is before the person, at once and after each change, until ctx ends or it cannot.
	Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error
	// Past gives runs that have ended, the latest first.
	Past(ctx context.Context, skip, most int) ([]view.RunView, error)
	// Show gives all that is known of a run or an agent.
	Show(ctx context.Context, id string) (view.Details, error)
	// Follow gives the last things that a run or an agent has said, at most n, and then what it says, until it has ended
	// or ctx ends.
	Follow(ctx context.Context, id string, n int, each func(said []string) error) error
}

// Actions are what a person does on the board: what the commands do. They say what became of it, "" for nothing that is
// not seen anyway. The board has no key for one that is nil. Answer and Stop must be set.
type Actions struct {
	Answer func(ctx context.Context, id string, r terminal.Reply) (string, error)
	Say    func(ctx context.Context, id, text string) (string, error)
	Stop   func(ctx context.Context, id string) (string, error)
	Resume func(ctx context.Context, id string) (string, error)
	Retry  func(ctx context.Context, run string) (string, error)
	Prune  func(ctx context.Context, run string) (string, error)
	// Open shows a folder in the person's file manager.
	Open func(ctx context.Context, folder string) error
	// Merge takes over what an agent has left in its worktree, and Drop removes that. They do what the commands of a
	// view.WorktreeView do. Where Merge is nil, the board has no worktrees.
	Merge func(ctx context.Context, run, agent string) (string, error)
	Drop  func(ctx context.Context, run, agent string) (string, error)
}

// has reports whether there is something behind a key that not every board has.
func (a Actions) has(key string) bool {
	switch key {
	case "w":
		return a.Say != nil
	case "r":
		return a.Resume != nil
	case "R":
		return a.Retry != nil
	case "p":
		return a.Prune != nil
	case "o":
		return a.Open != nil
	case "m", "d":
		return a.Merge != nil
	}
	return true
}

// State is the Source of this user's state. It opens that anew for each thing that is asked for: it may be made, moved
// or replaced at any time.
type State struct{}

// Watch is view.Reader.WatchOverview.
func (State) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	return reading(func(r view.Reader) error { return r.WatchOverview(ctx, look, each) })
}

// Past gives runs that have ended.
func (State) Past(ctx context.Context, skip, most int) (runs []view.RunView, err error) {
	err = reading(func(r view.Reader) (err error) { runs, err = r.PastRuns(ctx, skip, most); return err })
	return runs, err
}

// Show is view.Reader.Show.
func (State) Show(ctx context.Context, id string) (d view.Details, err error) {
	err = reading(func(r view.Reader) (err error) { d, err = r.Show(ctx, id); return err })
	return d, err
}

// Follow reads only the end of what was said before.
func (State) Follow(ctx context.Context, id string, n int, each func(said []string) error) error {
	return reading(func(r view.Reader) error {
		found, err := r.RunLog(ctx, id)
		if err != nil {
			return err
		}
		said, log, err := found.Recent(ctx, n)
		if err == nil {
			err = each(said)
		}
		if err != nil {
			return err
		}
		prose := found.Prose()
		_, err = log.Follow(ctx, func(line view.LogLine) error { return each(prose(line)) })
		return err
	})
}

func reading(read func(view.Reader) error) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	return read(r)
}

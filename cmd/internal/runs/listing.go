package runs

import (
	"context"
	"slices"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A Source is where runs are read: a view.Reader, or what reads those of other machines.
type Source interface {
	// Runs gives the runs that have not ended, or all, oldest first.
	Runs(ctx context.Context, all bool) ([]view.RunView, error)
	// Watch gives them at once, and again after each change, until each gives an error, or ctx ends, which is none.
	Watch(ctx context.Context, all bool, each func([]view.RunView) error) error
}

// A Listing is how runs are listed.
type Listing struct {
	Program           Program
	All               bool // those that have ended, too
	Tree, AsJSON, IDs bool
	Cwd               string // absolute; "": wherever they run
	Inside            bool   // an agent lists: its own run alone
	Run               string
}

// Show lists the runs, or with watch again and again until the person has seen enough.
func (l Listing) Show(ctx context.Context, s Source, watch bool) error {
	if watch {
		return l.watch(ctx, s)
	}
	runs, err := s.Runs(ctx, l.All)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return l.print(p, runs) })
}

// Of leaves out the runs that are not listed.
func (l Listing) Of(runs []view.RunView) []view.RunView {
	return slices.DeleteFunc(slices.Clone(runs), func(r view.RunView) bool {
		return l.Inside && r.ID != l.Run || l.Cwd != "" && !text.Under(r.Cwd, l.Cwd)
	})
}

// print lists the runs once.
func (l Listing) print(p *terminal.Printer, runs []view.RunView) error {
	runs = l.Of(runs)
	switch {
	case l.AsJSON:
		return p.JSON(append([]view.RunView{}, runs...)) // never null
	case l.IDs:
		for _, r := range runs {
			if err := p.Result(r.ID); err != nil {
				return err
			}
		}
		return nil
	}
	return p.Result(l.text(p.Width(), runs, time.Now()))
}

// text lists the runs for people.
func (l Listing) text(width int, runs []view.RunView, now time.Time) string {
	switch {
	case len(runs) == 0:
		return l.None()
	case l.Tree:
		return tree(width, runs, now)
	}
	return table(width, runs, now)
}

// None says that no run is listed, and where there may be some.
func (l Listing) None() string {
	switch {
	case l.Cwd != "":
		return "No run is in " + l.Cwd + ". All there are: " + string(l.Program) + " ps -a"
	case l.All:
		return "There are no runs yet. Start one with: " + string(l.Program) + " run \"TASK\""
	}
	return "No run is active. Ended runs: " + string(l.Program) + " ps -a"
}

package runs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A Listing is how runs are listed.
type Listing struct {
	Program           Program
	Tree, AsJSON, IDs bool
	Elsewhere         bool   // their workers are listed, and not what a person does here
	Cwd               string // absolute; "": wherever they run
	Wanted            service.Selection
	Inside            bool // an agent lists: its own run alone
	Run               string

	outside []view.QuestionView // what is asked by no run

	tally string // how many there are, where not all are listed

	away string // what has happened while the person did not look
}

// Below leaves of a listing the runs in or below a folder; "": all.
func (l Listing) Below(folder string) (_ Listing, err error) {
	if folder != "" {
		l.Cwd, err = filepath.Abs(folder)
	}
	return l, err
}

// Show lists the runs, or with watch, which takes a service.Local, again and again until the person has seen enough.
func (l Listing) Show(ctx context.Context, s service.Runs, watch bool) error {
	if looks, is := s.(service.Looker); is && l.seen() {
		l.away = Away(looks.Look(ctx))
	}
	if watch {
		return l.watch(ctx, l.watched(s))
	}
	l = l.withOutside(ctx, s)
	runs, err := l.list(ctx, s)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return l.print(p, l.of(runs)) })
}

// withOutside is a listing with what sessions ask now.
func (l Listing) withOutside(ctx context.Context, s service.Runs) Listing {
	if o, is := s.(service.Outsider); is && !l.Inside && !l.IDs {
		l.outside = l.askedIn(o.Outside(ctx))
	}
	return l
}

// list returns the runs that are wanted, and more where the service does not select.
func (l *Listing) list(ctx context.Context, s service.Runs) (runs []service.Run, err error) {
	selector, is := s.(service.Selector)
	if !is {
		return s.List(ctx, l.Wanted.All)
	}
	if runs, err = selector.Select(ctx, l.Wanted); err == nil && len(runs) == l.Wanted.Most && !l.IDs {
		l.tally, err = selector.Tally(ctx, l.Wanted)
	}
	return runs, err
}

// A listed is a list as it is at one time.
type listed struct {
	Listing
	runs []service.Run
}

func (l listed) text(width int, now time.Time) string {
	return l.Listing.text(width, l.of(l.runs), now)
}

// A watcher gives a list at once, and again after each change, until each gives an error, or ctx ends (nil).
type watcher func(ctx context.Context, each func(listed) error) error

func (l Listing) watched(s service.Runs) watcher {
	return func(ctx context.Context, each func(listed) error) error {
		one := func(runs []service.Run) error { return each(listed{l.withOutside(ctx, s), runs}) }
		if selector, is := s.(service.Selector); is {
			return selector.WatchSelected(ctx, l.Wanted, one)
		}
		return s.(service.Local).WatchRuns(ctx, l.Wanted.All, one)
	}
}

// seen reports whether a person looks at the list.
func (l Listing) seen() bool {
	return !l.Inside && !l.AsJSON && !l.IDs && terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stdout)
}

// Has reports whether a run is listed.
func (l Listing) Has(r view.RunView) bool {
	return !(l.Inside && r.ID != l.Run || l.Cwd != "" && !text.Under(r.Cwd, l.Cwd))
}

// of leaves out the runs that are not listed.
func (l Listing) of(runs []service.Run) []service.Run {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r service.Run) bool {
		return !l.Has(r.RunView) || r.StartedAt.Before(l.Wanted.Since) ||
			len(l.Wanted.Statuses) > 0 && !slices.Contains(l.Wanted.Statuses, Status(r.RunView))
	})
	if n := l.Wanted.Most; n > 0 {
		runs = runs[max(0, len(runs)-n):]
	}
	return runs
}

// print lists the runs once.
func (l Listing) print(p *terminal.Printer, runs []service.Run) error {
	switch {
	case l.AsJSON:
		if l.tally != "" { // whoever reads the array is told that it is not all
			p.Notice(strings.TrimSpace(l.tally))
		}
		all := []any{} // never null
		for _, r := range runs {
			all = append(all, r.JSON)
		}
		for _, s := range sessionRows(l.outside) {
			all = append(all, s)
		}
		return p.JSON(all)
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

// text lists the runs for people, and what is asked by none.
func (l Listing) text(width int, runs []service.Run, now time.Time) string {
	text := l.table(width, runs, now)
	if l.away != "" {
		text = l.away + "\n" + text
	}
	if len(l.outside) > 0 {
		text = strings.TrimRight(text, "\n") + "\n" + outsideList(width, l.outside, now)
	}
	return text
}

func (l Listing) table(width int, runs []service.Run, now time.Time) string {
	var views []view.RunView
	for _, r := range runs {
		views = append(views, r.RunView)
	}
	switch {
	case len(runs) == 0:
		return l.none()
	case l.Tree:
		return tree(width, views, now) + l.tally
	case l.Elsewhere:
		return elsewhere(width, views, now) + l.tally
	}
	return table(width, views, now) + l.tally
}

// none says that no run is listed, and where there may be some.
func (l Listing) none() string {
	switch {
	case l.Cwd != "":
		return "No run is in " + l.Cwd + ". All there are: " + string(l.Program) + " ps -a"
	case len(l.Wanted.Statuses)+len(l.Wanted.Labels) > 0 || !l.Wanted.Since.IsZero():
		return "There is no such run. All there are: " + string(l.Program) + " ps -a"
	case l.Wanted.All:
		return "There are no runs yet. Start one with: " + string(l.Program) + " run \"TASK\""
	}
	return "No run is active. Ended runs: " + string(l.Program) + " ps -a"
}

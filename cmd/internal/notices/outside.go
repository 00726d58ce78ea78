package notices

import (
	"context"
	"fmt"
	"os"

	"github.com/gofrs/flock"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/sessions"
)

// HasDesktop reports whether the person of this environment has a desktop that shows banners.
func HasDesktop() bool { return hasDesktop(os.Getenv) }

// TellOutside tells a person by the network and on their desktop what an outside session asks, and by the network, once
// that is open no more, takes it back. It blocks until then, beside the hook that waits for the answer: the hook is to
// leave at once, and may be killed. One process does at a time; where it was killed, one of a later hook takes back
// what it told.
func TellOutside(ctx context.Context, p Person, ask string) error {
	by, err := network(p)
	p.Screen = true
	shows, _ := desktop(p) // it has no errors
	if err != nil || by == nil && shows == nil {
		return err
	}
	journal := sessions.Journal(p.Client.Dirs, ask)
	lock := flock.New(journal+".lock", flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return err // another does
	}
	defer func() { _ = lock.Close() }() // gives it back
	var all []channel
	if by != nil {
		m := by.(*mailer)
		m.beginAt(ask, journal)
		if !m.begun {
			return fmt.Errorf("question %s is told nowhere", ask)
		}
		all = append(all, m)
	}
	if shows != nil {
		shows.(*screen).looked.Do(func() {}) // no buttons: this process is below a claude, for which nobody answers
		all = append(all, shows)
	}
	defer func() {
		for _, one := range all {
			one.left(nil)
		}
	}()
	told := map[string]bool{}
	return sessions.Follow(ctx, p.Client.Dirs, ask, func(a *sessions.Ask) {
		var open []*supervisor.Question
		for _, q := range a.Questions {
			if a.State == sessions.Open && q.IsOpen() {
				open = append(open, q)
			}
		}
		for _, one := range all {
			for _, q := range open {
				if !told[q.ID] {
					one.told(ctx, q)
				}
			}
			one.open(open)
		}
		for _, q := range open {
			told[q.ID] = true
		}
	})
}

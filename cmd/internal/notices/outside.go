package notices

import (
	"context"
	"fmt"

	"github.com/gofrs/flock"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/sessions"
)

// TellOutside tells a person by the network what an outside session asks, and once that is open no more takes it back.
// It blocks until then, beside the hook that waits for the answer: the hook is to leave at once, and may be killed. One
// process does at a time; where it was killed, one of a later hook takes back what it told.
func TellOutside(ctx context.Context, p Person, ask string) error {
	by, err := network(p)
	if err != nil || by == nil {
		return err
	}
	journal := sessions.Journal(p.Client.Dirs, ask)
	lock := flock.New(journal+".lock", flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return err // another does
	}
	defer func() { _ = lock.Close() }() // gives it back
	m := by.(*mailer)
	m.beginAt(ask, journal)
	if !m.begun {
		return fmt.Errorf("question %s is told nowhere", ask)
	}
	defer m.left(nil)
	return sessions.Follow(ctx, p.Client.Dirs, ask, func(a *sessions.Ask) {
		var open []*supervisor.Question
		for _, q := range a.Questions {
			if a.State == sessions.Open && q.IsOpen() {
				open = append(open, q)
			}
		}
		m.open(open)
	})
}

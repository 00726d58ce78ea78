package notices

import (
	"context"
	"time"

	"claude-supervise/cmd/internal/notify"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// The one reminder of a question comes from its supervisor. Where that has left, as of a run that is parked, the next
// look at what is open sends what is due by then: when a question was asked is in the database, and the journal of the
// run says whether its reminder was sent. Of several that look at once one sends it, which holds a lock meanwhile; if
// it is killed before the journal has it, the next sends it again. A reminder that comes twice takes its own place on a
// phone, and one that was lost would leave the person waiting.

// remindPatience is how long reminders may be on their way. What is not taken by then, the next look sends.
const remindPatience = time.Minute

// Overdue returns the questions whose runs nobody supervises, and of which a person is to be reminded by now.
func Overdue(ctx context.Context, p Person, now time.Time) ([]*supervisor.Question, error) {
	if p.Config.Notify.Remind <= 0 {
		return nil, nil
	}
	open, err := view.OpenQuestions(ctx, p.Client.Store)
	if err != nil {
		return nil, err
	}
	var due []*supervisor.Question
	for _, q := range p.due(open, now) {
		if !p.Client.Supervised(ctx, q.Run) && p.mayTell(ctx, q.Run) {
			due = append(due, q)
		}
	}
	return due, nil
}

// mayTell reports whether the config is the person's own for a run: its folder does not hold it.
func (p Person) mayTell(ctx context.Context, run string) bool {
	r, err := p.Client.Store.Run(ctx, run)
	if err == nil {
		_, err = p.Config.For(r.Cwd)
	}
	return err == nil
}

// due leaves of questions those whose time has come, and whose journal does not say that all were reminded.
func (p Person) due(open []*supervisor.Question, now time.Time) (due []*supervisor.Question) {
	for _, q := range open {
		if now.Before(q.AskedAt.Add(p.Config.Notify.Remind)) {
			continue
		}
		for name := range p.Config.Notify.Receivers {
			if !notify.Told(p.journal(q.Run), name, q.ID+reminded) {
				due = append(due, q)
				break
			}
		}
	}
	return due
}

// Remind sends the reminders of questions. It blocks until they are sent, or for remindPatience.
func Remind(ctx context.Context, p Person, due []*supervisor.Question) error {
	of := map[string][]*supervisor.Question{}
	for _, q := range due {
		of[q.Run] = append(of[q.Run], q)
	}
	ctx, cancel := context.WithTimeout(ctx, remindPatience)
	defer cancel()
	for run, asked := range of {
		by, err := network(p)
		if err != nil || by == nil {
			return err
		}
		m := by.(*mailer)
		m.begin(run)
		for _, q := range asked {
			if m.begun {
				d := m.reminderOf(q)
				d.Lapses = false
				m.outbox.Add(d)
			}
		}
		m.outbox.Close(ctx)
	}
	return nil
}

// journal is the file that says what was told of a run.
func (p Person) journal(run string) string { return p.Client.Dirs.RunFile(run, "notices") }

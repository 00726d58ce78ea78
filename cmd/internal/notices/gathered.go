package notices

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// gathered is what the one notice of all that is open is about, whichever run tells it: a receiver that can shows the
// last one alone.
const gathered = "questions"

// gather tells of all that is open, once it has changed: after the delay, so that what is asked meanwhile is in it, or
// at once if something is urgent or less is open than before.
func (p *mailer) gather(asked []*supervisor.Question) {
	open, urgent, more, newest := "", false, false, time.Time{}
	still := map[string]bool{}
	for _, q := range asked {
		still[q.ID] = true
		open += "." + q.ID
		if !p.known[q.ID] {
			more, urgent, newest = true, urgent || q.Urgent, q.AskedAt
		}
	}
	if !more && len(still) == len(p.known) {
		return
	}
	p.known = still
	d := notify.Draft{ID: gathered + open + "@" + p.run, About: gathered, Replaces: true,
		Make: func(ctx context.Context, to notify.Network) (notify.Message, error) {
			return p.pending(ctx, gathered+open+"@"+p.run, more, to)
		}}
	if more && !urgent {
		d.At = newest.Add(p.Config.Notify.Delay)
	}
	p.outbox.Add(d)
}

// pending tells what is open in all runs now: of a single question as ever, with its buttons.
func (p *mailer) pending(ctx context.Context, id string, more bool, to notify.Network) (notify.Message, error) {
	all, err := p.Client.Reader().Pending(ctx)
	if err != nil {
		return notify.Message{}, err
	}
	m := notify.Message{ID: id, About: gathered, Priority: 4, Tags: []string{"question"}}
	switch len(all.Questions) {
	case 0:
		m.Title, m.Text, m.Priority, m.Tags = "claude-supervise: nothing is asked", "All is answered.", 1,
			[]string{"white_check_mark"}
		return m, nil
	case 1:
		q, err := view.FindQuestion(ctx, p.Client.Store, all.Questions[0].ID)
		if err != nil {
			return m, err
		}
		one, err := p.asked(q, to)
		one.ID, one.About = id, gathered
		if !more {
			one.Priority = 1
		}
		return one, err
	}
	m.Title = text.Truncate(gatheredInWords(all), notify.MaxTitle)
	var lines []string
	for _, q := range all.Questions {
		t := asking.Shown(q)
		lines = append(lines, text.CleanLine(q.ID+": "+t.Seen(t.Text), maxBody))
		if q.Urgent {
			m.Priority, m.Tags = 5, []string{"rotating_light"}
		}
	}
	m.Text = text.Truncate(strings.Join(lines, "\n"), notify.MaxText)
	if !more { // the person knows these already
		m.Priority = 1
	}
	if page := p.Config.Serve.URL; page != "" && to.HasButtons {
		m.Click = page + "/"
	}
	m.Event = p.Event(notice.Notification{Time: time.Now(), Run: p.run, Type: notice.Progress, Text: m.Title})
	return m, nil
}

// gatheredInWords says how much is open: "4 questions of 3 runs; 2 hold back 7 agents".
func gatheredInWords(all view.Pending) string {
	words := fmt.Sprintf("%s of %s", text.Plural(len(all.Questions), "question", "questions"),
		text.Plural(all.Runs, "run", "runs"))
	if all.Holding > 0 {
		words += fmt.Sprintf("; %d hold back %s", all.Holding, text.Plural(all.Held, "agent", "agents"))
	}
	return terminal.CleanLine(words, 0)
}

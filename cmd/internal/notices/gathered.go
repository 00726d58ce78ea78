package notices

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// gathered is what the one notice of all that is open is about, whichever run tells it: a receiver that can shows the
// last one alone.
const gathered = "questions"

// A gathering is what a mailer knows of the notices of all that is open.
type gathering struct {
	count int    // how often it has told
	last  string // a hash of what was open in its run then
	begun bool   // it was itself that told, and not a supervisor before
}

// read takes up what earlier supervisors of the run have told.
func (g *gathering) read(id string) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 || parts[0] != gathered {
		return
	}
	if n, err := strconv.Atoi(parts[1]); err == nil && n >= g.count {
		g.count, g.last = n, parts[2]
	}
}

// gather tells of all that is open, once what is open in its run has changed: after the delay, so that what is asked
// meanwhile is in it, or at once if something is urgent or less is open than before.
func (p *mailer) gather(asked []*supervisor.Question) {
	g := &p.gathering
	first := !g.begun
	var newest time.Time
	var open []string
	more, urgent := false, false
	for _, q := range asked {
		open = append(open, q.ID)
		if first || !p.known[q.ID] {
			more, urgent, newest = true, urgent || q.Urgent, q.AskedAt
		}
	}
	slices.Sort(open)
	now := hashOf(open)
	told := first && now == g.last // by the supervisor before, perhaps not to all
	if g.begun = true; !first && now == g.last || first && len(open) == 0 && g.count == 0 {
		return
	}
	if g.last = now; !told {
		g.count++
	}
	count := g.count
	d := notify.Draft{ID: fmt.Sprintf("%s.%d.%s", gathered, count, now), About: gathered, Replaces: true,
		Make: func(ctx context.Context, to notify.Network) (notify.Message, error) {
			if !p.gathers(to) {
				return notify.Message{}, notify.ErrNothing
			}
			return p.pending(ctx, count, more, to)
		}}
	switch {
	case !more:
		d.Closes = true
	case !urgent:
		d.At = newest.Add(p.Config.Notify.Delay)
	}
	p.outbox.Add(d)
}

// gathers reports whether a person reads what is told there, and wants it gathered.
func (p *mailer) gathers(to notify.Network) bool { return to.HasButtons && p.Config.Notify.Gather }

// pending tells what is open in all runs now: of a single question as ever, with its buttons. Of what the person knows
// already it makes no noise.
func (p *mailer) pending(ctx context.Context, count int, more bool, to notify.Network) (notify.Message, error) {
	all, err := p.Client.Reader().Pending(ctx)
	if err != nil {
		return notify.Message{}, err
	}
	ids := make([]string, len(all.Questions))
	for i, q := range all.Questions {
		ids[i] = q.ID
	}
	id := fmt.Sprintf("%s.%s.%d.%s", gathered, p.run, count, hashOf(ids))
	m := notify.Message{ID: id, About: gathered, Priority: 4, Tags: []string{"question"}}
	switch len(all.Questions) {
	case 0:
		m.Title, m.Text, m.Priority, m.Tags = "claude-supervise: nothing is asked", "All is answered.", 1,
			[]string{"white_check_mark"}
		return m, nil
	case 1:
		q, err := find(ctx, p.Client, all.Questions[0].ID)
		if err != nil {
			return m, err
		}
		one, err := p.single(q, to)
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
		lines = append(lines, terminal.CleanLine(q.ID+": "+t.Seen(t.Text), maxBody))
		if q.Urgent {
			m.Priority, m.Tags = 5, []string{"rotating_light"}
		}
	}
	m.Text = text.Truncate(strings.Join(lines, "\n"), notify.MaxText)
	if !more { // the person knows these already
		m.Priority = 1
	}
	if page := p.Config.Serve.URL; page != "" {
		m.Click = page + "/"
	}
	return m, nil
}

// gatheredInWords says how much is open: "4 questions of 3 runs; 2 hold back 7 agents".
func gatheredInWords(all view.Pending) string {
	var of []string
	if all.Runs > 0 {
		of = append(of, text.Plural(all.Runs, "run", "runs"))
	}
	if all.Sessions > 0 {
		of = append(of, text.Plural(all.Sessions, "session", "sessions"))
	}
	words := text.Plural(len(all.Questions), "question", "questions") + " of " + strings.Join(of, " and ")
	if all.Holding > 0 {
		words += "; " + text.Plural(all.Holding, "holds back", "hold back") + " " + text.Plural(all.Held, "agent", "agents")
	}
	return words
}

func hashOf(ids []string) string {
	sum := sha256.Sum256([]byte(strings.Join(ids, "+")))
	return hex.EncodeToString(sum[:6])
}

package notices

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/capability"
	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A mailer tells of questions by the network, with buttons that answer where a person reads it. It has an outbox of its
// own beside the engine, so a receiver that is slow or dead delays nothing but the program's end, by mailPatience at
// most. What it has told the outbox keeps, for all supervisors of the run.
type mailer struct {
	silent
	Person
	outbox *notify.Outbox
	begun  bool
	// known are the questions that were open when it was told last; of a supervisor before, what that has told of.
	known map[string]bool

	run       string
	gathering gathering
}

// mailPatience is how much longer the program may stay to tell how a run is left.
const mailPatience = 3 * time.Second

func network(p Person) (channel, error) {
	set := p.Config.Notify.Receivers
	if p.URL != "" {
		name, to, err := receiverOf(p.URL, set)
		if err != nil {
			return nil, err
		}
		set = map[string]config.Receiver{name: to}
	}
	var receivers []notify.Receiver
	for _, of := range notify.Networks {
		to, found := set[of.Name]
		if !found {
			continue
		}
		secret := p.Secrets[of.Variable]
		if secret == "" && to.Secret != "" {
			var err error
			if secret, err = readSecret(to.Secret); err != nil {
				return nil, err
			}
		}
		opened, err := of.Open(to.URL, secret)
		if err != nil {
			return nil, exitcode.Usage("notify: %w", err)
		}
		receivers = append(receivers, notify.Receiver{Network: of, Channel: opened})
	}
	if len(receivers) == 0 {
		return nil, nil
	}
	return &mailer{Person: p, outbox: notify.NewOutbox(receivers, p.Printer.Notice), known: map[string]bool{}}, nil
}

// receiverOf reads --notify-url. What the config has of a secret is for the same receiver only.
func receiverOf(given string, set map[string]config.Receiver) (name string, to config.Receiver, err error) {
	scheme, rest, _ := strings.Cut(given, "://")
	for _, of := range notify.Networks {
		switch {
		case of.Scheme == "" && name == "":
			name, to.URL = of.Name, given
		case of.Scheme != "" && scheme == of.Scheme:
			name, to.URL = of.Name, "https://"+rest
		case of.Scheme != "" && scheme == of.Scheme+"+http":
			name, to.URL = of.Name, "http://"+rest
		}
	}
	if err := config.CheckURL(to.URL); err != nil {
		return "", to, exitcode.Usage("--notify-url %w", err)
	}
	if own := set[name]; sameHost(to.URL, own.URL) {
		to.Secret = own.Secret
	}
	return name, to, nil
}

func sameHost(a, b string) bool {
	one, err := url.Parse(a)
	other, wrong := url.Parse(b)
	return err == nil && wrong == nil && one.Scheme == other.Scheme && one.Host == other.Host
}

// maxSecret bounds a secret, in bytes.
const maxSecret = 4 << 10

// readSecret reads a secret that nobody else can read.
func readSecret(path string) (string, error) {
	refuse := func(why string) error {
		return exitcode.Usage("the secret in %s cannot be used: %s; nothing was started", path, why)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", exitcode.Usage("a secret of notify cannot be read: %w; nothing was started", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", refuse(err.Error())
	case !info.Mode().IsRegular():
		return "", refuse("it is not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		return "", refuse("others can read it; run: chmod 600 " + path)
	case info.Size() > maxSecret:
		return "", refuse("it is too long")
	}
	text := make([]byte, info.Size())
	n, err := f.Read(text)
	secret := strings.TrimSpace(string(text[:max(n, 0)]))
	if err != nil || secret == "" || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", refuse("it holds no line of letters and digits")
	}
	return secret, nil
}

// begin reads what earlier supervisors of the run have told.
func (p *mailer) begin(run string) { p.beginAt(run, p.journal(run)) }

func (p *mailer) beginAt(run, journal string) {
	told, err := p.outbox.Open(journal)
	if err != nil {
		p.Printer.Notice("! no phone and no webhook is notified:  " + err.Error())
		return
	}
	p.begun, p.run = true, run
	for _, id := range told {
		p.gathering.read(id)
		if question, what, _ := strings.Cut(id, "."); what == "asked" {
			p.known[question] = true
		}
	}
}

// open tells of the questions that are open now, and of those that are no longer.
func (p *mailer) open(asked []*supervisor.Question) {
	if !p.begun {
		return
	}
	if p.Config.Notify.Gather {
		p.gather(asked)
	}
	still := map[string]bool{}
	for _, q := range asked {
		still[q.ID] = true
		p.known[q.ID] = true
		asked := notify.Draft{ID: q.ID + ".asked", About: q.ID,
			Make: func(_ context.Context, to notify.Network) (notify.Message, error) { return p.asked(q, to) }}
		if !q.Urgent {
			asked.At = q.AskedAt.Add(p.Config.Notify.Delay)
		}
		p.outbox.Add(asked)
		if p.Config.Notify.Remind > 0 {
			p.outbox.Add(p.reminderOf(q))
		}
	}
	for id := range p.known {
		if still[id] {
			continue
		}
		delete(p.known, id)
		p.outbox.Add(notify.Draft{ID: id + ".closed", About: id, Closes: true,
			Make: func(ctx context.Context, to notify.Network) (notify.Message, error) { return p.closed(ctx, id, to) }})
	}
}

// asked tells of a question.
func (p *mailer) asked(q *supervisor.Question, to notify.Network) (notify.Message, error) {
	if p.gathers(to) {
		return notify.Message{}, notify.ErrNothing
	}
	return p.single(q, to)
}

// single tells of one question.
func (p *mailer) single(q *supervisor.Question, to notify.Network) (notify.Message, error) {
	v := view.ViewIn(p.Client.Dirs, q)
	t := asking.Shown(v)
	m := notify.Message{ID: q.ID + ".asked", About: q.ID, Priority: 4, Tags: []string{"question"},
		Event: p.Event(notice.Asking(q))}
	m.Title = text.Truncate(terminal.CleanLine("claude-supervise asks: "+t.Seen(t.Header), 0), notify.MaxTitle)
	if t.Header == "" {
		m.Title = "claude-supervise asks"
	}
	if q.Urgent {
		m.Title, m.Priority, m.Tags = "Urgent: "+m.Title, 5, []string{"rotating_light"}
	}
	parts := []string{t.Seen(t.Text), t.Seen(t.Context), t.Seen(t.Task)}
	for i, o := range t.Options {
		line := fmt.Sprintf("%d) %s", i+1, t.Seen(o.Label))
		if o.Description != "" {
			line += " - " + t.Seen(o.Description)
		}
		parts = append(parts, line)
	}
	of := q.Run
	if v.Session != nil {
		of = v.Session.Where() + " in " + v.Cwd
	}
	parts = append(parts, q.ID+" of "+t.Seen(of))
	whole := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
	m.Text = text.Truncate(whole, notify.MaxText)
	all := m.Text == whole && q.Truncated == ""
	if m.Text != whole {
		m.Text += fmt.Sprintf("\n… %d more bytes: claude-supervise questions", len(whole)-len(m.Text))
	}
	page := p.Config.Serve.URL // by which buttons reach it
	if page == "" || !to.HasButtons {
		return m, nil
	}
	m.Click = page + "/questions/" + q.ID
	labels, answers := p.buttons(q, t, all)
	if len(labels) == 0 || v.Session != nil && !v.Session.Answerable() {
		return m, nil
	}
	secret, err := capability.New(buttonsOf(p.Client, q), q.ID, answers)
	if err != nil {
		return m, err
	}
	for i, label := range labels {
		m.Buttons = append(m.Buttons, notify.Button{Label: label, URL: page + "/api/answer/" + secret,
			Body: `{"option":` + strconv.Itoa(i) + `}`})
	}
	return m, nil
}

// reminded ends the id of a reminder.
const reminded = ".reminder"

func (p *mailer) reminderOf(q *supervisor.Question) notify.Draft {
	due := q.AskedAt.Add(p.Config.Notify.Remind)
	return notify.Draft{ID: q.ID + reminded, About: q.ID, At: due, Lapses: true, Once: true,
		Make: func(ctx context.Context, to notify.Network) (notify.Message, error) { return p.reminder(ctx, q, to) }}
}

// reminder tells of a question again, where notices are gathered with all that is open.
func (p *mailer) reminder(ctx context.Context, q *supervisor.Question, to notify.Network) (m notify.Message,
	err error) {
	if p.gathers(to) {
		m, err = p.pending(ctx, 0, true, to)
	} else {
		m, err = p.single(q, to)
	}
	m.ID = q.ID + reminded
	m.Title = text.Truncate("Still waiting, for "+terminal.Duration(time.Since(q.AskedAt))+": "+m.Title, notify.MaxTitle)
	return m, err
}

// buttons returns what can be answered on the phone, with the answers. To permit something all of it must be there to
// be seen, and the person must have let it.
func (p *mailer) buttons(q *supervisor.Question, t terminal.Question, all bool) (labels, answers []string) {
	switch {
	case questions.KindOf(q.Kind).Ruled:
		if p.Config.Notify.Permissions && all {
			labels, answers = []string{"Allow once"}, []string{"allow"}
		}
		return append(labels, "Deny"), append(answers, "deny")
	case !questions.OnlyTells(q) || t.MultiSelect || len(t.Options) > notify.MaxPhoneButtons:
		return nil, nil
	}
	for _, o := range t.Options {
		if !fitsButton(o.Label) {
			return nil, nil
		}
		labels, answers = append(labels, o.Label), append(answers, o.Label)
	}
	return labels, answers
}

// closed tells what became of a question that was told.
func (p *mailer) closed(ctx context.Context, id string, to notify.Network) (notify.Message, error) {
	if p.gathers(to) {
		return notify.Message{}, notify.ErrNothing
	}
	m := notify.Message{ID: id + ".closed", About: id, Title: "claude-supervise: closed", Priority: 1,
		Tags: []string{"white_check_mark"}, Text: id + " is no longer asked."}
	q, err := find(ctx, p.Client, id)
	if err != nil {
		return m, err
	}
	v := view.ViewIn(p.Client.Dirs, q)
	t := asking.Shown(v)
	switch {
	case v.Session != nil && v.Remark != "":
		m.Text = id + ": " + t.Seen(v.Remark)
	case q.Declined:
		m.Text = fmt.Sprintf("%s: there will be no answer, says %s", id, t.Seen(q.AnsweredBy))
	case q.Skipped:
		m.Text = fmt.Sprintf("%s was skipped by %s", id, t.Seen(q.AnsweredBy))
	case q.AnsweredAt != nil:
		m.Text = text.Truncate(fmt.Sprintf("%s answered by %s: %s", id, t.Seen(q.AnsweredBy), t.Seen(q.Answer)),
			notify.MaxText)
	}
	m.Event = p.Event(notice.Notification{Time: time.Now(), Run: q.Run, Agent: q.Agent, Type: notice.QuestionDone,
		Question: q})
	return m, nil
}

// left tells how the run is left, after all that was said of its asking.
func (p *mailer) left(end *ending) {
	if !p.begun {
		return
	}
	var last []notify.Draft
	if end != nil {
		id := fmt.Sprintf("%s.left.%d", end.Run.ID, end.Run.Epoch)
		last = append(last, notify.Draft{ID: id, About: end.Run.ID,
			Make: func(context.Context, notify.Network) (notify.Message, error) {
				return notify.Message{ID: id, About: end.Run.ID, Title: end.title, Text: end.body, Priority: 3,
					Tags: []string{"checkered_flag"}, Event: p.Event(supervisor.EndNotice(end.State, time.Now()))}, nil
			}})
	}
	ctx, cancel := context.WithTimeout(context.Background(), mailPatience)
	defer cancel()
	p.outbox.Close(ctx, last...)
}

// find returns a question of a run or a session.
func find(ctx context.Context, c client.Client, id string) (*supervisor.Question, error) {
	q, err := view.FindQuestion(ctx, c.Store, id)
	if view.NoSuchID(err) {
		if _, asked := sessions.Find(c.Dirs, id); asked != nil {
			return asked, nil
		}
	}
	return q, err
}

// buttonsOf is the folder in which the capabilities of a question are kept.
func buttonsOf(c client.Client, q *supervisor.Question) string {
	if q.Run == "" {
		return sessions.Folder(c.Dirs)
	}
	return c.Dirs.RunDir(q.Run)
}

// ByPhone names who has answered by a button.
const ByPhone = "a button on the phone"

// Pressed returns the question that a button on the phone answers, and what it answers. The error is a *service.Refusal
// where that cannot be.
func Pressed(ctx context.Context, c client.Client, given string, option int) (question, answer string, err error) {
	unknown := &service.Refusal{Reason: service.NotThere, Text: "this button is not one of ours; nothing was answered"}
	q, err := find(ctx, c, capability.Question(given))
	switch {
	case view.NoSuchID(err):
		return "", "", unknown
	case err != nil:
		return "", "", err
	}
	answers, err := capability.Answers(buttonsOf(c, q), given)
	switch {
	case errors.Is(err, capability.ErrUnknown):
		return "", "", unknown
	case err != nil:
		return "", "", err
	case !q.IsOpen():
		return "", "", &service.Refusal{Reason: service.Closed, Text: "this question is closed; nothing was changed"}
	case option < 0 || option >= len(answers):
		return "", "", service.Refused("there is no such button; nothing was answered")
	}
	return q.ID, answers[option], nil
}

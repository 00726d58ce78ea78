package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claude-supervise/cmd/internal/capability"
	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A phone tells of questions by the network: ntfy, with buttons that answer, and a webhook. It has an outbox of its own
// beside the engine, so a receiver that is slow or dead delays nothing but the program's end, by phonePatience at most.
// The nil phone tells nobody.
type phone struct {
	client      client.Client
	outbox      *notify.Outbox
	page        string // the address at which buttons reach the page; "": there are no buttons
	permissions bool   // a button may permit
	begun       bool
	known       map[string]bool // questions that are open, or were told of as open
	report      func(string)
}

// phonePatience is how much longer the program may stay to tell how a run is left.
const phonePatience = 3 * time.Second

// The environment variables of what is no flag's, because everybody sees the arguments of a process. They are taken out
// of the environment: agents have no use for them.
const (
	envNotifyURL     = "CLAUDE_SUPERVISE_NOTIFY_URL"
	envNtfyToken     = "CLAUDE_SUPERVISE_NTFY_TOKEN"
	envWebhookSecret = "CLAUDE_SUPERVISE_WEBHOOK_SECRET"
)

// newPhone makes the phone of a run in a folder; nil if nobody is to be told.
func newPhone(f sessionFlags, cwd string, s *session) (*phone, error) {
	given := f.notifyURL
	if given == "" {
		given = os.Getenv(envNotifyURL)
	}
	token, secret := os.Getenv(envNtfyToken), os.Getenv(envWebhookSecret)
	for _, name := range []string{envNotifyURL, envNtfyToken, envWebhookSecret} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	if f.noNotify {
		return nil, nil
	}
	c, err := ownConfig()
	if err != nil {
		return nil, err
	}
	if cwd != "" { // else the run is not there, which is told soon
		if _, err := c.For(cwd); err != nil {
			return nil, exitcode.UsageError{Err: err}
		}
	}
	ntfy, webhook := c.Notify.Ntfy, c.Notify.Webhook
	if given != "" {
		if ntfy, webhook, err = notifyURL(given, ntfy, webhook); err != nil {
			return nil, err
		}
	}
	var channels []notify.Channel
	for _, of := range []struct {
		config.Channel
		secret string
		open   func(address, secret string) (notify.Channel, error)
	}{
		{ntfy, token, func(address, secret string) (notify.Channel, error) { return notify.NewNtfy(address, secret) }},
		{webhook, secret, func(address, secret string) (notify.Channel, error) { return notify.NewWebhook(address, secret) }},
	} {
		if of.URL == "" {
			continue
		}
		if of.secret == "" && of.Secret != "" {
			if of.secret, err = readSecret(of.Secret); err != nil {
				return nil, err
			}
		}
		channel, err := of.open(of.URL, of.secret)
		if err != nil {
			return nil, usage("notify: %w", err)
		}
		channels = append(channels, channel)
	}
	if len(channels) == 0 {
		return nil, nil
	}
	return &phone{client: s.Client, outbox: notify.NewOutbox(channels, s.printer.Notice), page: c.Serve.URL,
		permissions: c.Notify.Permissions, known: map[string]bool{}, report: s.printer.Notice}, nil
}

// notifyURL reads --notify-url, which stands in the place of the channels of the config. What those have of a secret is
// for the same receiver only.
func notifyURL(given string, ntfy, webhook config.Channel) (_, _ config.Channel, err error) {
	scheme, rest, _ := strings.Cut(given, "://")
	own, to := &webhook, given
	var none config.Channel
	switch scheme {
	case "ntfy":
		own, to = &ntfy, "https://"+rest
	case "ntfy+http":
		own, to = &ntfy, "http://"+rest
	}
	if err := config.CheckURL(to); err != nil {
		return none, none, usage("--notify-url %w", err)
	}
	channel := config.Channel{URL: to}
	if sameHost(to, own.URL) {
		channel.Secret = own.Secret
	}
	if own == &ntfy {
		return channel, none, nil
	}
	return none, channel, nil
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
		return usage("the secret in %s cannot be used: %s; nothing was started", path, why)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", usage("a secret of notify cannot be read: %w; nothing was started", err)
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
func (p *phone) begin(run string) {
	if p == nil {
		return
	}
	told, err := p.outbox.Open(p.client.Dirs.RunFile(run, "notices"))
	if err != nil {
		p.report("! no phone and no webhook is notified:  " + err.Error())
		return
	}
	p.begun = true
	for _, id := range told {
		if question, what, _ := strings.Cut(id, "."); what == "asked" {
			p.known[question] = true
		}
	}
}

// set tells of the questions that are open now, and of those that are no longer.
func (p *phone) set(open []*supervisor.Question) {
	if p == nil || !p.begun {
		return
	}
	still := map[string]bool{}
	for _, q := range open {
		still[q.ID] = true
		p.known[q.ID] = true
		p.outbox.Add(notify.Draft{ID: q.ID + ".asked", About: q.ID,
			Make: func(_ context.Context, channel string) (notify.Message, error) { return p.asked(q, channel) }})
	}
	for id := range p.known {
		if still[id] {
			continue
		}
		delete(p.known, id)
		p.outbox.Add(notify.Draft{ID: id + ".closed", About: id, Closes: id + ".asked",
			Make: func(ctx context.Context, _ string) (notify.Message, error) { return p.closed(ctx, id) }})
	}
}

// asked tells of a question.
func (p *phone) asked(q *supervisor.Question, channel string) (notify.Message, error) {
	t := shown(q)
	m := notify.Message{ID: q.ID + ".asked", About: q.ID, Priority: 4, Tags: []string{"question"},
		Event: event(supervisor.Asking(q))}
	m.Title = text.Truncate(terminal.CleanLine("claude-supervise asks: "+t.Seen(t.Header), 0), notify.MaxNtfyTitle)
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
	parts = append(parts, q.ID+" of "+q.Run)
	whole := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
	m.Text = text.Truncate(whole, notify.MaxNtfy)
	all := m.Text == whole && q.Truncated == ""
	if m.Text != whole {
		m.Text += fmt.Sprintf("\n… %d more bytes: claude-supervise questions", len(whole)-len(m.Text))
	}
	if p.page == "" || channel != "ntfy" {
		return m, nil
	}
	m.Click = p.page + "/questions/" + q.ID
	labels, answers := p.buttons(q, t, all)
	if len(labels) == 0 {
		return m, nil
	}
	secret, err := capability.New(p.client.Dirs.RunDir(q.Run), q.ID, answers)
	if err != nil {
		return m, err
	}
	for i, label := range labels {
		m.Buttons = append(m.Buttons, notify.Button{Label: label, URL: p.page + "/api/answer/" + secret,
			Body: `{"option":` + strconv.Itoa(i) + `}`})
	}
	return m, nil
}

// buttons gives what can be answered on the phone, with the answers. To permit something all of it must be there to be
// seen, and the person must have let it.
func (p *phone) buttons(q *supervisor.Question, t terminal.Question, all bool) (labels, answers []string) {
	switch {
	case q.Kind == client.AskPermission:
		if p.permissions && all {
			labels, answers = []string{"Allow once"}, []string{"allow"}
		}
		return append(labels, "Deny"), append(answers, "deny")
	case !supervisor.OnlyTells(q) || t.MultiSelect || len(t.Options) > notify.MaxPhoneButtons:
		return nil, nil
	}
	for _, o := range t.Options {
		if !notify.FitsButton(o.Label) {
			return nil, nil
		}
		labels, answers = append(labels, o.Label), append(answers, o.Label)
	}
	return labels, answers
}

// closed tells what became of a question that was told.
func (p *phone) closed(ctx context.Context, id string) (notify.Message, error) {
	m := notify.Message{ID: id + ".closed", About: id, Title: "claude-supervise: closed", Priority: 1,
		Tags: []string{"white_check_mark"}, Text: id + " is no longer asked."}
	q, err := p.client.Find(ctx, id)
	if err != nil {
		return m, err
	}
	t := shown(q)
	switch {
	case q.Declined:
		m.Text = fmt.Sprintf("%s: there will be no answer, says %s", id, t.Seen(q.AnsweredBy))
	case q.Skipped:
		m.Text = fmt.Sprintf("%s was skipped by %s", id, t.Seen(q.AnsweredBy))
	case q.AnsweredAt != nil:
		m.Text = text.Truncate(fmt.Sprintf("%s answered by %s: %s", id, t.Seen(q.AnsweredBy), t.Seen(q.Answer)),
			notify.MaxNtfy)
	}
	m.Event = event(supervisor.Notification{Time: time.Now(), Run: q.Run, Agent: q.Agent, Type: supervisor.QuestionDone,
		Question: q})
	return m, nil
}

// left tells how a run was left, after all that was said of its questions, and ends the telling.
func (p *phone) left(out supervisor.Outcome) {
	if p == nil || !p.begun {
		return
	}
	var last []notify.Draft
	if out.Run != nil && out.Code != supervisor.ExitInterrupted && out.Code != supervisor.ExitStopped {
		id := fmt.Sprintf("%s.left.%d", out.Run.ID, out.Run.Epoch)
		title, body := endBanner(out)
		last = append(last, notify.Draft{ID: id, About: out.Run.ID,
			Make: func(context.Context, string) (notify.Message, error) {
				return notify.Message{ID: id, About: out.Run.ID, Title: title, Text: body, Priority: 3,
					Tags: []string{"checkered_flag"}, Event: event(supervisor.EndNotice(out.State, time.Now()))}, nil
			}})
	}
	ctx, cancel := context.WithTimeout(context.Background(), phonePatience)
	defer cancel()
	p.outbox.Close(ctx, last...)
}

// byPhone names who has answered by a button.
const byPhone = "a button on the phone"

// press answers as a button on the phone does, and gives the id of the question.
func press(ctx context.Context, given string, option int) (question string, err error) {
	c, err := pageClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	unknown := &web.Refusal{Status: http.StatusNotFound, Text: "this button is not one of ours; nothing was answered"}
	q, err := c.Find(ctx, capability.Question(given))
	switch {
	case view.NoSuchID(err):
		return "", unknown
	case err != nil:
		return "", err
	}
	answers, err := capability.Answers(c.Dirs.RunDir(q.Run), given)
	switch {
	case errors.Is(err, capability.ErrUnknown):
		return "", unknown
	case err != nil:
		return "", err
	case !supervisor.IsOpen(q):
		return "", &web.Refusal{Status: http.StatusGone, Text: "this question is closed; nothing was changed"}
	case option < 0 || option >= len(answers):
		return "", web.Refused("there is no such button; nothing was answered")
	}
	_, err = pageActions{}.Answer(ctx, q.ID, web.Answer{Value: &answers[option], By: byPhone})
	return q.ID, err
}

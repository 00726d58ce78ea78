package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/notices"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// This file tells by the network what no supervisor tells: what sessions ask, and what is due of runs that are parked.
// A process of its own does, which outlives whoever has started it, and delays nobody.

const tellCommand = "tell"

// newTell is not for people.
func newTell() *cobra.Command {
	return &cobra.Command{
		Use:    tellCommand,
		Short:  "tell by the network what a session asks in a folder; without one, remind of what is due",
		Hidden: true,
		Args:   cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == first {
				self, err := programs.Own()
				if err != nil {
					return err
				}
				second := exec.Command(self, append([]string{tellCommand}, args[1:]...)...)
				second.Dir = "/"
				second.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				return second.Start()
			}
			return withPerson(func(p notices.Person) error {
				if len(args) < 2 {
					return remind(cmd.Context(), p)
				}
				if _, err := p.Config.For(args[1]); err != nil {
					return err
				}
				return notices.TellOutside(cmd.Context(), p, args[0])
			})
		},
	}
}

// withPerson does something with the person of this machine.
func withPerson(do func(notices.Person) error) error {
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // only read
	conf, err := request.OwnConfig()
	if err != nil {
		return err
	}
	self, err := programs.Own()
	if err != nil {
		return err
	}
	return terminal.Print(func(printer *terminal.Printer) error {
		return do(notices.Person{Client: c, Config: conf, Secrets: notifySecrets(), Printer: printer,
			Banner: []string{self, bannerCommand},
			Event: func(n notice.Notification) any {
				return news.EventOf(n, func(q *supervisor.Question) view.QuestionView { return view.ViewIn(c.Dirs, q) })
			}})
	})
}

func remind(ctx context.Context, p notices.Person) error {
	due, err := notices.Overdue(ctx, p, time.Now())
	if err != nil {
		return err
	}
	return notices.Remind(ctx, p, due)
}

// startTelling has a process of its own tell a phone, webhook or desktop of the person's what a session asks. Who has
// none, or a config that cannot be read in that folder, is told nothing; what is asked is in the inbox all the same.
func startTelling(a *sessions.Ask) {
	if c, err := request.OwnConfig(); err != nil || len(c.Notify.Receivers) == 0 && !notices.HasDesktop() {
		return
	} else if _, err := c.For(a.Cwd); err != nil {
		return
	}
	startAlone(a.ID, a.Cwd)
}

// startAlone has a process tell that is nobody's child here: who looks for days has no dead ones left. That it cannot
// be started is no error of who asks or looks.
func startAlone(args ...string) {
	if self, err := programs.Own(); err == nil {
		_ = exec.Command(self, append([]string{tellCommand, first}, args...)...).Run()
	}
}

// first is the argument of the process that starts the one which tells.
const first = "first"

// A reminding has what is due sent when somebody looks at what is open. One that looks again and again does so at most
// once a minute. The zero value has never looked.
type reminding struct{ last time.Time }

// look is told that somebody looks. What keeps it from reminding is no error of theirs.
func (r *reminding) look(ctx context.Context) {
	now := time.Now()
	if _, inside := doctor.InsideAgent(os.Environ()); inside || now.Sub(r.last) < time.Minute && !now.Before(r.last) {
		return
	}
	r.last = now
	conf, err := request.OwnConfig()
	if err != nil || !reminds(conf) {
		return
	}
	c, err := client.OpenExistingClient()
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }() // only read
	if due, err := notices.Overdue(ctx, notices.Person{Client: c, Config: conf}, now); err == nil && len(due) > 0 {
		startAlone()
	}
}

func reminds(c config.Config) bool { return c.Notify.Remind > 0 && len(c.Notify.Receivers) > 0 }

// List is that of the machine, which somebody looks at.
func (h here) List(ctx context.Context, all bool) ([]service.Run, error) {
	defer new(reminding).look(ctx)
	return h.Machine.List(ctx, all)
}

// Questions is that of the machine, which somebody looks at.
func (h here) Questions(ctx context.Context) ([]view.QuestionView, []string, error) {
	defer new(reminding).look(ctx)
	return h.Machine.Questions(ctx)
}

// WatchRuns is that of the machine, which somebody looks at.
func (h here) WatchRuns(ctx context.Context, all bool, each func([]service.Run) error) error {
	var r reminding
	return h.Machine.WatchRuns(ctx, all, func(runs []service.Run) error { r.look(ctx); return each(runs) })
}

// Watch is that of the machine, which somebody looks at.
func (h here) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	var r reminding
	return h.Machine.Watch(ctx, look, func(o view.Overview) error { r.look(ctx); return each(o) })
}

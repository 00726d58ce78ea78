package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/notices"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// newHook is what claude calls in sessions that nobody supervises, after `init --sessions`. It is not for people.
// Whatever happens it exits 0: what it does not answer the screen decides.
func newHook() *cobra.Command {
	return &cobra.Command{
		Use:    "hook",
		Short:  "ask a person what claude, on stdin, asks in a session of its own",
		Hidden: true,
		Args:   help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // a claude that is gone is an error, and the question stays
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			defer stop()
			if dirs, err := client.DefaultDirs(); err == nil {
				sessions.Hook(ctx, dirs, os.Environ(), permission.LookAt, startTelling, os.Stdin, os.Stdout)
			}
			return nil
		},
	}
}

const tellCommand = "tell"

// startTelling has a process of its own tell a phone or webhook of the person's what a session asks. Who has none, or a
// config that cannot be read in that folder, is told nothing; what is asked is in the inbox all the same.
func startTelling(a *sessions.Ask) {
	c, err := ownConfigIn(a.Cwd)
	if err != nil || len(c.Notify.Receivers) == 0 && os.Getenv(envNotifyURL) == "" {
		return
	}
	self, err := programs.Own()
	if err != nil {
		return
	}
	cmd := exec.Command(self, tellCommand, a.ID, a.Cwd)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		_ = cmd.Process.Release() // it outlives this one
	}
}

// ownConfigIn is the person's own config for what is asked in a folder; that must not hold it.
func ownConfigIn(cwd string) (config.Config, error) {
	c, err := request.OwnConfig()
	if err == nil {
		_, err = c.For(cwd)
	}
	return c, err
}

// newTell tells by the network what a session asks, until it is open no more. It is not for people.
func newTell() *cobra.Command {
	return &cobra.Command{
		Use:    tellCommand,
		Short:  "tell by the network what a session asks in a folder",
		Hidden: true,
		Args:   help.Exactly(2, 2, "a question and its folder"),
		RunE:   func(cmd *cobra.Command, args []string) error { return tell(cmd.Context(), args[0], args[1]) },
	}
}

func tell(ctx context.Context, ask, cwd string) error {
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // only read
	return terminal.Print(func(printer *terminal.Printer) error {
		p := notices.Person{Client: c, URL: os.Getenv(envNotifyURL), Secrets: notifySecrets(), Printer: printer}
		p.Event = func(n notice.Notification) any {
			return news.EventOf(n, func(q *supervisor.Question) view.QuestionView {
				if v, is := view.SessionQuestion(c.Dirs, q.ID); is {
					return v
				}
				return view.View(q)
			})
		}
		if p.Config, err = ownConfigIn(cwd); err != nil {
			return err
		}
		return notices.TellOutside(ctx, p, ask)
	})
}

package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/sessions"
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

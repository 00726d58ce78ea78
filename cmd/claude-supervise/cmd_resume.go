package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise/internal/terminal"
	"claude-supervise/supervisor"
)

func newResume() *cobra.Command {
	var f sessionFlags
	var policy, claude string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "go on with a run that nobody supervises",
		Long: `Go on with a run that nobody supervises: one that is parked or was interrupted,
one whose supervisor died, or one that failed for a cause that is mended now.
Nothing is done twice, and an answer that was given meanwhile is delivered.`,
		Example: "  claude-supervise resume r-3f9a2c1b\n  claude-supervise resume r-3f9a2c1b --claude ~/bin/claude",
		Args:    exactly(1, 1, "the id of a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			return runResume(cmd.Context(), args[0], policy, claude, f)
		},
	}
	cmd.Flags().StringVar(&policy, "on-question", "", "`WHAT` follows: ask, park or fail (default: as the run was started)")
	cmd.Flags().StringVar(&claude, "claude", "", "another claude than the run was started with, at `PATH`")
	addSessionFlags(cmd, &f)
	return cmd
}

func runResume(ctx context.Context, id, policy, claude string, f sessionFlags) error {
	asked, err := onQuestion(policy)
	if err != nil {
		return err
	}
	if claude != "" {
		if claude, err = supervisor.FindClaude(claude, os.Environ()); err != nil {
			return err
		}
	}
	s, err := newSession(f)
	if err != nil {
		return err
	}
	plan, err := s.Resumable(ctx, id)
	if err != nil {
		return errors.Join(err, s.close())
	}
	if asked == "" {
		asked = plan.OnQuestion
	}
	out, err := s.supervise(ctx, f, plan.Cwd, func(ctx context.Context, sup supervisor.Supervisor) (supervisor.Outcome, error) {
		return sup.Resume(ctx, plan.Run, supervisor.Taking{Policy: s.policy(asked), Revive: true, Claude: claude})
	})
	return s.finish(out, err)
}

// goOn tells how a run that nobody supervises goes on after an answer, or lets it: unasked with --resume, and on a
// terminal if the person says so.
func goOn(c supervisor.Client, run string, unasked bool) error {
	if c.Supervised(run) {
		return nil
	}
	if !unasked && onTerminal() {
		fmt.Fprintf(os.Stderr, "Nobody supervises %s. Go on with it in the background? [y/N] ", run)
		var reply string
		_, _ = fmt.Fscanln(os.Stdin, &reply) // no reply is no
		unasked = reply == "y" || reply == "Y" || reply == "yes"
	}
	if !unasked {
		return print(func(p *terminal.Printer) error {
			return p.Result("The answer is kept; nobody supervises the run. Go on with:\n  claude-supervise resume " + run)
		})
	}
	log, err := resumeInBackground(c, run)
	if err != nil {
		return fmt.Errorf("the answer is kept, but %s could not be resumed: %w; go on with: claude-supervise resume %s", run, err, run)
	}
	return print(func(p *terminal.Printer) error {
		return p.Result(fmt.Sprintf("%s goes on in the background; what it says goes to %s", run, log))
	})
}

// resumeInBackground starts a supervisor in a session of its own, so that it outlives this terminal.
func resumeInBackground(c supervisor.Client, run string) (log string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	log = filepath.Join(c.Dirs.RunDir(run), "supervisor.out")
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }() // the child has its own
	cmd := exec.Command(self, "resume", run)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	return log, cmd.Process.Release()
}

// stopAlone takes over a run that nobody supervises for as long as it takes to stop it.
func stopAlone(ctx context.Context, run string) error {
	s, err := newSession(sessionFlags{quiet: true})
	if err != nil {
		return err
	}
	out, err := s.supervise(ctx, sessionFlags{}, "", func(ctx context.Context, sup supervisor.Supervisor) (supervisor.Outcome, error) {
		return sup.Resume(ctx, run, supervisor.Taking{Policy: supervisor.Park})
	})
	if errors.Is(err, supervisor.ErrOwned) {
		return errors.Join(s.close(), print(func(p *terminal.Printer) error { return p.Result(run + " is being stopped.") }))
	}
	if err == nil && out.Code == supervisor.ExitStopped {
		return errors.Join(s.printer.Result(run+" is stopped."), s.close())
	}
	return s.finish(out, err)
}

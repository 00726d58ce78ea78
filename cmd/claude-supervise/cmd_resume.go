package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/engine"
)

func newResume() *cobra.Command {
	var f sessionFlags
	var g givenFlags
	var snap snapshotFlags
	var policy string
	var program program
	var all, failed bool
	cmd := &cobra.Command{
		Use:   "resume RUN | --all | --failed RUN [flags] [-- FLAGS]",
		Short: "resume a parked, interrupted or orphaned run",
		Long: `Resume a run that nobody supervises: it is parked, was interrupted, lost its
supervisor, or failed for a cause that is now fixed. No work is repeated, and an
answer given in the meantime is delivered.

--all resumes every such run that has not ended, each in the background, for
example after a reboot. --failed retries the agents that failed or reported
failure, in their conversations. Work that succeeded is not repeated.

Flags apply to the run from now on. --allow RULE, --answer and the flags after
-- are added to those the run was started with; other flags replace the earlier
value. If claude refused a flag, giving -- drops it. Open questions that the new
flags decide are answered by them; --answer is for those asked from now on.

A run from a pack file keeps none of its earlier permissions, because anybody
can have written the file. Grant them here or to unpack. The command of a run of
--exec must also be given again.`,
		Example: "  claude-supervise resume r-3f9a2c1b\n" +
			"  claude-supervise resume r-3f9a2c1b --claude ~/bin/claude\n" +
			"  claude-supervise resume r-3f9a2c1b --exec \"sh agent.sh {}\"\n" +
			"  claude-supervise resume r-3f9a2c1b --allow \"Bash(make test)\"\n" +
			"  claude-supervise resume r-3f9a2c1b --max-cost-usd 5 -- --model opus\n" +
			"  claude-supervise resume --all\n" +
			"  claude-supervise resume --failed r-3f9a2c1b",
		Args: func(cmd *cobra.Command, args []string) error {
			if all && failed {
				return usage("--all and --failed cannot be combined: name the run whose failed agents are to be retried")
			}
			if all {
				return exactlyBeforeDash(0, 0, "either the id of a run or --all")(cmd, args)
			}
			return exactlyBeforeDash(1, 1, "the id of a run, or --all")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			args, passed := beforeDash(cmd, args)
			given, err := g.given(cmd, passed)
			if err != nil {
				return err
			}
			if all && !given.IsZero() {
				return usage("permissions, answers and limits are given to one run, not with --all; nothing was resumed")
			}
			if all && snap.dir != "" {
				return usage("--snapshots is for one run, not for --all; nothing was resumed")
			}
			if all {
				return resumeAll(cmd.Context(), policy, program)
			}
			if err := setDisplayOf(cmd, args[0]); err != nil {
				return err
			}
			return runResume(cmd.Context(), args[0], policy, failed, program, given, snap, f)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "resume all unsupervised runs, in the background")
	cmd.Flags().BoolVar(&failed, "failed", false, "retry the agents that failed")
	cmd.Flags().StringVar(&policy, "on-question", "", "`ACTION`: ask, park, fail (default: unchanged)")
	cmd.Flags().StringVar(&program.claude, "claude", "", "use the claude at `PATH`")
	cmd.Flags().StringVar(&program.exec, "exec", "", "replace the `COMMAND` of a run of --exec")
	addGivenFlags(cmd, &g)
	addSnapshotFlags(cmd, &snap)
	addSessionFlags(cmd, &f)
	return completes(cmd, completeRuns(false, isLeft), completeNothing)
}

// A program is what resume may give a run in place of what it was started with; "": the same.
type program struct{ claude, exec string }

// found looks for both now, so that what is misspelt is known before anything is done.
func (p program) found() (claude string, command []string, err error) {
	if p.claude != "" {
		if claude, err = doctor.FindClaude(p.claude, os.Environ()); err != nil {
			return "", nil, err
		}
	}
	if p.exec != "" {
		command, err = execCommand(p.exec)
	}
	return claude, command, err
}

func runResume(ctx context.Context, id, policy string, failed bool, with program, given supervisor.Given,
	snap snapshotFlags, f sessionFlags) error {
	typed := time.Now()
	asked, err := onQuestion(policy)
	if err != nil {
		return err
	}
	claude, command, err := with.found()
	if err != nil {
		return err
	}
	s, err := newSession(f)
	if err != nil {
		return err
	}
	plan, err := s.resumePlan(ctx, id, typed, failed)
	if err != nil {
		return errors.Join(err, s.close())
	}
	if asked == "" {
		asked = plan.OnQuestion
	}
	f.noNotify = f.noNotify || plan.NoNotify
	to := snapshotting{run: plan.Run, to: plan.Snapshots}
	snapshots, err := snap.given(s.Dirs.State, plan.Cwd)
	if err != nil {
		return errors.Join(err, s.close())
	}
	if snapshots != nil {
		to.to = snapshots
	}
	out, err := s.supervise(ctx, f, plan.Cwd, to,
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Resume(ctx, plan.Run, engine.ResumeOptions{
				Policy: s.policy(asked), Revive: plan.Revive, Failed: failed, Claude: claude, Exec: command,
				Given: given, Snapshots: snapshots,
			})
		})
	return s.finish(out, err)
}

// resumePlan finds out whether a run can go on, or have what failed in it tried again.
func (s *session) resumePlan(ctx context.Context, id string, typed time.Time, failed bool) (client.ResumePlan, error) {
	if failed {
		return s.Retryable(ctx, id)
	}
	return s.Resumable(ctx, id, typed)
}

// resumeAll goes on with every run that nobody supervises, each in the background. One that cannot go on does not keep
// the others.
func resumeAll(ctx context.Context, policy string, with program) error {
	asked, err := onQuestion(policy)
	if err != nil {
		return err
	}
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing was written
	runs, err := client.Resumables(ctx, asked)
	if err != nil {
		return err
	}
	var failed error
	err = terminal.Print(func(p *terminal.Printer) error {
		if len(runs) == 0 {
			return p.Result("There is no run to resume. Open questions: claude-supervise questions")
		}
		for _, r := range runs {
			args := []string{"resume", r.Run}
			if policy != "" {
				args = append(args, "--on-question", policy)
			}
			if with.claude != "" {
				args = append(args, "--claude", with.claude)
			}
			if with.exec != "" {
				args = append(args, "--exec", with.exec)
			}
			log, err := inTheBackground(client, r.Run, nil, nil, args...)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s could not be resumed: %w", r.Run, err))
				continue
			}
			if err := p.Result(inBackgroundWords(r.Run, log)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, failed)
}

func inBackgroundWords(run, log string) string {
	return fmt.Sprintf("%s continues in the background; its output goes to\n  %s", run, log)
}

// goOn tells how a run that nobody supervises goes on after an answer, or lets it: unasked with --resume, and on a
// terminal if the person says so.
func goOn(ctx context.Context, c client.Client, run string, unasked bool) error {
	if c.Supervised(ctx, run) {
		return tellSuspended(ctx, c, run)
	}
	if r, err := c.Run(ctx, run); err == nil && r.EndedAt != nil {
		return nil // it took the answer, and has come to its end meanwhile
	}
	if !unasked && onTerminal() {
		unasked = confirmed(fmt.Sprintf("Nobody supervises %s. Resume it in the background?", run))
	}
	if !unasked {
		return terminal.Print(func(p *terminal.Printer) error {
			return p.Result("The answer is kept; nobody supervises the run. To continue, run:\n  claude-supervise resume " + run)
		})
	}
	log, err := inTheBackground(c, run, nil, nil, "resume", run)
	if err != nil {
		return fmt.Errorf("the answer is kept, but %s could not be resumed: %w; to continue, run: claude-supervise resume %s",
			run, err, run)
	}
	return terminal.Print(func(p *terminal.Printer) error {
		return p.Result(inBackgroundWords(run, log))
	})
}

// tellSuspended says that nothing happens to what was left for a run whose supervisor is suspended.
func tellSuspended(ctx context.Context, c client.Client, run string) error {
	v, err := c.Reader().Run(ctx, run)
	if err != nil || !v.Suspended {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		p.Notice("It is kept: " + run + " is suspended; " + v.HowToContinue())
		return nil
	})
}

// stopAlone takes over a run that nobody supervises for as long as it takes to stop it.
func stopAlone(ctx context.Context, run string, f stopFlags) error {
	s, err := newSession(sessionFlags{quiet: true})
	if err != nil {
		return err
	}
	out, err := s.supervise(ctx, sessionFlags{}, "", snapshotting{run: run},
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Resume(ctx, run, engine.ResumeOptions{Policy: supervisor.Park})
		})
	if errors.Is(err, supervisor.ErrOwned) {
		return errors.Join(s.close(), f.tell(run, "stopping", run+" is being stopped."))
	}
	if err == nil && out.Code == supervisor.ExitStopped {
		return errors.Join(s.close(), f.tell(run, "stopped", run+" is stopped."))
	}
	return s.finish(out, err)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// resumable is which run is resumed where none is named.
var resumable = commands.Choice{Takes: "the id of a run, or --all", Fits: commands.IsLeft,
	None: "no run is left to be resumed"}

// hasFailed wants runs that have ended without success.
func hasFailed(v view.RunView) bool { return v.EndedAt != nil && v.ExitCode != nil && *v.ExitCode != 0 }

func newResume() *cobra.Command {
	var f request.Session
	var g request.Grants
	var snap request.Snapshots
	var policy, cwd string
	var program program
	var all, failed bool
	cmd := &cobra.Command{
		Use:   "resume [RUN] | --all | --failed [RUN] [flags] [-- FLAGS]",
		Short: "resume a parked, interrupted or orphaned run",
		Long: `Resume a run that nobody supervises: it is parked, was interrupted, lost its
supervisor, or failed for a cause that is now fixed. No work is repeated, and an
answer given in the meantime is delivered.

If the run's folder was renamed or moved, name it with --cwd DIR. The agents are
told, and their worktrees are found again.

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
			"  claude-supervise resume r-3f9a2c1b --cwd ~/src/renamed\n" +
			"  claude-supervise resume --all\n" +
			"  claude-supervise resume --failed r-3f9a2c1b",
		Args: func(cmd *cobra.Command, args []string) error {
			if all && failed {
				return usage("--all and --failed cannot be combined: name the run whose failed agents are to be retried")
			}
			if all {
				return request.ExactlyBeforeDash(0, 0, "either the id of a run or --all")(cmd, args)
			}
			return request.ExactlyBeforeDash(0, 1, resumable.Takes)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			args, passed := request.BeforeDash(cmd, args)
			given, err := g.Read(cmd, passed)
			if err != nil {
				return err
			}
			if all && !given.IsZero() {
				return usage("permissions, answers and limits are given to one run, not with --all; nothing was resumed")
			}
			if all && cwd != "" {
				return usage("--cwd is for one run, not for --all; nothing was resumed")
			}
			if all && snap.Dir != "" {
				return usage("--snapshots is for one run, not for --all; nothing was resumed")
			}
			if all {
				return resumeAll(cmd.Context(), policy, program)
			}
			which := resumable
			if failed {
				which.Fits, which.Ended, which.None = hasFailed, true, "no run has failed"
			}
			id, err := thisMachine.Chosen(cmd, args, which)
			if err != nil {
				return err
			}
			if err := request.SetDisplayOf(cmd, id); err != nil {
				return err
			}
			return runResume(cmd.Context(), id, cwd, policy, failed, program, given, snap, f)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "resume all unsupervised runs, in the background")
	cmd.Flags().StringVar(&cwd, "cwd", "", "work in `DIR`, to which the run's folder was moved")
	cmd.Flags().BoolVar(&failed, "failed", false, "retry the agents that failed")
	cmd.Flags().StringVar(&policy, "on-question", "", "`ACTION`: ask, park, fail (default: unchanged)")
	cmd.Flags().StringVar(&program.claude, "claude", "", "use the claude at `PATH`")
	cmd.Flags().StringVar(&program.exec, "exec", "", "replace the `COMMAND` of a run of --exec")
	request.AddGrants(cmd, &g)
	request.AddSnapshots(cmd, &snap)
	request.AddSession(cmd, &f)
	return commands.Completes(cmd, commands.RunsOf(false, commands.IsLeft), commands.Nothing)
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
		command, err = request.ExecCommand(p.exec)
	}
	return claude, command, err
}

func runResume(ctx context.Context, id, cwd, policy string, failed bool, with program, given conf.Given,
	snap request.Snapshots, f request.Session) error {
	typed := client.Typed()
	asked, err := request.OnQuestion(policy)
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
	var plan client.ResumePlan
	if failed {
		plan, err = s.Retryable(ctx, id)
	} else {
		plan, err = s.Resumable(ctx, id, typed)
	}
	if err != nil {
		return errors.Join(err, s.close())
	}
	moved, err := moves(ctx, plan, cwd)
	if err != nil {
		return errors.Join(err, s.close())
	}
	plan.Cwd = cmp.Or(moved, plan.Cwd)
	if err := s.asStarted(plan); err != nil {
		return errors.Join(err, s.close())
	}
	if asked == "" {
		asked = plan.OnQuestion
	}
	f.NoNotify = f.NoNotify || plan.NoNotify
	to := snapshotting{run: plan.Run, to: plan.Snapshots}
	snapshots, err := snap.To(s.Dirs.State, plan.Cwd)
	if err != nil {
		return errors.Join(err, s.close())
	}
	if snapshots != nil {
		to.to = snapshots
	}
	out, err := s.supervise(ctx, f, plan.Cwd, to,
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Resume(ctx, plan.Run, engine.ResumeOptions{
				Policy: s.policy(asked), Revive: plan.Revive, Failed: failed, Claude: claude, Exec: command, Cwd: moved,
				Given: given, Snapshots: snapshots,
			})
		})
	return s.finish(out, err)
}

// moves returns the folder in which a run continues, absolute, where that is not the one it has worked in: "" if it is.
// Its worktrees belong to the repository again, wherever that is now. It is an error if the run has no folder any more.
func moves(ctx context.Context, plan client.ResumePlan, cwd string) (string, error) {
	if cwd == "" {
		if view.FolderGone(plan.Cwd) {
			return "", fmt.Errorf("the folder of %s is gone: %s; the run is saved. "+
				"If the folder was renamed or moved, run:\n  %s", plan.Run, plan.Cwd,
				view.ResumeCommand(string(thisProgram), plan.Run, true))
		}
		return "", nil
	}
	to, err := request.Folder(cwd)
	if err != nil || to == plan.Cwd {
		return "", err
	}
	now := text.Renamed(plan.Cwd, to)
	trees := map[string][]string{} // by the top of their repository
	for _, w := range plan.Worktrees {
		trees[now(w.Repo)] = append(trees[now(w.Repo)], now(w.Path))
	}
	for top, paths := range trees {
		if err := worktree.Repair(ctx, plan.Run, top, paths); err != nil {
			return "", fmt.Errorf("the worktrees of %s cannot be tied to %s: %w; nothing was resumed. "+
				"After `git worktree repair` there, run this again", plan.Run, top, err)
		}
	}
	return to, nil
}

// resumeAll goes on with every run that nobody supervises, each in the background. One that cannot go on does not keep
// the others.
func resumeAll(ctx context.Context, policy string, with program) error {
	asked, err := request.OnQuestion(policy)
	if err != nil {
		return err
	}
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing was written
	runs, waiting, err := client.Resumables(ctx, asked)
	if err != nil {
		return err
	}
	var failed error
	err = terminal.Print(func(p *terminal.Printer) error {
		if len(runs)+len(waiting) == 0 {
			return p.Result("There is no run to resume. Open questions: claude-supervise questions")
		}
		for _, r := range runs {
			if _, err := moves(ctx, r, ""); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
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
		for _, run := range waiting {
			if err := p.Result(run + " waits for an answer: claude-supervise questions"); err != nil {
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
		note, err := suspended(ctx, c, run)
		if err != nil || note == "" {
			return err
		}
		return terminal.Print(func(p *terminal.Printer) error { p.Notice(note); return nil })
	}
	r, err := c.Reader().Run(ctx, run)
	if err == nil && r.EndedAt != nil {
		return nil // it took the answer, and has come to its end meanwhile
	}
	r.LookForFolder()
	unasked = unasked && !r.FolderGone
	if !unasked && terminal.Attended() && !r.FolderGone {
		unasked = terminal.Confirmed(fmt.Sprintf("Nobody supervises %s. Resume it in the background?", run))
	}
	if !unasked {
		return terminal.Print(func(p *terminal.Printer) error {
			next := "To continue, run:"
			if r.FolderGone {
				next = "Its folder is gone: " + r.Cwd + "\nTo continue in another, run:"
			}
			return p.Result("The answer is kept; nobody supervises the run. " + next + "\n  " + thisProgram.Resume(r))
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

// suspended says of a run whose supervisor is suspended that nothing happens to what was left for it; "" of others.
func suspended(ctx context.Context, c client.Client, run string) (string, error) {
	v, err := c.Reader().Run(ctx, run)
	if err != nil || !v.Suspended {
		return "", err
	}
	return "It is kept: " + run + " is suspended; " + v.HowToContinue(), nil
}

// asStarted sets the variables of this process with which the run was started, and says so. A run goes on from another
// shell, from cron or by the page: its conversation is where it was begun, and claude works as whom it began.
func (s *session) asStarted(plan client.ResumePlan) error {
	set, missing := plan.Where.Changes(os.Environ())
	var said []string
	for _, c := range set {
		var err error
		if c.Value == "" {
			err, said = os.Unsetenv(c.Name), append(said, c.Name+" (not set)")
		} else {
			err, said = os.Setenv(c.Name, c.Value), append(said, c.Name+"="+c.Value)
		}
		if err != nil {
			return fmt.Errorf("the variable %s of the run cannot be set: %w", c.Name, err)
		}
	}
	if len(said) > 0 {
		s.printer.Progress("As when the run was started: " + text.Visible(strings.Join(said, ", ")) + ".")
	}
	if len(missing) > 0 {
		s.printer.Notice("Set when the run was started, and not here: " + strings.Join(missing, ", ") +
			". If claude cannot work without, set it and resume the run again.")
	}
	return nil
}

// End leaves a stop for the run's supervisor. Where there is none it takes the run over for as long as it takes to stop
// it, so that nothing is left for somebody to find.
func (here) End(ctx context.Context, id string, only bool) (service.Stopped, error) {
	c, err := openClient()
	if err != nil {
		return service.Stopped{}, err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	stopped, err := service.Stop(ctx, c, id, only, terminal.Who("stop"))
	switch {
	case err != nil:
		return stopped, err
	case stopped.Alone:
		return stopAlone(ctx, stopped.Run, request.Session{Quiet: true})
	case stopped.Status == "stopping":
		stopped.Note, err = suspended(ctx, c, stopped.Run)
	}
	return stopped, err
}

// stopAlone takes over a run that nobody supervises for as long as it takes to stop it.
func stopAlone(ctx context.Context, run string, f request.Session) (service.Stopped, error) {
	stopped := service.Stopped{Run: run, ID: run, Status: "stopped", Text: run + " is stopped."}
	s, err := newSession(f)
	if err != nil {
		return stopped, err
	}
	out, err := s.supervise(ctx, f, "", snapshotting{run: run},
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Resume(ctx, run, engine.ResumeOptions{Policy: conf.Park})
		})
	if errors.Is(err, supervisor.ErrOwned) {
		stopped.Status, stopped.Text = "stopping", run+" is being stopped."
		return stopped, s.close()
	}
	if err == nil && out.Run != nil && out.Run.EndedAt != nil && out.Run.TakenOver == nil {
		// The stop was done. The exit code of the run is another thing: an agent of it may have ended worse before.
		if out.Code != exit.Stopped {
			stopped.Text += "\nIt ends as " + string(out.Run.Status) + " all the same: " + view.Because(out.Run.Reason)
		}
		return stopped, s.close()
	}
	if f.Aside && err == nil && out.Run != nil {
		err = errors.New(news.Ending(out))
	}
	return service.Stopped{}, s.finish(out, err) // which says how the run was left
}

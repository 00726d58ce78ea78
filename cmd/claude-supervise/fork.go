package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// A forking is a run that is to go on from a question of another, which is looked through for it.
type forking struct {
	task.Task
	origin supervisor.State
	at     git.Moment // when the work was kept, and at which commit
	asked  time.Time
}

// forkFrom looks whether a run can go on from a question with another answer. Nothing is changed.
func forkFrom(ctx context.Context, c client.Client, question, typed, by string) (f forking, err error) {
	q, err := c.Reader().FindQuestion(ctx, question)
	if err != nil {
		return f, err
	}
	refused := func(err error) error {
		return fmt.Errorf("%s cannot be answered differently: %w; nothing was started", q.ID, err)
	}
	if q.Run == "" {
		return f, refused(errors.New("it belongs to no run"))
	}
	if f.origin, err = view.State(ctx, c.Store, q.Run); err != nil {
		return f, err
	}
	fork, err := f.origin.Fork(q.ID)
	if err != nil {
		return f, refused(err)
	}
	recorded := f.origin.Questions[q.ID]
	f.asked = recorded.AskedAt
	stat := func(path string) error {
		_, err := os.Stat(path)
		return err
	}
	fork.Answer, err = questions.Judge(recorded, typed, questions.Place{Dir: fork.Folder, Stat: stat})
	if err == nil {
		err = questions.Check(recorded, fork.Answer, fork.Folder)
	}
	if err != nil {
		return f, fmt.Errorf("%w; nothing was started", err)
	}
	fork.By = by
	if fork.Answer == fork.Before {
		return f, refused(fmt.Errorf("%q is the answer that it had", fork.Answer))
	}
	if f.at, err = host.MomentsOf(c.Dirs, q.Run).Moment(ctx, fork.Moment); errors.Is(err, git.ErrNoMoment) {
		err = errors.New("the work as it was then is not kept any more")
	}
	if err == nil && f.at.Head == "" {
		err = errors.New("nothing was committed in its folder then, so there is nothing that a git worktree begins at")
	}
	if err == nil && view.FolderGone(fork.Folder) { // of a child whose worktree is gone, say
		fork.Folder, err = repositoryOf(f.origin, fork.Agent)
	}
	if err == nil {
		err = c.Continuable(f.origin, fork)
	}
	if err != nil {
		return f, refused(err)
	}
	f.Task = f.origin.ForkTask(fork)
	return f, nil
}

// repositoryOf returns the work tree of which the worktree of an agent was made.
func repositoryOf(s supervisor.State, agent string) (string, error) {
	if w := s.Agents[agent].Worktree; w != nil && w.Repo != "" && !view.FolderGone(w.Repo) {
		return w.Repo, nil
	}
	return "", fmt.Errorf("its folder is gone: %s", s.Folder(agent))
}

// caution says what a fork has, and what not.
func (f forking) caution() string {
	kept := "when it was asked"
	if late := f.at.At.Sub(f.asked); late >= 2*time.Second {
		kept = fmt.Sprintf("%s after it was asked", terminal.Duration(late))
	}
	return fmt.Sprintf(`A new run continues from %s, with %q in place of %q: with the conversation
until then, and the work of %s as it was %s, in a git worktree of its own.
%s is left as it is.
Not in it: files that git ignores (dependencies, builds, .env), and subagents.
Not undone: what was done since outside of the folder, as in databases and on the network.`,
		f.Fork.Question, f.Fork.Answer, f.Fork.Before, f.Fork.Folder, kept, f.Fork.Run)
}

// runAgain answers a question differently: with a new run, in the background.
func runAgain(ctx context.Context, args []string, f asking.Flags) error {
	if len(args) < 2 || f.Change || f.Skip || f.SkipRest || f.AllLike || f.Decline != nil {
		return usage("--again takes the id of a question and the other answer, and no other flag but --json, as in: " +
			"claude-supervise answer --again q-7kq2mx 2")
	}
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing is left in it
	typed := strings.Join(args[1:], " ")
	if typed == "-" {
		if typed, err = message("answer", args[1:], os.Stdin); err != nil {
			return err
		}
	}
	fork, err := forkFrom(ctx, c, args[0], typed, terminal.Who("answer"))
	if err != nil {
		return err
	}
	if request.InBackground() {
		return fork.supervise(ctx)
	}
	return terminal.Print(func(p *terminal.Printer) error {
		p.Notice(fork.caution())
		run, log, err := startFork(c, args[0], typed)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return p.JSON(map[string]string{"id": run, "run": run, "from": fork.Fork.Run, "question": fork.Fork.Question,
				"output": log})
		}
		p.Notice(fmt.Sprintf("It continues in the background. Commands for it:\n"+
			"  claude-supervise attach %[1]s\n  claude-supervise compare %[2]s %[1]s\n  claude-supervise keep %[1]s",
			run, fork.Fork.Run))
		return p.Result(run)
	})
}

// startFork starts the supervisor of a fork in the background, and gives the run's id and the file that it writes to.
func startFork(c client.Client, question, typed string) (run, log string, err error) {
	run = host.NewRun()
	log, err = inTheBackground(c, run, nil, nil, "answer", "--again", "--", question, typed)
	return run, log, err
}

// supervise supervises the run of a fork until it ends or is left.
func (f forking) supervise(ctx context.Context) error {
	var flags request.Session
	flags.NoNotify = f.Config.NoNotify
	s, err := newSession(flags)
	if err != nil {
		return err
	}
	if err := s.asStarted(client.ResumePlan{Where: f.Config.Where}); err != nil {
		return errors.Join(err, s.close())
	}
	f.Run = os.Getenv(request.BackgroundRun)
	out, err := s.supervise(ctx, flags, f.Cwd, snapshotting{run: f.Run},
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Start(ctx, f.Task, s.policy(f.Config.OnQuestion))
		})
	return s.finish(out, err)
}

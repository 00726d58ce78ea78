package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func newAnswer() *cobra.Command {
	var f asking.Flags
	var again bool
	cmd := &cobra.Command{
		Use:   "answer [ID] [VALUE...]",
		Short: "answer an open question",
		Long: `Answer an open question. The first answer counts; anyone who answers later is
told whose answer that was.

On a terminal, answer without a VALUE asks the question there. Without an ID it
asks all open questions in turn: urgent ones first, then the oldest. Type > for
the next question and < for the previous one. With a VALUE but no ID, exactly
one question must be open. ID may also be a run, its name or an agent; its one
open question is then meant.

Whatever lets something happen (a permission, a delegation, a budget, a command)
is answered by the ID of its question alone.

VALUE is the number, letter or label of an option, or free text. A question that
allows several options takes several (1,3 or 1 3). VALUE is read from stdin if
it is -. Other kinds of questions take:

  permission   allow; allow-run [RULE], by default the RULE shown;
               deny [WHY]; deny-stop [WHY], which also stops the agent
  delegation   approve [TASK], where TASK replaces the agent's own;
               deny WHY ALTERNATIVE (two arguments), or
               deny WHY instead: ALTERNATIVE
  budget       raise LIMIT, finish or stop
  blocker      a proposal of the agent, with a remark if you like
               (2: skip the vendored folder), your own words, or:

  resolved: WHAT    the blocker is gone; WHAT was done about it
  run: COMMAND      run COMMAND first, in the folder of the run
  skip              continue without the blocked part, and list it in a file
  retry             retry from the checkpoint
  delegate          delegate the blocked part, and continue with the rest
  reduce: WHAT      reduce the scope
  give up           end the agent as failed

An agent's own proposals "Skip …", "Retry …", "Delegate …", "Reduce scope …" and
"Give up …" act like these. If a detail is missing, such as what to exclude, you
are asked for it next.

If some questions of an agent are optional, --skip continues without this one.
--skip-rest, together with an answer, also skips the other optional questions of
its group.

--image shows the agent an image with the answer: a PNG, JPEG, GIF or WebP of at
most 3.75 MB and 8000 pixels each way, up to eight of 15 MB together. They are
for what an agent itself asks, not for decisions, scripts, subagents and --exec.

--again answers a question differently that was answered before: in a new run,
which continues from there in a git worktree of its own, or in a copy of a
folder without git (help answering).

An agent may ask and work on under an assumption. --assumed, or + as the VALUE,
accepts what it has assumed; any other answer corrects it. Until it is answered
the agent does not count as done.

Any question can be declined. --decline tells the agent why; it continues
without the answer or ends. A declined permission is denied.

A command needs your confirmation before it runs: a separate question, which can
only be answered on a terminal, because the command runs as you.

--all-like gives the answer to every similar question of the run, including
later ones. It is meant for agents that do the same work on many items.
Permissions are similar only if the call is identical. --change ends this for
later questions.

An open question that blocks its agent is also a file,
~/.claude/questions/pending/ID.json. The first line of ~/.claude/answers/ID.txt
answers it. A script can ask by such a file: its ID is the name of the file, and
the answer goes where the script looks for it. That answer must be one of the
listed options, unless the file sets own_words. ~/.claude/audit/questions.log
records all answers.`,
		Example: "  claude-supervise answer\n  claude-supervise answer q-7kq2mx 2\n" +
			"  claude-supervise answer q-7kq2mx - < notes.md\n" +
			"  claude-supervise answer nightly 2\n" +
			"  claude-supervise answer q-7kq2mx \"both, OAuth2 first\"\n" +
			"  claude-supervise answer q-7kq2mx \"like this\" --image shot.png\n" +
			"  claude-supervise answer q-7kq2mx --assumed\n" +
			"  claude-supervise answer q-7kq2mx allow\n" +
			"  claude-supervise answer q-7kq2mx approve \"Port only the parser\"\n" +
			"  claude-supervise answer q-7kq2mx deny \"too early\" \"list it in the report\"\n" +
			"  claude-supervise answer --all-like q-7kq2mx overwrite\n" +
			"  claude-supervise answer q-7kq2mx \"resolved: the registry is up again\"\n" +
			"  claude-supervise answer q-7kq2mx 2: skip the vendored folder\n" +
			"  claude-supervise answer q-7kq2mx \"run: npm install\"\n" +
			"  claude-supervise answer q-7kq2mx --decline \"ask the team that owns it\"\n" +
			"  claude-supervise answer workflow_1729350000_q1 oauth\n" +
			"  claude-supervise answer q-7kq2mx --change 1\n" +
			"  claude-supervise answer --again q-7kq2mx 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			if again {
				return runAgain(cmd.Context(), args, f)
			}
			return runAnswer(cmd, args, f)
		},
	}
	f.Add(cmd, flagError)
	cmd.Flags().BoolVar(&f.Change, "change", false, "replace an answer that is not yet delivered")
	cmd.Flags().BoolVar(&again, "again", false, "answer differently, in a new run from there on")
	cmd.Flags().BoolVar(&f.SkipRest, "skip-rest", false,
		"also skip the optional questions asked with it")
	cmd.Flags().BoolVar(&f.Resume, "resume", false, "resume an unsupervised run in the background")
	return commands.Completes(cmd, commands.QuestionsOf, commands.OptionsOf)
}

func runAnswer(cmd *cobra.Command, args []string, f asking.Flags) error {
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	return asking.Answering{Program: string(thisProgram),
		Prompt: asking.Prompt{
			Service: here{acting}, With: service.Answer{By: terminal.Who("answer")},
			Shows:  func(ctx context.Context, open []view.QuestionView) []terminal.Question { return toAsk(ctx, c, open) },
			Drafts: terminal.Drafts{Folder: c.Dirs.RunDir},
		},
		Meant: func(ctx context.Context, args []string) (*view.QuestionView, string, service.Named, error) {
			return service.Meant(ctx, c, args)
		},
		Asks:  func(ctx context.Context, args []string) (asking.Wanted, bool, error) { return wanted(ctx, c, args) },
		Stdin: func() (string, error) { return message("answer", []string{"-"}, os.Stdin) },
		Said:  asking.Said,
		JSON:  func(k service.Kept, a service.Answer) any { return asking.InJSON(k, a) },
		GoOn:  func(ctx context.Context, run string, unasked bool) error { return goOn(ctx, c, run, unasked) },
	}.Run(cmd, args, f)
}

// wanted says which questions are asked on a terminal: all that are open, or those of the run or agent that is named.
func wanted(ctx context.Context, c client.Client, args []string) (w asking.Wanted, asks bool, err error) {
	if w.Of, err = service.NamedRun(ctx, c, args); err != nil || len(args) > 0 && w.Of == "" {
		return w, false, err
	}
	open, err := view.OpenQuestions(ctx, c.Store)
	ofIt := func(q *supervisor.Question) bool { return q.Run == w.Of || q.Agent == w.Of }
	switch {
	case err != nil:
		return w, false, err
	case w.Of != "" && !slices.ContainsFunc(open, ofIt):
		return w, false, usage("%s has no open question; nothing was kept", w.Of)
	case w.Of != "":
		return w, true, nil
	}
	beside, problems, err := c.Reader().OfNoRun(ctx, nil)
	if len(open)+len(beside) > 0 {
		return w, true, nil
	}
	if err == nil {
		err = terminal.Print(func(p *terminal.Printer) error {
			asking.TellFileProblems(p, problems, nil)
			return nil
		})
	}
	return w, false, err
}

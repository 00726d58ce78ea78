package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

func newAnswer() *cobra.Command {
	f := questions.Flags{Program: string(thisProgram)}
	var why string
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
			"  claude-supervise answer allow\n" +
			"  claude-supervise answer q-7kq2mx approve \"Port only the parser\"\n" +
			"  claude-supervise answer q-7kq2mx deny \"too early\" \"list it in the report\"\n" +
			"  claude-supervise answer --all-like q-7kq2mx overwrite\n" +
			"  claude-supervise answer q-7kq2mx \"resolved: the registry is up again\"\n" +
			"  claude-supervise answer q-7kq2mx 2: skip the vendored folder\n" +
			"  claude-supervise answer q-7kq2mx \"run: npm install\"\n" +
			"  claude-supervise answer q-7kq2mx --decline \"ask the team that owns it\"\n" +
			"  claude-supervise answer workflow_1729350000_q1 oauth\n" +
			"  claude-supervise answer q-7kq2mx --change 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			if cmd.Flags().Changed("decline") {
				f.Decline = &why
			}
			return runAnswer(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.Change, "change", false, "replace an answer that is not yet delivered")
	cmd.Flags().BoolVar(&f.AllLike, "all-like", false, "answer all similar questions of the run, also later ones")
	cmd.Flags().BoolVar(&f.Skip, "skip", false, "continue without an optional question")
	cmd.Flags().BoolVar(&f.SkipRest, "skip-rest", false,
		"also skip the optional questions asked with it")
	cmd.Flags().StringVar(&why, "decline", "", "decline to answer, and tell the agent `WHY`")
	cmd.Flags().BoolVar(&f.Resume, "resume", false, "resume an unsupervised run in the background")
	cmd.Flags().BoolVar(&f.AsJSON, "json", false, "print the saved answer as a JSON object")
	return completes(cmd, completeQuestions, completeOptions)
}

func runAnswer(ctx context.Context, args []string, f questions.Flags) error {
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	asks := onTerminal() && !f.Skip && f.Decline == nil && !f.AsJSON
	if len(args) == 0 && asks {
		return askAll(ctx, client, "", f)
	}
	if len(args) == 1 && asks {
		of, err := namedRun(ctx, client, args)
		if err != nil {
			return err
		}
		if of != "" {
			return askAll(ctx, client, of, f)
		}
	}
	q, typed, named, err := meant(ctx, client, args)
	if err != nil {
		return err
	}
	if q == nil && f.Decline != nil {
		return usage("no question is open, so there is none to decline; nothing was kept")
	}
	if q == nil {
		return terminal.Print(func(p *terminal.Printer) error { return p.Result("No question is open.") })
	}
	if strings.TrimSpace(typed) == "" && asks {
		if err := f.Fits(view.View(q)); err != nil {
			return err
		}
		return ask(ctx, client, q, "", f)
	}
	cwd, err := folderOf(ctx, client, q)
	if err != nil {
		return err
	}
	if typed == "-" {
		if typed, err = message("answer", []string{"-"}, os.Stdin); err != nil {
			return err
		}
	}
	value, err := f.Value(view.View(q), typed, cwd, named, onTerminal(), checked(q, cwd))
	if err != nil {
		return err
	}
	return leave(ctx, client, q, value, f)
}

// folderOf is the folder that paths in an answer are relative to: the agent's, and for a script's question this one.
func folderOf(ctx context.Context, c client.Client, q *supervisor.Question) (string, error) {
	if q.Run == "" {
		return ".", nil
	}
	return c.FolderOf(ctx, q.Run, q.Agent)
}

// checked says of the answer to a question whether what it decides can be carried out.
func checked(q *supervisor.Question, cwd string) func(value string) error {
	return func(value string) error { return supervisor.CheckDecision(q, value, cwd) }
}

// keep gives a question its answer.
func keep(ctx context.Context, c client.Client, q *supervisor.Question, value string, f questions.Flags,
	by string) error {
	if q.Run == "" {
		return c.AnswerFile(q, value, by, f.Change)
	}
	return c.Answer(ctx, q.ID, client.Answer{
		Text: value, Skip: f.Skip, Decline: f.Decline != nil, Change: f.Change, AllLike: f.AllLike, By: by,
	})
}

// leave gives a question its answer, says so, and lets the run go on.
func leave(ctx context.Context, c client.Client, q *supervisor.Question, value string, f questions.Flags) error {
	if err := keep(ctx, c, q, value, f, terminal.Who("answer")); err != nil {
		return err
	}
	skipped, err := skipRest(ctx, c, q, f)
	if err != nil {
		return err
	}
	if f.AsJSON {
		return keptAsJSON(ctx, c, q, value, skipped, f)
	}
	said := f.Said(view.View(q), value, skipped)
	if err := terminal.Print(func(p *terminal.Printer) error { return p.Result(said) }); err != nil || q.Run == "" {
		return err
	}
	return goOn(ctx, c, q.Run, f.Resume)
}

// keptAsJSON prints an answer that was kept, for programs, and lets the run go on where that is asked for.
func keptAsJSON(ctx context.Context, c client.Client, q *supervisor.Question, value string, skipped []string,
	f questions.Flags) error {
	kept := f.Kept(view.View(q), value, skipped)
	err := terminal.Print(func(p *terminal.Printer) error { return p.JSON(kept) })
	if err != nil || q.Run == "" || !f.Resume {
		return err
	}
	return goOn(ctx, c, q.Run, true)
}

// skipRest goes on without the questions that were asked with q and are still open, under --skip-rest. It gives their
// ids.
func skipRest(ctx context.Context, c client.Client, q *supervisor.Question, f questions.Flags) ([]string, error) {
	if !f.SkipRest || q.Run == "" {
		return nil, nil
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return nil, err
	}
	var skipped []string
	for _, other := range open {
		if other.Group != q.Group || other.ID == q.ID || !other.Optional {
			continue
		}
		if err := c.Answer(ctx, other.ID, client.Answer{Skip: true, By: terminal.Who("answer")}); err != nil {
			return skipped, fmt.Errorf("%s is answered, and %s is not skipped: %w", q.ID, other.ID, err)
		}
		skipped = append(skipped, other.ID)
	}
	return skipped, nil
}

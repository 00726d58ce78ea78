package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

type answerFlags struct {
	change, skip, resume bool
	skipRest, allLike    bool
	asJSON               bool
	decline              *string // why; nil: not declined
}

func newAnswer() *cobra.Command {
	var f answerFlags
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
				f.decline = &why
			}
			return runAnswer(cmd.Context(), args, f)
		},
	}
	cmd.Flags().BoolVar(&f.change, "change", false, "replace an answer that is not yet delivered")
	cmd.Flags().BoolVar(&f.allLike, "all-like", false, "answer all similar questions of the run, also later ones")
	cmd.Flags().BoolVar(&f.skip, "skip", false, "continue without an optional question")
	cmd.Flags().BoolVar(&f.skipRest, "skip-rest", false,
		"also skip the optional questions asked with it")
	cmd.Flags().StringVar(&why, "decline", "", "decline to answer, and tell the agent `WHY`")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "resume an unsupervised run in the background")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the saved answer as a JSON object")
	return completes(cmd, completeQuestions, completeOptions)
}

func runAnswer(ctx context.Context, args []string, f answerFlags) error {
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // what was left is on disk
	asks := onTerminal() && !f.skip && f.decline == nil && !f.asJSON
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
	if q == nil && f.decline != nil {
		return usage("no question is open, so there is none to decline; nothing was kept")
	}
	if q == nil {
		return print(func(p *terminal.Printer) error { return p.Result("No question is open.") })
	}
	if strings.TrimSpace(typed) == "" && asks {
		if err := fits(q, f); err != nil {
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
	value, err := answerValue(q, typed, cwd, named, f)
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

// keep gives a question its answer.
func keep(ctx context.Context, c client.Client, q *supervisor.Question, value string, f answerFlags, by string) error {
	if q.Run == "" {
		return c.AnswerFile(q, value, by, f.change)
	}
	return c.Answer(ctx, q.ID, client.Answer{
		Text: value, Skip: f.skip, Decline: f.decline != nil, Change: f.change, AllLike: f.allLike, By: by,
	})
}

// leave gives a question its answer, says so, and lets the run go on.
func leave(ctx context.Context, c client.Client, q *supervisor.Question, value string, f answerFlags) error {
	if err := keep(ctx, c, q, value, f, who("answer")); err != nil {
		return err
	}
	skipped, err := skipRest(ctx, c, q, f)
	if err != nil {
		return err
	}
	if f.asJSON {
		return keptAsJSON(ctx, c, q, value, skipped, f)
	}
	said := fmt.Sprintf("%s\n%s answered: %s", q.Text, q.ID, value)
	switch {
	case f.skip:
		said = fmt.Sprintf("%s\n%s skipped", q.Text, q.ID)
	case f.decline != nil:
		said = fmt.Sprintf("%s\n%s declined: %s", q.Text, q.ID, value)
	}
	said += alsoKept(q, value, skipped, f)
	if err := print(func(p *terminal.Printer) error { return p.Result(said) }); err != nil || q.Run == "" {
		return err
	}
	return goOn(ctx, c, q.Run, f.resume)
}

// alsoKept says what was kept with an answer, in lines of their own.
func alsoKept(q *supervisor.Question, value string, skipped []string, f answerFlags) (also string) {
	if len(skipped) > 0 {
		also += "\nskipped with it: " + strings.Join(skipped, ", ")
	}
	if f.allLike {
		also += "\nSo is every question of " + q.Run + " that is like it, now and later, until this answer is changed."
	}
	if q.Run == "" {
		also += "\nThe answer is kept; the script that asks will take it."
	}
	if rule := supervisor.GivenRule(q, value); rule != "" && f.decline == nil {
		also += fmt.Sprintf("\nNot asked about again in this run: %s\nTo take that back: claude-supervise permissions %s",
			rule, q.Run)
	}
	return also
}

// keptAsJSON prints an answer that was kept, for programs, and lets the run go on where that is asked for.
func keptAsJSON(ctx context.Context, c client.Client, q *supervisor.Question, value string, skipped []string,
	f answerFlags) error {
	kept := struct {
		ID          string   `json:"id"`
		Run         string   `json:"run"`
		Answer      string   `json:"answer"`
		Skipped     bool     `json:"skipped"`
		Declined    bool     `json:"declined"`
		AllLike     bool     `json:"all_like"`
		SkippedWith []string `json:"skipped_with"`
	}{q.ID, q.Run, value, f.skip, f.decline != nil, f.allLike, append([]string{}, skipped...)}
	if err := print(func(p *terminal.Printer) error { return p.JSON(kept) }); err != nil || q.Run == "" || !f.resume {
		return err
	}
	return goOn(ctx, c, q.Run, true)
}

// skipRest goes on without the questions that were asked with q and are still open, under --skip-rest. It gives their
// ids.
func skipRest(ctx context.Context, c client.Client, q *supervisor.Question, f answerFlags) ([]string, error) {
	if !f.skipRest || q.Run == "" {
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
		if err := c.Answer(ctx, other.ID, client.Answer{Skip: true, By: who("answer")}); err != nil {
			return skipped, fmt.Errorf("%s is answered, and %s is not skipped: %w", q.ID, other.ID, err)
		}
		skipped = append(skipped, other.ID)
	}
	return skipped, nil
}

// answerValue turns what was typed into the answer that is kept.
func answerValue(q *supervisor.Question, typed, cwd string, named bool, f answerFlags) (string, error) {
	tty := onTerminal()
	if f.decline != nil {
		return reasonFor(q, typed, *f.decline, named || tty, f)
	}
	switch {
	case f.skip && typed != "":
		return "", usage("--skip takes no value: it goes on without an answer")
	case q.Kind == supervisor.AskCommand && !tty:
		return "", usage("a command runs as you: whether it may is answered on a terminal, with `claude-supervise answer %s`",
			q.ID)
	}
	if err := fits(q, f); err != nil || f.skip {
		return "", err
	}
	if strings.TrimSpace(typed) == "" {
		return "", usage("no answer was given; type it after the id, as in `%s`", view.AnswerCommand(q))
	}
	ask := shown(q)
	value, err := terminal.Choose(ask, typed, cwd)
	if err != nil {
		return "", fmt.Errorf("%w; question %s stays open", err, q.ID)
	}
	if err := supervisor.CheckDecision(q, value, cwd); err != nil {
		return "", usage("%w; question %s stays open", err, q.ID)
	}
	if !named && !tty && freeText(q, value) {
		return "", usage("without a terminal, free text needs the id of its question: claude-supervise answer %s %q",
			q.ID, value)
	}
	return value, nil
}

// fits refuses flags that a question does not take.
func fits(q *supervisor.Question, f answerFlags) error {
	switch {
	case q.Run == "" && (f.skip || f.skipRest || f.resume):
		return usage("question %s belongs to no run: it is neither skipped nor resumed", q.ID)
	case q.Run == "" && f.allLike:
		return usage("question %s belongs to no run, so there are none like it; leave --all-like out", q.ID)
	case f.allLike && !supervisor.Sharable(q.Kind):
		return usage("the answer to a question of this kind (%s) is for it alone; leave --all-like out", q.Kind)
	case f.skipRest && !q.Optional:
		return usage("%s is required, and what was asked with it; --skip-rest skips nothing of that, nothing was kept",
			q.ID)
	case f.skip && !q.Optional:
		return usage("question %s is required and cannot be skipped; `claude-supervise stop %s` ends the run instead",
			q.ID, q.Run)
	}
	return nil
}

// reasonFor gives the reason why a question is not answered.
func reasonFor(q *supervisor.Question, typed, why string, sure bool, f answerFlags) (string, error) {
	switch {
	case typed != "":
		return "", usage("--decline refuses to answer: give either a VALUE or the reason")
	case f.skip:
		return "", usage("--skip and --decline exclude each other")
	case strings.TrimSpace(why) == "":
		return "", usage("say why, so that the agent knows what to do: claude-supervise answer %s --decline \"WHY\"", q.ID)
	case q.Run == "":
		return "", usage("question %s belongs to no run: its script would take the reason for the answer", q.ID)
	case !sure:
		return "",
			usage("without a terminal, --decline needs the id of its question: claude-supervise answer %s --decline %q",
				q.ID, why)
	}
	return terminal.Choose(terminal.Question{ID: q.ID}, why, "") // words, whatever they look like
}

// freeText reports whether an answer is the person's own words.
func freeText(q *supervisor.Question, value string) bool {
	for _, o := range q.Options {
		if value == o.Label {
			return false
		}
	}
	return !q.MultiSelect
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/examples"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/task"
)

func newRun() *cobra.Command {
	var f request.Flags
	var schema bool
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -] [-f TASK.yaml] [flags] [-- CLAUDE FLAGS...]",
		Short: "start a task and supervise it to its end",
		Long: `Start a task and supervise it to its end. The report's summary goes to stdout,
progress and questions go to stderr. Flags after -- are passed on to claude. On
a terminal, text that you type while no question is open is a message to the
agent.

By default nothing runs that Claude Code would ask a person for. You are asked
instead (--permissions ask), and see the command, the change of the file or the
address. You can permit it once, permit it by a rule for this run, or deny it.
--allow RULE permits it without asking, in Claude Code's own syntax:
Bash(npm test), Bash(git log:*), Edit(/docs/**), WebFetch(domain:go.dev),
mcp__github. Rules in a task file need --allow task, and what the folder's own
.claude and .mcp.json permit or run needs --allow project. --allow sessions
permits messages to and from your other sessions.

Agents may delegate work to others. You are asked about each delegation
(--delegate ask). Up to --max-parallel agents work at a time. The run ends when
all have ended, with the worst result of those that count. Inside an agent, run
starts a child of that agent in the same tree. It exits 75 when its caller can
wait no longer, and the agent is told when the child ends.

A task file has the keys prompt, context, goals, success_criteria,
deliverables, name, model, max_turns, estimated_duration, permissions (ask,
deny), allow, deny (lists of rules), answers (KEY: VALUE), accept_ids, hold,
delegate, max_parallel, max_depth, max_agents, max_cost_usd, max_tokens,
max_time and worktree (true or false). Flags override the file. Its limits can
lower a flag or a default. A higher limit, allow and accept_ids need --allow
task.

children in a task file are work for agents of their own: a list, or a map by
name, of maps with prompt, context, goals, success_criteria, deliverables, name,
after (names), priority (P0, P1, P2), independence, subagent_type, model,
max_turns, estimated_duration, max_cost_usd, max_tokens, max_time and children.
The file's context is for all of them. If the file has a prompt, its agent
starts when the children have ended, and gets their results. Without a prompt
the run consists of the children, and their results are its result.

A pool runs one task for each of many items: each in a task file, with files:
PATTERN or lines: FILE (- is stdin), or --each COMMAND. Each item gets one
agent, with the task in child, or else with the task itself. {item} in its texts
is the file or line, {index} its number. COMMAND runs without a shell. resume
--failed retries what failed.

--check looks before the launch whether a task has context, goals and success
criteria. ask asks you for what is missing, require exits 2. KEY of --answer is
a question's id, its header, or part of its text. Such an answer permits
nothing.

A process waits for an answer for --hold: less for a yes or no, up to 8/5 of it
for a text and several questions. Then it is parked. An MCP server that asks
would lose what it has begun: it is held until it is answered, except with
--hold 0, beyond --max-held, and with --on-question park. --on-question ask
waits until the question is answered, park exits 75, fail exits 1. The default
is ask on a terminal, else park.

For help in an editor, save what --task-schema prints next to the task file, and
begin the task file with the line
# yaml-language-server: $schema=task.schema.json

Each question notifies you once: by the terminal's bell, on the desktop if the
run belongs to one, by the command of --notify, and by --notify-url. So do the
end of the run, and a park after which nobody supervises it. --no-notify turns
all of it off. --notify-url is for this supervisor: ntfy://HOST/TOPIC is an ntfy
topic, whose token is $CLAUDE_SUPERVISE_NTFY_TOKEN; https://... gets JSON,
signed like Standard Webhooks with $CLAUDE_SUPERVISE_WEBHOOK_SECRET. In your
config.yaml (see help doctor) both are permanent, have their secrets in files,
and the phone has buttons that answer.

With --exec any command can be the agent, in whatever form it asks. It runs
without a shell. {} stands for the prompt. Without {} the prompt comes on stdin.
It is started again with each answer, which is in its prompt and in
CLAUDE_SUPERVISE_ANSWER. CLAUDE_SUPERVISE_ANSWERS has all answers as JSON by the
agent's own ids, and CLAUDE_SUPERVISE_CHECKPOINT the file from which it
continues.`,
		Example: "  claude-supervise run --demo ask\n" +
			"  claude-supervise run \"Write a CHANGELOG for the last release\"\n" +
			"  claude-supervise run - < task.txt\n" +
			"  claude-supervise run -f migration.yaml --check require\n" +
			"  claude-supervise run --task-schema > task.schema.json\n" +
			"  claude-supervise run --hold 0 --answer \"database=SQLite\" \"Plan the migration\"\n" +
			"  claude-supervise run \"Fix the tests\" --allow \"Bash(make test)\"\n" +
			"  claude-supervise run \"Fix the tests\" -- --permission-mode acceptEdits\n" +
			"  claude-supervise run --detach --notify \"ntfy publish builds\" - < task.txt\n" +
			"  claude-supervise run --exec \"codex exec {}\" \"Fix the tests\"\n" +
			"\n" +
			"A tree, whose agents start others, two levels deep without asking:\n" +
			"  claude-supervise run --delegate auto,auto,deny --worktree \"Port the services\"\n" +
			"  claude-supervise run --demo delegate-tree\n" +
			"  claude-supervise run --continue a-7Qm2 \"Now write the tests\"\n\n" +
			"A workflow, whose tasks and their order stand in its file:\n" +
			"  claude-supervise run -f release.yaml --max-parallel 2 --max-cost-usd 5\n\n" +
			"A pool, one task for each line that a command prints:\n" +
			"  claude-supervise run --each \"git ls-files docs\" \"Proofread {item}\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if schema {
				return terminal.Print(func(p *terminal.Printer) error { return p.Result(taskfile.Schema) })
			}
			if err := request.SetOwnFlags(cmd, f.Demo); err != nil {
				return err
			}
			given, err := request.SetDefaults(cmd, &f)
			if err != nil {
				return err
			}
			o, err := request.New(cmd, args, f, given)
			if err != nil {
				return err
			}
			if inside, err := startNested(cmd, o, f); inside || err != nil {
				return err
			}
			gaps, err := o.Check(f)
			if err != nil {
				return err
			}
			if err := findClaude(&o, f); err != nil {
				return err
			}
			if err := request.Remind(gaps, f); err != nil {
				return err
			}
			if err := o.RequestedRules(); err != nil {
				return err
			}
			if !f.Quiet {
				if err := o.Trust(); err != nil {
					return err
				}
			}
			if f.Detach && !request.InBackground() {
				return detach(o, f.AsJSON)
			}
			f.StdinRead = o.Stdin != ""
			return runRun(cmd.Context(), o.Task, f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			err = fmt.Errorf("%w; a task that begins with - is read from stdin: claude-supervise run -", err)
		}
		if unnamed := new(pflag.ValueRequiredError); errors.As(err, &unnamed) && unnamed.GetSpecifiedName() == "demo" {
			return listDemos()
		}
		return flagError(cmd, err)
	})
	cmd.Flags().BoolVar(&schema, "task-schema", false, "print the JSON Schema of a task file")
	request.AddFlags(cmd, &f)
	for flag, values := range map[string][]string{
		"check": {request.CheckOff + "\tcheck nothing", request.CheckWarn + "\tsay what is missing",
			request.CheckAsk + "\task for what is missing",
			request.CheckRequire + "\trefuse to start if something is missing"},
		"on-question": {"ask\twait until it is answered", "park\texit 75", "fail\texit 1"},
		"relaunch":    {"resume\tcontinue the conversation", "fresh\tstart a new one from the checkpoint"},
		"on-silence":  {"tell\treport it", "retry\tend its process and continue", "fail"},
		"hold":        {"0\tpark at once", "5m", "forever"},
		"model":       {"opus", "sonnet", "haiku"},
		"allow": {"task\tthe rules of the task file", "project\twhat the folder's own files permit",
			"sessions\tmessages to and from your other sessions"},
	} {
		completion.Flag(cmd, flag, completion.Fixed(values...))
	}
	completion.Flag(cmd, "continue", commands.ByState(commands.EndedAgents))
	commands.CompletesFolder(cmd, "cwd")
	completesDemo(cmd)
	return cmd
}

func runRun(ctx context.Context, t task.Task, f request.Flags) error {
	s, err := newSession(f.Session)
	if err != nil {
		return err
	}
	if f.HasOwnFolder() {
		if t.Cwd, err = newDemoFolder(); err != nil {
			return s.finish(supervisor.Outcome{}, err)
		}
	}
	policy := s.policy(t.Config.OnQuestion)
	if t.Config.Demo != "" && !s.asks && !request.InBackground() && len(t.Config.Answers) == 0 &&
		t.Config.OnQuestion == "" {
		if t.Config.Answers = s.demoAnswers(t.Config.Demo); len(t.Config.Answers) > 0 {
			policy = conf.Ask
		}
	}
	if t.Run == "" {
		t.Run = host.NewRun()
	}
	if t.Config.Snapshots, err = f.Snapshots.To(s.Dirs.State, t.Cwd); err != nil {
		return s.finish(supervisor.Outcome{}, err)
	}
	if t.Config.Snapshots != nil && t.Config.Snapshots.Dir == "" {
		t.Config.Snapshots = nil
	}
	out, err := s.supervise(ctx, f.Session, t.Cwd, snapshotting{run: t.Run, to: t.Config.Snapshots},
		func(ctx context.Context, sup engine.Supervisor) (supervisor.Outcome, error) {
			return sup.Start(ctx, t, policy)
		})
	if f.HasOwnFolder() && out.Run == nil {
		_ = os.Remove(t.Cwd) // nothing was started in it
	}
	return s.finish(out, err)
}

// demoAnswers lets a demo without a terminal answer itself, and says so.
func (s *session) demoAnswers(name string) []conf.Preset {
	scenario, err := examples.Load(name)
	if err != nil || len(scenario.Answers) == 0 {
		return nil
	}
	s.printer.Notice("There is no terminal to ask on, so the demo answers its own questions.")
	var answers []conf.Preset
	for _, a := range scenario.Answers {
		answers = append(answers, conf.Preset{Key: a.Question, Value: a.Answer, By: "the demo itself", Demo: true})
	}
	return answers
}

// finish says how the run was left, and gives the exit code.
func (s *session) finish(out supervisor.Outcome, err error) error {
	if err != nil || out.Run == nil {
		return errors.Join(err, s.close())
	}
	for _, p := range out.UnusedAnswers() {
		if left := out.Code == exit.Parked; p.By == "" && (out.Run.EndedAt != nil || left) {
			why := "no question fits it"
			switch named := out.Named(p); {
			case named != nil && !questions.Writable(named.Kind):
				why = "it would permit something, which\n--allow, --permissions, --delegate and --max-cost-usd and the like do " +
					"in advance"
			case named != nil && left:
				continue // why was said when it was asked
			case left:
				why += " so far"
			}
			s.printer.Notice(fmt.Sprintf("The answer %q was not used: %s.", p.Key, why))
		}
	}
	if r := out.Root.Report; r != nil && out.Run.EndedAt != nil && !s.asJSON && r.Summary != "" {
		_ = s.printer.Result(r.Summary) // a failed write is told of by close
	}
	if t := out.Table(); t != nil && out.Run.EndedAt != nil && !s.asJSON {
		_ = s.printer.Result(runs.Tasks(s.printer.Columns(), t)) // so is this
	}
	last := news.Ending(out)
	if out.Run.EndedAt != nil && s.reads && service.Changed(s.Reader(), out.Run.ID, len(out.Worktrees())) {
		last += "\nTo see what it changed, run:\n  claude-supervise show " + out.Run.ID + " --diff"
	}
	s.printer.Notice(last)
	if err := s.close(); err != nil {
		return fmt.Errorf("the result cannot be written: %w (claude-supervise show %s has it)", err, out.Run.ID)
	}
	if out.Code != exit.Success {
		return exitcode.Error(out.Code)
	}
	return nil
}

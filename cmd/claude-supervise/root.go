package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
)

const about = `claude-supervise runs headless Claude Code agents and supervises them. When an
agent needs a person, it asks on your terminal. The question stays open until
you answer it, however long that takes, and survives crashes and reboots. A
parked run keeps its question without a process. After the answer, the agent
continues where it stopped.

Exit codes of run, resume and wait:
    0  success                        69  the agent cannot be started
    1  failed, or refused             70  internal error
    2  usage                          75  parked, waiting for a person
    3  partial success               124  wait timed out
    4  over budget                   130  interrupted; can be resumed
    5  stopped by a person
    6  ended without a report`

const examplesOfUse = `  # try it without an API key or Claude Code
  claude-supervise run --demo ask

  # start a task; answer its questions here or on another terminal
  claude-supervise run "Add rate limiting to the API, ask me about the limits"

  # list runs and open questions, and answer one
  claude-supervise ps
  claude-supervise questions
  claude-supervise answer q-7kq2mx "100 a minute"

  # resume after a crash, a reboot or Ctrl-C
  claude-supervise resume r-3f9a2c1b`

// thisProgram is how a person calls this program.
const thisProgram runs.Program = "claude-supervise"

// allCommands are what makes each command, by its name.
func allCommands() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"run": newRun, "ps": newPs, "questions": newQuestions, "answer": newAnswer, "show": newShow, "logs": newLogs,
		"report": newReport, "attach": newAttach, "wait": newWait, "board": newBoard, "serve": newServe, "stop": newStop,
		"permissions": newPermissions, "resume": newResume, "prune": newPrune, "pack": newPack, "unpack": newUnpack,
		"lint": newLint, "init": newInit, "doctor": newDoctor, "version": newVersion, "stand-in": newStandIn,
		"compare": newCompare, "keep": newKeep, "decisions": newDecisions,
		"search": newSearch, "fleet": newFleet, "hook": newHook, "mcp": newMCP, bannerCommand: newBanner,
		tellCommand: newTell,
	}
}

// newRootFor makes the command for a command line. Where that begins with the name of a command, it has no other: to
// make all of them takes longer than many a command.
func newRootFor(args []string) *cobra.Command {
	if len(args) == 0 || allCommands()[args[0]] == nil {
		return newRoot()
	}
	root := newBareRoot()
	root.AddCommand(allCommands()[args[0]]())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

func newRoot() *cobra.Command {
	root := newBareRoot()
	all := allCommands()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		root.AddCommand(all[name]())
	}
	completion.SafeInFish(root)
	explainCompletion(root)
	return root
}

// newBareRoot makes the command without any commands of its own.
func newBareRoot() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:           "claude-supervise",
		Short:         "supervise headless Claude Code, and never lose a question",
		Long:          about,
		Example:       examplesOfUse,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("there is no command %q; `claude-supervise --help` lists them%s", args[0], suggestion(cmd, args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(cmd)
			}
			if terminal.Attended() {
				return begin(cmd)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SuggestionsMinimumDistance = 2
	flagGroups.SetUsage(root, func() string { return "Topics (claude-supervise help TOPIC):\n" + listTopics() })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = page(briefly(cmd)) }) // nobody is told of a broken stdout
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(flagError)
	return root
}

// briefly is what --help says of a command.
func briefly(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		_, codes, _ := strings.Cut(about, "\n\n")
		return strings.TrimRight(help.Brief(cmd, ""), "\n") + "\n\n" + codes + "\n"
	}
	name, _ := strings.CutPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return help.Brief(cmd, cmd.Root().Name()+" help "+name)
}

// page shows a text as git does: through the pager where it is longer than the terminal.
func page(text string) error {
	if err := terminal.Page(os.Stdout, text, os.LookupEnv); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return nil
}

// explainCompletion gives the commands that cobra adds the form of ours.
func explainCompletion(root *cobra.Command) {
	const load = "  claude-supervise completion "
	for shell, example := range map[string]string{
		"": "  source <(claude-supervise completion bash)",
		"bash": "  source <(claude-supervise completion bash)\n" + load +
			"bash \\\n    > ~/.local/share/bash-completion/completions/claude-supervise",
		"zsh":        "  source <(claude-supervise completion zsh)\n" + load + "zsh > \"${fpath[1]}/_claude-supervise\"",
		"fish":       load + "fish | source\n" + load + "fish \\\n    > ~/.config/fish/completions/claude-supervise.fish",
		"powershell": load + "powershell | Out-String | Invoke-Expression",
	} {
		if cmd, _, err := root.Find(strings.Fields("completion " + shell)); err == nil {
			if shell == "" {
				cmd.Args = cobra.ArbitraryArgs // RunE says which there are
				cmd.RunE = func(cmd *cobra.Command, args []string) error {
					if len(args) > 0 {
						return usage("there is no completion for the shell %q, but for bash, zsh, fish and powershell", args[0])
					}
					return cmd.Help()
				}
			}
			cmd.Short, cmd.Long, cmd.Example = "print the completion script for "+cmp.Or(shell, "a shell"), "", example
		}
	}
}

func flagError(cmd *cobra.Command, err error) error {
	if wrong := new(pflag.InvalidValueError); errors.As(err, &wrong) {
		if kind := kinds[wrong.GetFlag().Value.Type()]; kind != "" {
			err = fmt.Errorf("--%s takes %s, and not %q", wrong.GetFlag().Name, kind, wrong.GetValue())
		}
	}
	var meant string
	if unknown := new(pflag.NotExistError); errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		meant = nearFlag(cmd, unknown.GetSpecifiedName())
	}
	return usage("%w; `%s --help` shows what it takes%s", err, cmd.CommandPath(), meant)
}

// otherwise are flags as they are called elsewhere, by our names for them.
var otherwise = map[string]string{
	"budget": "max-cost-usd", "max-budget": "max-cost-usd", "max-budget-usd": "max-cost-usd", "cost": "max-cost-usd",
	"max-cost": "max-cost-usd", "timeout": "max-time", "max-duration": "max-time", "background": "detach",
	"dir": "cwd", "parallel": "max-parallel", "title": "name", "verbose": "log",
}

// nearFlag says which flag was meant by one that there is none of.
func nearFlag(cmd *cobra.Command, typed string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2} // which finds near names
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if meant := otherwise[typed]; cmd.Flags().Lookup(meant) != nil {
		return " (did you mean --" + meant + "?)"
	}
	return strings.Replace(suggestion(names, typed), "did you mean ", "did you mean --", 1)
}

// kinds are what flags take that the library reads by itself, by its names for them.
var kinds = map[string]string{
	"bool": "true or false, or nothing", "int": "a whole number", "int64": "a whole number",
	"float64": "a number", "duration": "a time such as 90s, 30m or 2h",
}

func suggestion(cmd *cobra.Command, typed string) string {
	near := slices.DeleteFunc(cmd.SuggestionsFor(typed), func(name string) bool { return name == "prune" }) // it deletes
	if len(near) == 0 {
		return ""
	}
	begins := func(name string) bool { return strings.HasPrefix(name, typed) }
	return fmt.Sprintf(" (did you mean %s?)", near[max(slices.IndexFunc(near, begins), 0)])
}

// notInside refuses what an agent must not do from inside its own process tree: answer, stop or resume.
func notInside(cmd *cobra.Command) error {
	if agent, inside := doctor.InsideAgent(os.Environ()); inside {
		return fmt.Errorf(
			"%s is refused inside agent %s: an agent does not answer its own question, nor stop or resume a run; "+
				"print a signal instead, or run this on a terminal of your own", cmd.Name(), agent)
	}
	return nil
}

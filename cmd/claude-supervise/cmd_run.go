package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"claude-supervise/examples"
	"claude-supervise/supervisor"
)

type runFlags struct {
	sessionFlags
	claude, hold, onQuestion, relaunch string
	cwd, name, demo, answersFile       string
	answers, acceptIDs                 []string
	maxHeld, retries                   int
	keepProcesses                      bool
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT | -] [flags] [-- CLAUDE FLAGS...]",
		Short: "start a task and supervise it to its end",
		Long: `Start a task and supervise it to its end. The report's summary goes to stdout,
progress and questions to stderr. What follows -- is passed on to claude.

Claude's own permission mode is in force: what it would ask a person for is
asked here. Loosen it with claude's flags, as in the example.`,
		Example: "  claude-supervise run \"Write a CHANGELOG for the last release\"\n" +
			"  claude-supervise run - < task.txt\n" +
			"  claude-supervise run --hold 0 --answer \"database=SQLite\" \"Plan the migration\"\n" +
			"  claude-supervise run \"Fix the tests\" -- --permission-mode acceptEdits\n" +
			"  claude-supervise run --demo ask",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := task(cmd, args, f)
			if err != nil {
				return err
			}
			return runRun(cmd.Context(), t, f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			err = fmt.Errorf("%w; a task that begins with - is read from stdin: claude-supervise run -", err)
		}
		return flagError(cmd, err)
	})
	fl := cmd.Flags()
	fl.StringVar(&f.claude, "claude", "", "the claude at `PATH` (default: $CLAUDE_SUPERVISE_CLAUDE, then the one on PATH)")
	fl.StringVar(&f.hold, "hold", "5m", "how long its process waits for an answer before it is parked: a `DURATION`, 0 or forever")
	fl.IntVar(&f.maxHeld, "max-held", -1, "at most `N` processes wait at a time, the others are parked at once (-1: any number)")
	fl.StringVar(&f.onQuestion, "on-question", "", "`WHAT` follows: ask (stay until it is answered), park (leave with 75) or fail (exit 1); the default is ask on a terminal, else park")
	fl.StringArrayVar(&f.answers, "answer", nil, "answer in advance, `KEY=VALUE`: KEY is the question's id, its header or part of its text")
	fl.StringVar(&f.answersFile, "answers", "", "a YAML or JSON `FILE` of such answers, KEY: VALUE")
	fl.StringArrayVar(&f.acceptIDs, "accept-id", nil, "an agent `ID` in signals that counts as this agent's")
	fl.StringVar(&f.relaunch, "relaunch", "resume", "`HOW` a parked agent gets its answer: resume (its conversation) or fresh (one with the checkpoint)")
	fl.IntVar(&f.retries, "retries", 3, "try a passing failure `N` times again, with growing rests")
	fl.StringVar(&f.cwd, "cwd", "", "the `FOLDER` to work in (default: this one)")
	fl.StringVar(&f.name, "name", "", "a `NAME` for people")
	fl.BoolVar(&f.keepProcesses, "keep-processes", false, "leave what the agent started running after a good end")
	fl.StringVar(&f.demo, "demo", "", "play the built-in `SCENARIO` instead of claude: "+strings.Join(examples.Names(), ", "))
	addSessionFlags(cmd, &f.sessionFlags)
	return cmd
}

func addSessionFlags(cmd *cobra.Command, f *sessionFlags) {
	cmd.Flags().BoolVar(&f.plain, "plain", false, "no colours and no status line")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one event per line as JSON on stdout")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "no progress; questions and the result are shown")
	cmd.Flags().StringVar(&f.log, "log", "", "write diagnostics to this `FILE`")
}

// maxPrompt bounds a prompt, in bytes: more than any model reads.
const maxPrompt = 16 << 20

// task makes the task that the command line asks for.
func task(cmd *cobra.Command, args []string, f runFlags) (supervisor.Task, error) {
	var flags []string
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, flags = args[:dash], args[dash:]
	}
	cfg, err := config(f, flags)
	if err != nil {
		return supervisor.Task{}, err
	}
	t := supervisor.Task{Name: f.name, Config: cfg}
	if t.Cwd, err = folder(f.cwd); err != nil {
		return supervisor.Task{}, err
	}
	if f.demo != "" {
		return demo(t, f, args)
	}
	if t.Prompt, err = prompt(args); err != nil {
		return supervisor.Task{}, err
	}
	t.Config.Claude, err = supervisor.FindClaude(f.claude, os.Environ())
	return t, err
}

// demo fills the task with a scenario's own prompt and flags; one given on the command line goes before.
func demo(t supervisor.Task, f runFlags, args []string) (supervisor.Task, error) {
	scenario, err := examples.Load(f.demo)
	if err != nil {
		return t, usageError{err}
	}
	if t.Config.Demo = f.demo; strings.HasSuffix(f.demo, ".yaml") {
		if t.Config.Demo, err = filepath.Abs(f.demo); err != nil {
			return t, fmt.Errorf("the scenario's path: %w", err)
		}
	}
	t.Prompt = scenario.Prompt
	t.Config.Flags = append(scenario.ClaudeFlags, t.Config.Flags...)
	if len(args) > 0 {
		t.Prompt, err = prompt(args)
	}
	return t, err
}

func config(f runFlags, flags []string) (supervisor.Config, error) {
	cfg := supervisor.Config{
		Flags: flags, MaxHeld: f.maxHeld, AcceptIDs: f.acceptIDs,
		Relaunch: supervisor.Relaunch(f.relaunch), Retries: f.retries, KeepProcesses: f.keepProcesses,
	}
	var err error
	if cfg.Hold, err = hold(f.hold); err != nil {
		return cfg, err
	}
	if cfg.OnQuestion, err = onQuestion(f.onQuestion); err != nil {
		return cfg, err
	}
	switch cfg.Relaunch {
	case supervisor.Resume, supervisor.Fresh:
	default:
		return cfg, usage("--relaunch takes resume or fresh, not %q", f.relaunch)
	}
	if flag := supervisor.ReservedFlag(flags); flag != "" {
		return cfg, usage("claude's %s cannot be passed on: the supervisor sets it, or needs it left alone", flag)
	}
	if f.retries < 0 {
		return cfg, usage("--retries takes 0 or more, not %d", f.retries)
	}
	cfg.Answers, err = presets(f.answers, f.answersFile)
	return cfg, err
}

// onQuestion reads --on-question; "" leaves it to whether there is a terminal.
func onQuestion(text string) (supervisor.OnQuestion, error) {
	switch policy := supervisor.OnQuestion(text); policy {
	case supervisor.Ask, supervisor.Park, supervisor.Fail, "":
		return policy, nil
	}
	return "", usage("--on-question takes ask, park or fail, not %q", text)
}

func hold(text string) (time.Duration, error) {
	if text == "forever" {
		return supervisor.Forever, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usage("--hold takes a duration such as 90s, 10m or 2h, 0 or forever, not %q", text)
	}
	return d, nil
}

// presets reads the answers given in advance: those of the command line before those of the file.
func presets(given []string, file string) ([]supervisor.Preset, error) {
	var all []supervisor.Preset
	for _, g := range given {
		key, value, ok := strings.Cut(g, "=")
		if !ok || strings.TrimSpace(key) == "" || strings.TrimSpace(value) == "" {
			return nil, usage("--answer takes KEY=VALUE, not %q", g)
		}
		all = append(all, supervisor.Preset{Key: strings.TrimSpace(key), Value: value})
	}
	if file == "" {
		return all, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("--answers: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, usage("--answers: %s is not YAML or JSON: %w", file, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, usage("--answers: %s must hold a map, KEY: VALUE", file)
	}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "" {
			return nil, usage("--answers: %s, line %d: the answer to %q must be text", file, value.Line, key.Value)
		}
		all = append(all, supervisor.Preset{Key: key.Value, Value: value.Value})
	}
	return all, nil
}

// prompt gives the task's text: the argument, or stdin for "-".
func prompt(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return "", usage("run takes the task as its argument, as in: claude-supervise run \"Fix the tests\" (or - to read it from stdin)")
	case len(args) > 1:
		return "", usage("run takes one prompt, not %d words: put it in quotes; flags for claude go after --", len(args))
	}
	text := args[0]
	if text == "-" {
		read, err := io.ReadAll(io.LimitReader(os.Stdin, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("the prompt cannot be read from stdin: %w", err)
		}
		text = string(read)
	}
	switch {
	case len(text) > maxPrompt:
		return "", usage("the prompt is longer than %d MiB; put the material in files and name them", maxPrompt>>20)
	case strings.TrimSpace(text) == "":
		return "", usage("the prompt is empty; nothing was started")
	case !utf8.ValidString(text):
		return "", usage("the prompt is not UTF-8 text; nothing was started")
	}
	return text, nil
}

func folder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the folder to work in is not known: %w", err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", usage("--cwd: %w", err)
	case !info.IsDir():
		return "", usage("--cwd: %s is no folder", abs)
	}
	return abs, nil
}

func runRun(ctx context.Context, t supervisor.Task, f runFlags) error {
	s, err := newSession(f.sessionFlags)
	if err != nil {
		return err
	}
	policy := s.policy(t.Config.OnQuestion)
	if t.Config.Demo != "" && !s.asks && len(t.Config.Answers) == 0 && t.Config.OnQuestion == "" {
		if t.Config.Answers = s.demoAnswers(t.Config.Demo); len(t.Config.Answers) > 0 {
			policy = supervisor.Ask
		}
	}
	out, err := s.supervise(ctx, f.sessionFlags, t.Cwd, func(ctx context.Context, sup supervisor.Supervisor) (supervisor.Outcome, error) {
		return sup.Start(ctx, t, policy)
	})
	return s.finish(out, err)
}

// demoAnswers lets a demo without a terminal answer itself, and says so.
func (s *session) demoAnswers(name string) []supervisor.Preset {
	scenario, err := examples.Load(name)
	if err != nil || len(scenario.Answers) == 0 {
		return nil
	}
	s.printer.Notice("There is no terminal to ask on, so the demo answers its own questions.")
	var answers []supervisor.Preset
	for _, a := range scenario.Answers {
		answers = append(answers, supervisor.Preset{Key: a.Question, Value: a.Answer, By: "the demo itself"})
	}
	return answers
}

// finish says how the run was left, and gives the exit code.
func (s *session) finish(out supervisor.Outcome, err error) error {
	if err != nil || out.Run == nil {
		return errors.Join(err, s.close())
	}
	for _, p := range out.UnusedAnswers() {
		if p.By == "" && out.Run.EndedAt != nil {
			s.printer.Notice(fmt.Sprintf("The answer %q was not used: no question fits it.", p.Key))
		}
	}
	if r := out.Root.Report; r != nil && out.Run.EndedAt != nil && !s.asJSON && r.Summary != "" {
		_ = s.printer.Result(r.Summary) // a failed write is told of by close
	}
	s.printer.Notice(ending(out))
	if err := s.close(); err != nil {
		return fmt.Errorf("the result cannot be written: %w (claude-supervise show %s has it)", err, out.Run.ID)
	}
	if out.Code != supervisor.ExitSuccess {
		return exitError(out.Code)
	}
	return nil
}

// ending says in what state the run was left, and what to type next.
func ending(out supervisor.Outcome) string {
	id, reason := out.Run.ID, out.Root.Reason
	switch out.Code {
	case supervisor.ExitSuccess:
		return fmt.Sprintf("%s succeeded", id)
	case supervisor.ExitParked:
		return fmt.Sprintf("%s is parked: %s\nIt costs nothing until it is answered. Answer it, then go on with:\n  claude-supervise resume %s", id, reason, id)
	case supervisor.ExitInterrupted:
		return fmt.Sprintf("%s was interrupted; everything is saved. Go on with:\n  claude-supervise resume %s", id, id)
	case supervisor.ExitPartial:
		return fmt.Sprintf("%s succeeded in part: %s", id, reason)
	case supervisor.ExitStopped:
		return fmt.Sprintf("%s was %s", id, reason)
	}
	text := fmt.Sprintf("%s %s: %s", id, out.Root.Status, reason)
	switch {
	case out.Code == supervisor.ExitNoAgent && out.State.Config.Claude != "":
		text += fmt.Sprintf("\nThe program was %s. `claude-supervise doctor --claude PATH` tells whether one will do;\n"+
			"then go on with: claude-supervise resume %s --claude PATH", out.State.Config.Claude, id)
	case supervisor.Revivable(out.Root):
		text += fmt.Sprintf("\nOnce the cause is mended, go on with: claude-supervise resume %s", id)
	}
	return text
}

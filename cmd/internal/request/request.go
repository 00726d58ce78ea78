// Package request is what a command line asks for: the flags of run, the task file that they name and the defaults of
// the person become one task, or an error that says what is wrong with them. What a task file wants beyond what the
// person has given is not in it, and is told. Nothing is started here.
package request

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/commandline"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/cmd/internal/yamlfile"
	"claude-supervise/examples"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/telemetry"
)

// maxPrompt bounds a prompt, in bytes: more than any model reads.
const maxPrompt = 16 << 20

// A Request is what a command line asks for.
type Request struct {
	task.Task
	Stdin string // what of it came from stdin, for the supervisor in the background to read again
	own   bool   // the task is the person's, not that of a demo

	Collected []task.Brief // what was typed for each of its parts before the launch, for the same

	granted         []string // rules that the task file wanted, and --allow task gave
	requestedLimits []string // what the task file wants beyond the person's limits, and does not get
	parts           []part   // what is told to each agent, to be looked at before the launch
}

// New reads the command line, and the task file that it names; given reports which flags the person has set.
func New(cmd *cobra.Command, args []string, f Flags, given func(flag string) bool) (Request, error) {
	var passed []string
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, passed = args[:dash], args[dash:]
	}
	var o Request
	var file taskfile.File
	var err error
	switch {
	case cmd.Flags().Changed("file"):
		file, err = o.read(f.file, args)
	case f.Demo != "" && len(args) == 0:
		file, err = demoTask(f.Demo)
	}
	if err != nil {
		return o, err
	}
	all := slices.Contains(f.allow, allowTask)
	longer := applyDefaults(&f, file, given, all)
	if o.Config, err = runConfig(f, passed); err != nil {
		return o, err
	}
	o.Config.Answers = append(o.Config.Answers, file.Answers...)
	o.Config.Deny = file.Deny
	o.requestedLimits = append(o.grant(file.Allow, all), longer...)
	o.Run, o.Name, o.Brief = os.Getenv(BackgroundRun), f.name, file.Brief
	if o.Cwd, err = Folder(f.cwd); err != nil {
		return o, err
	}
	if f.goOnFrom != "" {
		if err := o.goOnFrom(cmd.Context(), f.goOnFrom, f); err != nil {
			return o, err
		}
	}
	o.requestedLimits = append(o.requestedLimits, applyLimits(&o.Config, file, given, all)...)
	o.Estimated = file.Estimated
	if err = o.work(args, file, f); err != nil {
		return o, err
	}
	o.parts = o.told(file)
	if err = o.complete(f); err != nil {
		return o, err
	}
	err = o.state(cmd.Context(), f, file, given)
	return o, err
}

// read reads the task file at path.
func (o *Request) read(path string, args []string) (taskfile.File, error) {
	if path == "-" && slices.Contains(args, "-") {
		return taskfile.File{}, usage("stdin is either the task file or the prompt; nothing was started")
	}
	text, err := o.fileText(path)
	if err != nil {
		return taskfile.File{}, unusable("-f", path, err)
	}
	file, err := taskfile.Parse(text)
	if err != nil {
		return taskfile.File{}, unusable("-f", path, err)
	}
	return file, nil
}

func (o *Request) fileText(path string) ([]byte, error) {
	if path != "-" {
		return yamlfile.ReadFile(path)
	}
	text, err := yamlfile.Read(os.Stdin)
	o.Stdin = string(text)
	return text, err
}

// unusable says what is wrong with a file that a flag names.
func unusable(flag, path string, err error) error {
	if invalid := new(yamlfile.Invalid); errors.As(err, &invalid) {
		return usage("%s %s cannot be used; nothing was started\n  %s",
			flag, path, strings.ReplaceAll(invalid.Error(), "\n", "\n  "))
	}
	if strings.ContainsRune(path, ' ') && flag == "-f" { // more likely -fix the tests
		return usage("-f: %w; a task that begins with - is read from stdin: claude-supervise run -", err)
	}
	return usage("%s: %w", flag, err)
}

// applyDefaults puts what a task file says under the flags: one that the person gave goes before it. It gives what
// would loosen the person's defaults, which counts only where all of the file does.
func applyDefaults(f *Flags, file taskfile.File, given func(flag string) bool, all bool) (wishes []string) {
	if file.Hold != "" && !given("hold") && !all && longer(file.Hold, f.hold) {
		wishes, file.Hold = append(wishes, "hold "+file.Hold), ""
	}
	if file.Permissions != conf.DenyPermissions && f.permissions != string(conf.AskPermissions) {
		file.Permissions = ""
	}
	for flag, value := range map[string]struct {
		put  *string
		text string
	}{
		"name": {&f.name, file.Name}, "model": {&f.model, file.Model}, "hold": {&f.hold, file.Hold},
		"permissions": {&f.permissions, string(file.Permissions)},
	} {
		if value.text != "" && !given(flag) {
			*value.put = value.text
		}
	}
	// 0 of the person's lifts it
	if own := given("max-turns"); !own || f.maxTurns > 0 && file.MaxTurns > 0 && file.MaxTurns < f.maxTurns {
		f.maxTurns = file.MaxTurns
	}
	return wishes
}

// longer reports whether one hold, which can be read, is longer than another.
func longer(hold, than string) bool {
	a, err := conf.ParseHold(hold)
	b, bad := conf.ParseHold(than)
	return err == nil && bad == nil && a != b && (a == conf.Forever || b != conf.Forever && a > b)
}

// work finds out what is to be done: the prompt that the command line, the task file or the demo gives; none where the
// task file states work for others alone.
func (o *Request) work(args []string, file taskfile.File, f Flags) (err error) {
	alone := len(args) == 0 && file.Prompt == "" && (len(file.Children) > 0 || file.Template != nil)
	switch {
	case len(args) > 0 && file.Prompt != "":
		return usage("the task file has a prompt, so none can be given beside it; nothing was started")
	case len(args) == 0 && file.Prompt == "" && f.Demo == "" && f.file != "" && !alone:
		return usage("the task file has no prompt: write one into it, or give it as the argument")
	}
	if f.Demo != "" {
		if err := o.play(f.Demo); err != nil {
			return err
		}
	}
	switch {
	case alone:
		o.Prompt, o.own = "", f.file != ""
	case file.Prompt != "":
		o.Prompt, o.own = file.Prompt, f.file != ""
	case len(args) > 0 || f.Demo == "":
		o.own = true
		if o.Prompt, err = prompt(args); err == nil && args[0] == "-" {
			o.Stdin = o.Prompt
		}
	}
	return err
}

// play makes the order one of a scenario, with its own prompt and flags; those that the person gave come after.
func (o *Request) play(name string) error {
	scenario, err := examples.Load(name)
	if err != nil {
		return exitcode.UsageError{Err: err}
	}
	if o.Config.Demo = name; OfOwnDemo(name) {
		if o.Config.Demo, err = filepath.Abs(name); err != nil {
			return fmt.Errorf("the scenario's path: %w", err)
		}
	}
	o.Prompt = scenario.Prompt
	o.Config.Flags = append(scenario.ClaudeFlags, o.Config.Flags...)
	return nil
}

// demoTask returns the task file of a scenario, which counts as if -f named it; the zero File for one that has none.
func demoTask(name string) (taskfile.File, error) {
	scenario, err := examples.Load(name)
	if err != nil {
		return taskfile.File{}, exitcode.UsageError{Err: err}
	}
	if scenario.Task == nil {
		return taskfile.File{}, nil
	}
	file, err := taskfile.Parse(scenario.Task)
	if err != nil {
		return taskfile.File{}, unusable("--demo", name, err)
	}
	return file, nil
}

// ExecCommand reads --exec.
func ExecCommand(line string) ([]string, error) {
	command, err := commandline.Parse(line, os.Getenv)
	if err != nil {
		return nil, usage("--exec: %w; nothing was started", err)
	}
	return command, nil
}

// unfit says which of the flags that were given the agents of a run do not understand.
func (f Flags) unfit(cfg conf.Config, flags []string) error {
	for _, of := range []struct {
		flag  string
		given bool
	}{
		{"--demo", f.Demo != ""}, {"--claude", f.Claude != ""}, {"--model", f.model != ""},
		{"--max-cost-usd", f.maxCost != ""}, {"--max-tokens", f.maxTokens != ""}, {"--max-turns", f.maxTurns != 0},
		{"--allow", len(f.allow) > 0}, {conf.HandedOn, len(flags) > 0},
	} {
		if of.given && !cfg.Understands(of.flag) {
			return usage("%s is for claude, and %s runs another program in its place; nothing was started", of.flag,
				cfg.Abilities().Flag)
		}
	}
	return nil
}

func runConfig(f Flags, flags []string) (conf.Config, error) {
	given, err := f.Grants.read(flags, func(string) bool { return true })
	if err != nil {
		return conf.Config{}, err
	}
	cfg := conf.Config{
		Flags: handedOn(f, flags), MaxHeld: f.maxHeld, AcceptIDs: f.acceptIDs, Answers: given.Answers,
		Allow: given.Allow, AllowProject: given.AllowProject, AllowSessions: given.AllowSessions,
		Permissions: given.Permissions, Delegate: given.Delegate, MaxParallel: f.maxParallel, MaxDepth: f.maxDepth,
		MaxAgents: f.maxAgents, Worktree: f.worktree, Budget: given.Budget,
		Relaunch: conf.Relaunch(f.relaunch), Retries: f.retries, KeepProcesses: f.keepProcesses,
		NoNotify: f.NoNotify, TraceParent: telemetry.ValidParent(os.Getenv("TRACEPARENT")),
	}
	if cfg.Hold, err = conf.ParseHold(f.hold); err != nil {
		return cfg, usage("--hold %w", err)
	}
	if cfg.OnQuestion, err = OnQuestion(f.onQuestion); err != nil {
		return cfg, err
	}
	switch cfg.Relaunch {
	case conf.Resume, conf.Fresh:
	default:
		return cfg, usage("--relaunch takes resume or fresh, not %q", f.relaunch)
	}
	if cfg.SilentAfter, err = time.ParseDuration(f.silentAfter); err != nil || cfg.SilentAfter < 0 {
		return cfg, usage("--silent-after takes a duration such as 90s, 10m or 2h, or 0, not %q", f.silentAfter)
	}
	switch cfg.OnSilence = conf.OnSilence(f.onSilence); cfg.OnSilence {
	case conf.TellSilence, conf.RetrySilence, conf.FailSilence:
	default:
		return cfg, usage("--on-silence takes tell, retry or fail, not %q", f.onSilence)
	}
	if f.NoNotify && f.notify != "" {
		return cfg, usage("--no-notify turns --notify off: give one of the two")
	}
	if f.notify != "" {
		if cfg.Notify, err = commandline.Parse(f.notify, os.Getenv); err != nil {
			return cfg, usage("--notify: %w; nothing was started", err)
		}
	}
	if f.exec != "" {
		if cfg.Exec, err = ExecCommand(f.exec); err != nil {
			return cfg, err
		}
	}
	if err := f.unfit(cfg, flags); err != nil {
		return cfg, err
	}
	if f.model != "" {
		if err := task.CheckModel(f.model); err != nil {
			return cfg, usage("--model %w", err)
		}
	}
	switch f.check {
	case CheckOff, CheckWarn, CheckAsk, CheckRequire:
	default:
		return cfg, usage("--check takes off, warn, ask or require, not %q", f.check)
	}
	return cfg, nil
}

// OnQuestion reads --on-question; "" leaves it to whether there is a terminal.
func OnQuestion(text string) (conf.OnQuestion, error) {
	switch policy := conf.OnQuestion(text); policy {
	case conf.Ask, conf.Park, conf.Fail, "":
		return policy, nil
	}
	return "", usage("--on-question takes ask, park or fail, not %q", text)
}

// handedOn returns the flags that claude gets: those of ours that are its own, then what was passed on, which goes
// before them.
func handedOn(f Flags, passed []string) []string {
	var flags []string
	hand := func(flag, value string) {
		if !slices.ContainsFunc(passed, func(p string) bool { return p == flag || strings.HasPrefix(p, flag+"=") }) {
			flags = append(flags, flag, value)
		}
	}
	if f.model != "" {
		hand("--model", f.model)
	}
	return append(flags, passed...)
}

// presets reads the answers given in advance: those of the command line before those of the file.
func presets(given []string, file string) ([]conf.Preset, error) {
	var all []conf.Preset
	for _, g := range given {
		key, value, ok := strings.Cut(g, "=")
		if !ok || strings.TrimSpace(key) == "" || strings.TrimSpace(value) == "" {
			return nil, usage("--answer takes KEY=VALUE, not %q", g)
		}
		all = append(all, conf.Preset{Key: strings.TrimSpace(key), Value: value})
	}
	if file == "" {
		return all, nil
	}
	text, err := yamlfile.ReadFile(file)
	if err == nil {
		var more []conf.Preset
		if more, err = taskfile.ParseAnswers(text); err == nil {
			return append(all, more...), nil
		}
	}
	return nil, unusable("--answers", file, err)
}

// prompt returns the task's text: the argument, or stdin for "-".
func prompt(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return "",
			usage(
				"run takes the task as its argument, as in: claude-supervise run \"Fix the tests\" (or - to read it from stdin)")
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

// Folder returns the path from the root of a folder that a run works in.
func Folder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("the folder to work in is not known: %w", err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", usage("--cwd: %w", err)
	case !info.IsDir():
		return "", usage("--cwd: %s is not a folder", abs)
	}
	return abs, nil
}

// usage is exitcode.Usage, of which this package is full.
func usage(format string, args ...any) error { return exitcode.Usage(format, args...) }

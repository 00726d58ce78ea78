package request

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/records"
)

// asked returns what a command line asks for, in a folder of its own.
func asked(t *testing.T, args ...string) (Request, Flags, error) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Chdir(t.TempDir())
	var f Flags
	cmd := &cobra.Command{Use: "run"}
	cmd.SetContext(t.Context())
	AddFlags(cmd, &f)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	given, err := SetDefaults(cmd, &f)
	if err != nil {
		return Request{}, f, err
	}
	o, err := New(cmd, cmd.Flags().Args(), f, given)
	return o, f, err
}

func TestACommandLineThatCannotBeMeantStartsNothing(t *testing.T) {
	for args, want := range map[string]string{
		"":                                      "run takes the task as its argument",
		"a|b":                                   "run takes one prompt, not 2 words",
		" ":                                     "the prompt is empty",
		"a\xff":                                 "the prompt is not UTF-8 text",
		"--hold|soon|a":                         "--hold ",
		"--on-question|wait|a":                  `--on-question takes ask, park or fail, not "wait"`,
		"--relaunch|again|a":                    `--relaunch takes resume or fresh, not "again"`,
		"--silent-after|-1m|a":                  "--silent-after takes a duration",
		"--on-silence|shout|a":                  `--on-silence takes tell, retry or fail, not "shout"`,
		"--retries|-1|a":                        "--retries takes 0 or more, not -1",
		"--max-turns|-1|a":                      "--max-turns takes 0 or more, not -1",
		"--max-cost-usd|much|a":                 "--max-cost-usd ",
		"--max-tokens|x|a":                      "--max-tokens ",
		"--max-time|x|a":                        "--max-time ",
		"--max-agents|-2|a":                     "--max-agents takes 0 or more, not -2",
		"--delegate|maybe|a":                    "--delegate ",
		"--permissions|allow|a":                 "--permissions ",
		"--allow|Bash(|a":                       "--allow ",
		"--model|--x|a":                         "--model ",
		"--check|hard|a":                        `--check takes off, warn, ask or require, not "hard"`,
		"--answer|=2|a":                         `--answer takes KEY=VALUE, not "=2"`,
		"--answer|day|a":                        `--answer takes KEY=VALUE, not "day"`,
		"--answers|none.yaml|a":                 "--answers: ",
		"--no-notify|--notify|true|a":           "--no-notify turns --notify off",
		"--exec|true|--model|opus|a":            "--model is for claude, and --exec runs another program",
		"--exec|true|--allow|Read|a":            "--allow is for claude",
		"--cwd|/nowhere/at/all|a":               "--cwd: ",
		"-f|none.yaml":                          "-f: ",
		"-f|-|-":                                "stdin is either the task file or the prompt",
		"--each|":                               "run takes the task as its argument",
		"--each| |a {item}":                     "--each takes a COMMAND that prints the items, and is empty",
		"--each|echo 1|a":                       "no text of the task says {item}",
		"--exec|true|--continue|a-1|a":          "--continue does not go with --exec, which keeps no conversation",
		"--continue|a-1|--demo|ask|a":           "--continue does not go with --demo",
		"--demo|no-such-scenario":               "no-such-scenario",
		"--demo|ask|--snapshots|/x|--|--resume": "claude's --resume cannot be passed on",
	} {
		_, _, err := asked(t, strings.Split(args, "|")...)
		if args == "" {
			_, _, err = asked(t)
		}
		if err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exit.Usage {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestFlagsBecomeTheConfigOfARun(t *testing.T) {
	o, f, err := asked(t, "--hold", "0", "--on-question", "park", "--retries", "1", "--silent-after", "90s", "--on-silence", "retry",
		"--allow", "Read", "--allow", "Read", "--allow", "project", "--answer", " day =Monday", "--accept-id", "mine", "--max-cost-usd",
		"2.5", "--max-time", "90m", "--model", "opus", "--name", "nightly", "--max-depth", "0", "--worktree", "Write it", "--", "--verbose")
	if err != nil {
		t.Fatal(err)
	}
	c := o.Config
	got := fmt.Sprintln(o.Prompt, o.Name, c.Hold, c.OnQuestion, c.Retries, c.SilentAfter, c.OnSilence, c.Allow, c.AllowProject,
		c.AllowSessions, c.Answers[0].Key, c.Answers[0].Value, c.AcceptIDs, c.Budget.CostUSD, c.Budget.Time == 90*time.Minute,
		c.Flags, c.MaxDepth, c.Worktree, c.MaxHeld)
	const want = "Write it nightly 0s park 1 1m30s retry [Read] true false day Monday [mine] 2.5 true [--model opus --verbose] 0 true -1\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if f.HasOwnFolder() {
		t.Error("it gets the folder of a demo")
	}
}

// A flag of claude's own that is passed on goes before the one of ours that stands for it.
func TestWhatIsPassedOnGoesBeforeOurFlag(t *testing.T) {
	for _, passed := range [][]string{{"--model", "haiku"}, {"--model=haiku"}} {
		o, _, err := asked(t, append([]string{"--model", "opus", "Write it", "--"}, passed...)...)
		if err != nil || !slices.Equal(o.Config.Flags, passed) {
			t.Errorf("%q: %q (%v)", passed, o.Config.Flags, err)
		}
	}
}

func TestADemoIsPlayedInAFolderOfItsOwnUnlessOneIsNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		own  bool
	}{{[]string{"--demo", "ask"}, true}, {[]string{"--demo", "ask", "--cwd", "."}, false}} {
		o, f, err := asked(t, c.args...)
		if err != nil || o.Prompt == "" || o.Config.Demo != "ask" || f.HasOwnFolder() != c.own {
			t.Errorf("%q: %+v (%v)", c.args, o.Config, err)
		}
	}
}

func TestAnswersOfTheCommandLineGoBeforeThoseOfAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.yaml", []byte("day: Sunday\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := presets([]string{"day=Monday"}, "a.yaml")
	if err != nil || len(all) != 2 || all[0].Value != "Monday" || all[1].Value != "Sunday" {
		t.Errorf("%+v (%v)", all, err)
	}
}

// Each task of a pool is about one line of what the command prints; the run itself only waits for them.
func TestAPoolHasATaskForEachItem(t *testing.T) {
	o, _, err := asked(t, "--each", "printf 'a\\nb\\n'", "Proofread {item}")
	if err != nil || len(o.Children) != 2 || o.Children[1].Task != "Proofread b" || !o.Group {
		t.Fatalf("%+v (%v)", o.Task, err)
	}
	if o.Prompt != "2 tasks: a, b" {
		t.Errorf("it is told as %q", o.Prompt)
	}
}

func TestARunInsideAnAgentTakesNothingThatIsTheRunsOwn(t *testing.T) {
	caller := records.Caller{Run: "r-aaaaaaaa", Agent: "a-7Qm2xK9fWb4T", Exec: []string{"true"}}
	for name, c := range map[string]struct {
		args    []string
		refused string
		told    string
	}{
		"another demo":    {[]string{"--demo", "ask"}, "--demo plays no other scenario inside agent", ""},
		"another program": {[]string{"--exec", "false", "a"}, "--exec runs no other program", ""},
		"a pool":          {[]string{"--each", "echo 1", "a {item}"}, "--each makes no pool", ""},
		"another folder":  {[]string{"--cwd", "/", "a"}, "--cwd names a folder inside that of agent", ""},
		"idle flags":      {[]string{"--hold", "1m", "a", "--", "--verbose"}, "", "Of no effect inside agent a-7Qm2xK9fWb4T, whose run has its own: --hold, what follows --."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Chdir(t.TempDir())
			caller.Cwd, _ = os.Getwd()
			var f Flags
			cmd := &cobra.Command{Use: "run"}
			cmd.SetContext(t.Context())
			AddFlags(cmd, &f)
			if err := cmd.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			o, err := New(cmd, cmd.Flags().Args()[:min(1, cmd.Flags().NArg())], f, cmd.Flags().Changed)
			if err != nil {
				t.Fatal(err)
			}
			_, told, err := Nested(cmd, o, f, caller)
			if c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("it says %v", err)
			}
			if c.told != "" && !slices.Contains(told, c.told) {
				t.Errorf("told: %q (%v)", told, err)
			}
		})
	}
}

func TestWhatIsGrantedToARunLaterIsReadAsForOneThatBegins(t *testing.T) {
	read := func(args ...string) (conf.Given, error) {
		var g Grants
		cmd := &cobra.Command{Use: "resume"}
		AddGrants(cmd, &g)
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		_, passed := BeforeDash(cmd, cmd.Flags().Args())
		return g.Read(cmd, passed)
	}
	if g, err := read(); err != nil || !g.IsZero() {
		t.Errorf("nothing is %+v (%v)", g, err)
	}
	g, err := read("--allow", "Read", "--max-depth", "0", "--max-turns", "5", "--", "--verbose")
	if err != nil || !slices.Equal(g.Allow, []string{"Read"}) || g.MaxDepth == nil || *g.MaxDepth != 0 || g.MaxAgents != nil ||
		g.Budget.Turns != 5 || !slices.Equal(g.Flags, []string{"--verbose"}) || !g.Unrefused {
		t.Errorf("it is %+v (%v)", g, err)
	}
	for _, args := range [][]string{{"--allow", "task"}, {"--retries", "-1"}, {"--permissions", "x"}, {"--delegate", "x"},
		{"--", "--resume", "x"}, {"--answer", "x"}} {
		if g, err := read(args...); exitcode.Of(err) != exit.Usage {
			t.Errorf("%q is %+v (%v)", args, g, err)
		}
	}
}

func TestSnapshotsAreKeptAtLeastOne(t *testing.T) {
	for _, c := range []struct {
		Snapshots
		none bool
		bad  bool
	}{{Snapshots{keep: 1}, true, false}, {Snapshots{keep: 0}, true, true}, {Snapshots{Dir: NoSnapshots, keep: 1}, false, false}} {
		to, err := c.To(t.TempDir(), t.TempDir())
		if (to == nil) != c.none || (err != nil) != c.bad {
			t.Errorf("%+v: %+v (%v)", c.Snapshots, to, err)
		}
	}
}

// The supervisor in the background is told once what was typed for its task; what it starts is not.
func TestWhatWasTypedForATaskIsHandedOnOnce(t *testing.T) {
	if b, err := collectedBefore(); b != nil || err != nil || InBackground() {
		t.Errorf("on a terminal there is %v (%v)", b, err)
	}
	t.Setenv(BackgroundRun, "r-aaaaaaaa")
	t.Setenv(BackgroundBrief, `[{"Context":"c"}]`)
	if b, err := collectedBefore(); err != nil || len(b) != 1 || b[0].Context != "c" || os.Getenv(BackgroundBrief) != "" {
		t.Errorf("it is %+v (%v), and %q stays", b, err, os.Getenv(BackgroundBrief))
	}
	t.Setenv(BackgroundBrief, "{")
	if _, err := collectedBefore(); err == nil {
		t.Error("what cannot be read is taken")
	}
}

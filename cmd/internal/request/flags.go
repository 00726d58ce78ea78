package request

import (
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/supervisor/conf"
)

// Flags are those of run.
type Flags struct {
	Session
	Grants
	Snapshots
	Claude, hold, onQuestion, relaunch string
	cwd, name, Demo                    string
	file, check, model, exec           string
	maxHeld                            int
	silentAfter, onSilence, notify     string
	worktree, keepProcesses, Detach    bool
	goOnFrom, each                     string
}

// Session are those that run and resume share.
type Session struct {
	Plain, AsJSON, Quiet, NoNotify bool
	Log, NotifyURL                 string
	StdinRead                      bool // the task was read from stdin
	Aside                          bool // the process does other things: nothing is shown in it, asked or taken from it
}

// AddFlags adds the flags of run to a command.
func AddFlags(cmd *cobra.Command, f *Flags) {
	fl := cmd.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "the task as a YAML `FILE`; - is stdin")
	fl.StringVar(&f.check, "check", CheckWarn, "`LEVEL`: off, warn, ask or require")
	fl.StringVar(&f.model, "model", "", "the `MODEL` of claude")
	fl.StringVar(&f.Claude, "claude", "", "the claude at `PATH` (or $CLAUDE_SUPERVISE_CLAUDE)")
	fl.StringVar(&f.exec, "exec", "", "run `COMMAND` instead of claude; {} is the prompt")
	fl.StringVar(&f.hold, "hold", "5m", "`TIME` to wait: 10m, 0 or forever")
	fl.IntVar(&f.maxHeld, "max-held", -1, "hold `N`, park the rest; -1: all")
	fl.StringVar(&f.onQuestion, "on-question", "", "`ACTION`: ask (stay), park (exit 75), fail (exit 1)")
	fl.StringVar(&f.relaunch, "relaunch", "resume", "`HOW`: resume or fresh")
	fl.StringVar(&f.silentAfter, "silent-after", "10m", "report silence after `TIME`; 0: never")
	fl.StringVar(&f.onSilence, "on-silence", "tell", "`ACTION` then: tell, retry, fail")
	fl.StringVar(&f.notify, "notify", "", "run `COMMAND` with each question as JSON on stdin")
	fl.BoolVar(&f.Detach, "detach", false, "run in the background and print the id")
	fl.StringVar(&f.cwd, "cwd", "", "work in `FOLDER` (default for a demo: a temporary one)")
	fl.StringVar(&f.name, "name", "", "name the run `NAME`")
	fl.BoolVar(&f.keepProcesses, "keep-processes", false, "keep processes that agents leave after success")
	fl.StringVar(&f.Demo, "demo", "", "play a built-in `SCENARIO`; without a name: list them")
	fl.StringVar(&f.each, "each", "", "one task for each line that `COMMAND` prints: {item}")
	fl.StringVar(&f.goOnFrom, "continue", "", "continue the conversation of an ended `AGENT`")
	fl.BoolVar(&f.worktree, "worktree", false, "give each child its own git worktree")
	addGrants(cmd, &f.Grants, Grants{permissions: string(conf.AskPermissions),
		delegate: string(conf.AskDelegations), maxParallel: conf.DefaultMaxParallel,
		maxDepth: conf.DefaultMaxDepth, maxAgents: conf.DefaultMaxAgents, retries: 3},
		"permit a `RULE`, task, project or sessions unasked", "accept signals with this `ID`")
	AddSnapshots(cmd, &f.Snapshots)
	AddSession(cmd, &f.Session)
}

// AddSession adds those that run and resume share.
func AddSession(cmd *cobra.Command, f *Session) {
	cmd.Flags().BoolVar(&f.Plain, "plain", false, "no colours or status line; questions as plain text")
	cmd.Flags().BoolVar(&f.AsJSON, "json", false, "print one event per line as JSON on stdout")
	cmd.Flags().BoolVar(&f.NoNotify, "no-notify", false, "turn off the bell and all notifications")
	cmd.Flags().StringVar(&f.NotifyURL, "notify-url", "", "also notify this `URL`: an ntfy topic or a webhook")
	cmd.Flags().BoolVar(&f.Quiet, "quiet", false, "show only questions and the result")
	cmd.Flags().StringVar(&f.Log, "log", "", "write diagnostics to `FILE`")
}

// OfOwnDemo reports whether a demo is a scenario file of the person's own, and not built in.
func OfOwnDemo(name string) bool { return strings.HasSuffix(name, ".yaml") }

// HasOwnFolder reports whether the run is a built-in demo that gets a folder of its own: its scripted agent writes
// files, and must not write over a person's. Who names a folder, and who plays a scenario file, wants it there.
func (f Flags) HasOwnFolder() bool {
	return f.Demo != "" && !OfOwnDemo(f.Demo) && f.cwd == "" && f.goOnFrom == ""
}

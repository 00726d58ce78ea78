package procs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// An Other is a process that this program did not start: by its number, and when it began, in ticks of the system's
// own.
type Other struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// shells are what lies between claude and a hook.
var shells = []string{"sh", "dash", "bash", "zsh", "ksh", "fish", "ash", "busybox", "env", "nice"}

// engines run the CLI where it is a script.
var engines = []string{"node", "bun", "deno"}

// Machine returns what tells this machine from others, which may have its folders, too: that of machine-id(5). "": this
// system has nothing of the kind.
var Machine = sync.OnceValue(func() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// This returns this process.
func This() Other { return other(os.Getpid()) }

func other(pid int) Other {
	p, err := read(pid)
	if err != nil {
		return Other{}
	}
	return Other{p.pid, p.start}
}

// AboveHook returns the process that has started this one as its hook: the nearest above it that is no shell. Of a hook
// that has outlived it there is none (the zero Other).
func AboveHook() Other {
	for pid := os.Getppid(); pid > 1; {
		p, err := read(pid)
		if err != nil {
			break
		}
		if args := arguments(pid); !slices.Contains(shells, strings.TrimPrefix(filepath.Base(args[0]), "-")) {
			return Other{p.pid, p.start}
		}
		pid = p.parent
	}
	return Other{}
}

// Alive reports whether the process still runs.
func (o Other) Alive() bool { return o.PID > 0 && identity{o.PID, o.Start}.alive() }

// Wait blocks until the process has ended, or ctx is done. It reports whether the process has ended. Where the kernel
// has pidfds it tells; else the process is looked at again and again.
func (o Other) Wait(ctx context.Context) bool {
	h, err := hold(identity{o.PID, o.Start})
	if err != nil {
		return true
	}
	defer h.release()
	return h.wait(ctx)
}

// Folder is where the process works; "" if that cannot be told.
func (o Other) Folder() string { return folderOf(o.PID) }

// Screen names the terminal that the process has, for people: the device, and the pane of a tmux; "" if it has none.
func (o Other) Screen() string {
	screen := terminalOf(o.PID)
	if screen == "" {
		return ""
	}
	env := strings.Split(environ(o.PID), "\x00")
	if pane := Lookup(env, "TMUX_PANE"); pane != "" {
		screen += ", tmux pane " + pane
	}
	return screen
}

// BelowClaude returns what tells that a process was started by a claude, whoever has started that; "": nothing does. It
// goes by what neither env -i, setsid, a second fork nor a terminal of its own takes from a process, where the system
// has such a thing (Other.Tag), and by the processes above it and their environments.
//
// What cannot be told: a process that another program starts when an agent asks it to (a terminal multiplexer or a
// service manager of the person's, sshd, cron), and on a system without tags one whose parents are gone and whose
// environment is empty. Root can take a tag off.
func BelowClaude(pid int) string {
	for at := pid; at > 1; {
		p, err := read(at)
		if err != nil {
			break
		}
		switch {
		case outsideTagged(at):
			return "it descends from a claude, as a limit says that the kernel hands down"
		case isClaude(arguments(at)):
			return "a claude is above it"
		}
		env := strings.Split(environ(at), "\x00")
		if Lookup(env, "CLAUDECODE") != "" {
			return "its environment is that of what claude starts"
		}
		if _, marked := markerIn(env); marked {
			return "it belongs to a supervised agent"
		}
		at = p.parent
	}
	return ""
}

// isClaude reports whether a command line is that of the CLI: by its name, or as a script that node runs.
func isClaude(args []string) bool {
	named := func(arg string) bool {
		return filepath.Base(arg) == "claude" || strings.Contains(arg, "@anthropic-ai/claude-code")
	}
	return named(args[0]) || len(args) > 1 && slices.Contains(engines, filepath.Base(args[0])) && named(args[1])
}

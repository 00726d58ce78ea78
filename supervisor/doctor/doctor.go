package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/text"
)

// ErrNoAgent means that there is no claude to start, or that what was named is none.
var ErrNoAgent = errors.New("the agent cannot be started")

// FindClaude returns the absolute path of the claude to run: the one given, else $CLAUDE_SUPERVISE_CLAUDE, else the one
// on PATH. The error is ErrNoAgent.
func FindClaude(given string, env []string) (string, error) {
	path, err := claude.Find(given, env)
	if err != nil {
		return "", noAgent{err}
	}
	return path, nil
}

// FindProgram returns the absolute path of a program of ours that lies in a folder, else in one of the absolute folders
// of $PATH; "" where it lies in none. A folder that depends on where the caller stands is not searched: a repository
// may have such a program.
func FindProgram(name, folder string, env []string) string {
	if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
		return path
	}
	return procs.InPath(name, env)
}

// noAgent is an error of which ErrNoAgent says only what the error itself tells better.
type noAgent struct{ error }

func (e noAgent) Is(target error) bool { return target == ErrNoAgent }

func (e noAgent) Unwrap() error { return e.error }

// ReservedFlag says which of the flags for claude cannot be passed on, and why; "" if all can.
func ReservedFlag(flags []string) string {
	flag, why := claude.Reserved(flags)
	if flag == "" {
		return ""
	}
	return "claude's " + flag + " cannot be passed on: " + why
}

// InsideAgent reports whether this process belongs to a supervised agent, and which.
func InsideAgent(env []string) (agent string, inside bool) {
	m, inside := procs.Inside(env)
	if !inside && procs.Unmarked(env) {
		return "(not named: its environment was taken away)", true
	}
	return m.Agent, inside
}

// InsideRun reports whether this process belongs to an agent of a run, and of which; "": that cannot be told.
func InsideRun(env []string) (run string, inside bool) {
	m, inside := procs.Inside(env)
	return m.Run, inside || procs.Unmarked(env)
}

// A Finding is what doctor has to say about one thing.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"` // what was found; if not OK also what to do

	Lacks bool `json:"lacks"` // what most need was not seen, and may be there all the same

	Channels []Channel `json:"channels"` // of the release that was found
	Settings []Setting `json:"settings"` // the person's own defaults that are in force
}

// waker is the name of the wake-up socket in JSON, where it stays as it is.
const waker = "bell"

// Title is the name of what was looked at, for people.
func (f Finding) Title() string {
	if f.Name == waker {
		return "wake-up"
	}
	return f.Name
}

// A Setting is a default, and where it comes from.
type Setting struct {
	Flag  string `json:"flag"`
	Value string `json:"value"`
	From  string `json:"from"` // flag, default, the name of an environment variable, or a file with its line
}

// A Channel is one way in which an agent and its supervisor reach each other.
type Channel struct {
	Name string `json:"name"`
	Has  bool   `json:"has"`  // the release has it; a run does without those that it lacks
	How  string `json:"text"` // what that means
}

// doctorPatience is how long doctor waits for a claude to say its version.
const doctorPatience = 30 * time.Second

// Doctor looks at what runs need. It changes nothing but to make the state folder, as the first run would. Files that
// it writes to see whether that can be done are gone afterwards.
func Doctor(ctx context.Context, given string, env []string) []Finding {
	var found []Finding
	note := func(name string, err error, text string) {
		f := Finding{Name: name, OK: err == nil, Text: text}
		if err != nil {
			f.Text = err.Error()
		}
		found = append(found, f)
	}

	path, err := FindClaude(given, env)
	version, text := "", ""
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, doctorPatience)
		defer cancel()
		version, err = claude.Version(ctx, path)
		text = fmt.Sprintf("%s (%s)", version, path)
	}
	note("claude", err, text)
	if folder, err := filedrop.ClaudeFolder(os.Getenv); err == nil {
		found = append(found, login(env, folder))
	}

	dirs, err := checkpoints.DefaultDirs()
	if err == nil {
		text, err = tryState(ctx, dirs)
	}
	note("state", err, text)
	kept := err == nil
	if kept {
		text, err = tryWaker(dirs)
		note(waker, err, text)
		taken, err := snapshots(ctx, dirs)
		if err != nil {
			note("snapshots", err, "")
		}
		found = append(found, taken...)
	}

	switch runtime.GOOS {
	case "linux":
		note("processes", procs.BecomeSubreaper(), "orphans are adopted and reaped; nothing is left behind")
	default:
		note("processes", nil, "on "+runtime.GOOS+
			" orphans are found by their mark only: a process that hides it may be left behind; nor does this system tell "+
			"in which folder a script runs: one that asks by a question file is known by an absolute path of its own, or by "+
			"what its agent prints")
	}
	home, err := os.UserHomeDir()
	note("home", err, home)
	if cwd, err := os.Getwd(); err == nil {
		if folder, err := filedrop.ClaudeFolder(os.Getenv); err == nil {
			found = append(append(found, trustIn(cwd, folder)), settingsOf(cwd, folder)...)
			if kept {
				found = append(found, sessionsIn(dirs, cwd, folder, version)...)
			}
		}
	}
	if version != "" {
		found = append(found, release(claude.ReleaseOf(version)))
	}
	return found
}

// release is what is to be said of a release: what it can, and how that is known.
func release(r claude.Release) Finding {
	f := Finding{Name: "release", OK: true}
	newest := r.FromNewest() + ", the newest tested release"
	switch {
	case r.NewerThanMeasured():
		f.Text = newest + ": treated as that one"
	case !r.Measured:
		f.Text = "not tested (" + newest + "): treated as the tested release before it"
	case r.Version == claude.NewestMeasured():
		f.Text = "the newest tested release"
	default:
		f.Text = "tested (" + newest + ")"
	}
	lacks := false
	for _, c := range r.Channels() {
		f.Channels = append(f.Channels, Channel(c))
		lacks = lacks || !c.Has
	}
	if lacks {
		f.Text += "; runs do without the channels marked -"
	}
	return f
}

func tryState(ctx context.Context, dirs checkpoints.Dirs) (string, error) {
	store, err := checkpoints.Open(dirs)
	if err != nil {
		return "", err
	}
	runs, err := store.Runs(ctx, false)
	if err = errors.Join(err, store.Close()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (%s)", dirs.Database(), text.Plural(len(runs), "unfinished run", "unfinished runs")), nil
}

// tryWaker returns the folder in which wake-up sockets are.
func tryWaker(dirs checkpoints.Dirs) (folder string, err error) {
	waker, err := dirs.Listen(fmt.Sprintf("r-doctor%d", os.Getpid()))
	if err != nil {
		return "", err
	}
	return filepath.Dir(waker.Path()), waker.Close()
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A report for the maintainers holds nothing that a person, a repository or an agent has written: no task, question,
// answer, reason, name, path or value, only words of ours and numbers. Everything in it goes through one of these.
var (
	ours       = text.Lazily(`^[a-z][a-z_.-]{0,39}$`)
	versions   = text.Lazily(`^[0-9]+(\.[0-9]+){0,3}`)
	fleetWords = text.Lazily(`^(not installed|the same release|another release)`)
	variable   = text.Lazily(`^(CLAUDE|ANTHROPIC|XDG|OTEL)_[A-Z_]{1,60}$|^(CI|TERM|TMUX|NO_COLOR|SSH_CONNECTION)$`)
	setting    = text.Lazily(`^(ask|auto|deny|off|warn|require|park|fail|tell|retry|resume|fresh|forever|true|` +
		`false|-?[0-9.]{1,9}[a-zA-Z]{0,3})?(,(ask|auto|deny))*$`)
)

// shown returns what of a text has a form, or "?".
func shown[T ~string](text T, form *regexp.Regexp) string {
	if found := form.FindString(string(text)); found != "" {
		return found
	}
	return "?"
}

// reportedRuns is how many runs a report tells of, the latest, and reportedEvents how many events of the first of them.
const reportedRuns, reportedEvents = 5, 100

// Report writes, as Markdown, what a report of a fault needs: the program, what Doctor found, the names of environment
// variables, and how the latest runs went. It holds none of their texts (see above), so that it may be published.
func Report(ctx context.Context, program string, found []Finding, env []string) string {
	var b strings.Builder
	b.WriteString("# Report of claude-supervise\n\n" +
		"It holds nothing that you or an agent wrote, and no paths or secrets. Of environment variables it has the\n" +
		"names.\n\n")
	fmt.Fprintf(&b, "- program: %s, %s %s/%s, kernel %s\n", program, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		kernel())
	fmt.Fprintf(&b, "- environment: %s\n\n## Setup\n\n", strings.Join(named(env), " "))
	for _, f := range found {
		fmt.Fprintf(&b, "- %s: %s\n", shown(f.Title(), ours()), verdict(f))
		for _, c := range f.Channels {
			if !c.Has {
				fmt.Fprintf(&b, "  - without %s\n", c.Name) // its name is ours
			}
		}
		for _, s := range f.Settings {
			if s.From != "default" {
				fmt.Fprintf(&b, "  - %s is set%s\n", shown(s.Flag, ours()), value(s))
			}
		}
	}
	b.WriteString("\n## Runs\n\n")
	if err := reportRuns(ctx, &b); err != nil {
		b.WriteString("They cannot be read: `claude-supervise doctor` says why.\n")
	}
	return b.String()
}

func verdict(f Finding) string {
	switch {
	case !f.OK:
		return "BAD (`claude-supervise doctor` says why: please add it, without what is private)"
	case f.Name == "claude":
		return "ok " + shown(f.Text, versions())
	case f.Name == "fleet":
		return shown(f.Text, fleetWords())
	case f.Name == "release":
		return f.Text // sentences of ours, and numbers
	}
	return "ok"
}

// value returns the value of a setting where it is a number or one of our words.
func value(s Setting) string {
	if s.Value != "" && setting().MatchString(s.Value) && s.Flag != "allow" && s.Flag != "model" {
		return ": " + s.Value
	}
	return ""
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "?"
	}
	return shown(unix.ByteSliceToString(u.Release[:]), versions())
}

// named returns the names of those variables that change what we or claude do.
func named(env []string) (names []string) {
	for _, set := range env {
		if name, _, _ := strings.Cut(set, "="); variable().MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func reportRuns(ctx context.Context, b *strings.Builder) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer r.Close()
	store := r.Store
	live, err := store.Runs(ctx, false)
	past, err2 := store.PastRuns(ctx, 0, reportedRuns)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	runs := append(live, past...)
	slices.SortStableFunc(runs, func(a, b checkpoints.Run) int { return b.StartedAt.Compare(a.StartedAt) })
	for i, run := range runs[:min(len(runs), reportedRuns)] {
		l, err := store.Load(ctx, run.ID)
		if err != nil {
			return err
		}
		reportRun(b, l)
		if i > 0 {
			continue
		}
		events, err := store.Events(ctx, run.ID, max(0, l.LastEvent-reportedEvents))
		if err != nil {
			return err
		}
		b.WriteString("  - events:")
		for _, e := range events {
			fmt.Fprintf(b, " %s@%s", shown(e.Type, ours()), e.At.Sub(run.StartedAt).Round(time.Millisecond))
		}
		b.WriteString("\n")
	}
	return nil
}

func reportRun(b *strings.Builder, l checkpoints.Loaded) {
	r := l.Run
	fmt.Fprintf(b, "- a run of %s, %s after %s", r.StartedAt.UTC().Format(time.DateOnly), shown(r.Status, ours()),
		r.Since.Sub(r.StartedAt).Round(time.Second))
	if r.ExitCode != nil {
		fmt.Fprintf(b, ", exit code %d", *r.ExitCode)
	}
	fmt.Fprintf(b, ", %d supervisors, left %s\n", r.Epoch, shown(r.Left, ours()))
	statuses := map[string]int{}
	for _, a := range l.Agents {
		statuses[fmt.Sprintf("%s at depth %d after %d launches", shown(a.Status, ours()), a.Depth, a.Launches)]++
	}
	for _, launch := range l.Launches {
		statuses["launches of claude "+shown(launch.Version, versions())]++
	}
	for _, q := range l.Questions {
		statuses[fmt.Sprintf("questions: %s %s", shown(q.Kind, ours()), shown(q.State, ours()))]++
	}
	var lines []string
	for what, n := range statuses {
		lines = append(lines, fmt.Sprintf("  - %d × %s\n", n, what))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

package ask

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"claude-supervise/signals"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// The words of these options, and of the titles of a blocker's question, stay as they are: what earlier releases have
// recorded has to come to the same question again.
var standing = []signals.Option{
	{Label: questions.Resolved, Description: "the blocker is gone; add what was done, e.g. resolved: ran npm install"},
	{Label: questions.SkipPart, Description: "go on without the blocked part; it is listed in a file"},
	{Label: questions.RetryPart, Description: "try again from the checkpoint"},
	{Label: questions.DelegateIt, Description: "have another agent do the blocked part, go on with the rest"},
	{Label: questions.ReduceIt, Description: "do less; add what, e.g. reduce: only src/"},
	{Label: questions.GiveUp, Description: "end the agent as failed"},
}

// Stop makes the one question that a stop is.
func Stop(sig signals.Signal) signals.Question {
	var b strings.Builder
	for _, f := range []struct{ title, name string }{
		{"Blocked work", "blocked_work"}, {"Done so far", "completed_work"}, {"State", "state_snapshot"},
		{"Needed to go on", "resume_requirements"}, {"Possible fixes", "error_recovery"},
	} {
		if v := strings.TrimSpace(sig.Field(f.name)); v != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", f.title, v)
		}
	}
	b.WriteString("To have a command run first in the run's folder, answer \"run: COMMAND\".")
	text := strings.TrimSpace(sig.Field("details"))
	if text == "" {
		text = "The agent has stopped and gave no details."
	}
	header := sig.Field("blocker_type")
	if header == "" {
		header = sig.Field("stop_reason")
	}
	return signals.Question{
		ID: "stop", Text: text, Header: header, Context: b.String(),
		Options: slices.Concat(ownOptions(sig), commandOptions(sig), standing),
	}
}

// The bounds of what an agent proposes itself: how many options, and the characters of a label.
const (
	maxOptions  = 8
	maxOwnLabel = 100
)

var (
	optionLine = text.Lazily(`(?im)^\s*(?:[-*]\s*)?option\s+\w{1,3}\s*[:.)-]\s*(\S.*)$`)
	numbered   = text.Lazily(`(?m)^\s*\d{1,2}[.)]\s+(\S.*)$`)
	runLine    = text.Lazily(`(?im)^\s*(?:[-*]\s*|\d{1,2}[.)]\s*)?run:?\s+(\S.*)$`)
	quotedRun  = text.Lazily("^`([^`]+)`")
	bracketed  = text.Lazily(`\s+\([^()]*\)\s*$`)
)

// ownOptions are those that the agent itself sees: the ones that it lists, "Option 1: …" lines, and numbered fixes.
func ownOptions(sig signals.Signal) []signals.Option {
	found := sig.List("options")
	lines := optionLine().FindAllStringSubmatch(sig.Field("resume_requirements")+"\n"+sig.Field("error_recovery"),
		maxOptions)
	for _, m := range append(lines, numbered().FindAllStringSubmatch(sig.Field("error_recovery"), maxOptions)...) {
		found = append(found, m[1])
	}
	var options []signals.Option
	for _, label := range found {
		label = strings.Join(strings.Fields(label), " ")
		if len(options) == maxOptions || label == "" || utf8.RuneCountInString(label) > maxOwnLabel ||
			questions.IsStanding(label) ||
			slices.ContainsFunc(options, func(o signals.Option) bool { return strings.EqualFold(o.Label, label) }) {
			continue
		}
		options = append(options, signals.Option{Label: label, Description: "the agent's own proposal"})
	}
	return options
}

// commandOptions offer the command that the agent asks to have run.
func commandOptions(sig signals.Signal) []signals.Option {
	m := runLine().FindStringSubmatch(sig.Field("resume_requirements"))
	if m == nil {
		return nil
	}
	command := strings.TrimSpace(bracketed().ReplaceAllString(m[1], ""))
	if q := quotedRun().FindStringSubmatch(m[1]); q != nil {
		command = strings.TrimSpace(q[1])
	}
	if !questions.PlainCommand(command) {
		return nil
	}
	return []signals.Option{{Label: questions.RunCommand + ": " + command,
		Description: "in the run's folder; you are asked once more before it runs"}}
}

// SnapshotPaths returns the files and folders that a snapshot plainly names, and those of a list that it calls files.
func SnapshotPaths(sig signals.Signal) []string {
	snapshot := sig.Field("state_snapshot")
	named := task.NamedPaths(snapshot)
	for _, list := range listedFiles().FindAllStringSubmatch(snapshot, task.MaxNamedPaths) {
		for _, path := range task.PathsOf(task.Deliverables([]string{list[1]})) {
			if !slices.Contains(named, path) && len(named) < task.MaxNamedPaths {
				named = append(named, path)
			}
		}
	}
	return named
}

var listedFiles = text.Lazily(`(?im)\bfiles:[ \t]*\[([^\]\n]+)\]`) // Generated files: [file1, file2]

// Command asks whether a command may run: on a terminal only, for it runs as the person. Its text ends with
// what runs, as a permission's does, and its context is the whole of it; plainCommand has seen to it that that can be
// seen.
func Command(command, cwd string) signals.Question {
	return signals.Question{
		ID: "command", Header: "command",
		Text:    "Run now, as you, in " + text.VisibleLine(cwd) + ": " + calls.OfCommand(command).String() + "?",
		Context: command,
		Options: []signals.Option{
			{Label: questions.RunIt, Description: "its output and exit status go to the agent"},
			{Label: questions.LeaveIt, Description: "the agent is told that it was not run"},
		},
		Validate: "choice",
	}
}

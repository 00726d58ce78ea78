// Package terminal is the person's side of a run: it shows progress and results, asks questions as forms that are drawn
// in place or, on a terminal that cannot or should not draw, in lines. What a person typed package questions judges.
//
// Use [Printer] for everything a command shows, and [Prompter] to ask the open questions of a run one at a time.
// Whatever came from an agent, a file or another process is made safe by this package when it is shown, so callers
// cannot forget it; [Clean] is exported for other ways of showing.
//
// It does not know runs, agents or the database, never decides what is asked, and leaves a terminal in the mode that it
// found.
package terminal

import (
	"strings"

	"claude-supervise/supervisor/text"
)

const maxText = text.MaxClean

// Clean is text.Clean.
func Clean(s string) string { return text.Clean(s) }

// CleanLine is text.CleanLine.
func CleanLine(s string, width int) string { return text.CleanLine(s, width) }

// FirstLine returns the first line of a text, made safe to show.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(Clean(text)), "\n")
	return line
}

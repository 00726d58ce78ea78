// Package report shows what happened in a run, or what was decided in several: as one HTML page that needs nothing but
// itself and no script, and as Markdown for the summary of a CI job. It shows what package view has found, and reads
// nothing itself.
//
// What agents and people have written is text here, never markup: package markup has no other way to write it,
// and escape writes it in Markdown; what cannot be seen is made visible, and what is long is cut, with how much.
package report

import (
	"embed"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"

	g "maragu.dev/gomponents"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

//go:embed style
var styles embed.FS

// CSS is the style of a page, and of a [Part]: all of it is about what stands in a part.
//
//go:embed style/report.css
var CSS string

// maxText bounds a text that is shown, in bytes.
const maxText = 20_000

// HTML writes the report of a run as a page.
func HTML(w io.Writer, r view.RunReport) error { return write(w, page(r)) }

// RecordHTML writes what was decided in several runs as a page.
func RecordHTML(w io.Writer, r view.Record) error { return write(w, record(r)) }

func write(w io.Writer, page g.Node) error {
	_, err := io.WriteString(w, markup.String(page))
	return err
}

// cut writes a text in a way in which all of it is seen, up to about most bytes of it.
func cut(write func(string) string, s string, most int) string {
	head := text.Truncate(s, most)
	shown := write(head)
	if rest := len(s) - len(head); rest > 0 {
		shown += " … " + text.More(s[len(head):])
	}
	return shown
}

// marked is a command of ours as AnsweredBy marks it.
var marked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`(claude-supervise [a-z]+)`") })

// by names who has answered, as plain text.
func by(d view.Decision) string {
	if d.ByRule { // which may hold anything
		return "a rule: " + d.AnsweredBy
	}
	return marked().ReplaceAllString(d.AnsweredBy, "$1")
}

// ending names the style of an exit code: good, bad, or neither.
func ending(code *int) string {
	switch {
	case code == nil, *code == exit.Partial:
		return ""
	case *code == exit.Success:
		return "good"
	}
	return "bad"
}

// maxChanged bounds how many files of a worktree are named.
const maxChanged = 200

// few returns the first of many names.
func few(names []string) []string {
	more := len(names) - maxChanged
	if more <= 0 {
		return names
	}
	return append(slices.Clip(names[:maxChanged]), fmt.Sprintf("and %d more", more))
}

// when says a time in full, with the zone in which it is said: the page may be read anywhere.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// chosen returns the decisions that are about what an agent may do, or the others.
func chosen(all []view.Decision, grants bool) []view.Decision {
	return slices.DeleteFunc(slices.Clone(all), func(d view.Decision) bool {
		return questions.Writable(d.Kind) == grants
	})
}

// outcome says what became of a question.
func outcome(d view.Decision) string {
	switch {
	case d.Skipped:
		return "skipped"
	case d.Declined && d.Answer != nil && *d.Answer != "":
		return "declined: " + *d.Answer
	case d.Declined:
		return "declined"
	case d.Answer != nil:
		return *d.Answer
	case d.State == supervisor.Open:
		return "open"
	}
	return "withdrawn"
}

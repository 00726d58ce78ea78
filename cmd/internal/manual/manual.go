// Package manual writes the man pages of a program: one of section 1 for each command, and one of section 7 for each
// topic.
//
// Use it in tests only: programs do not carry what makes their pages.
package manual

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/help"
)

// source is what the pages say that they belong to.
const source = "claude-supervise"

// A Topic is a page about no command: Markdown, with what it is about in a line.
type Topic struct{ Name, About, Text string }

// A Manual is what the pages of a program are made of.
type Manual struct {
	Root     *cobra.Command
	Grouping help.Grouping
	Topics   []Topic
	Related  []string // pages of other programs that belong to this one, such as "claude-supervise(1)"
	// Elsewhere are the paths of commands whose pages another program has, such as "claude-supervise fleet".
	Elsewhere []string
}

// Write writes the pages of commands into man1 below folder, and those of topics into man7. All have the date.
// It changes the texts of the commands: nothing else may be done with them.
func (m Manual) Write(folder string, date time.Time) error {
	commands, about := filepath.Join(folder, "man1"), filepath.Join(folder, "man7")
	if err := errors.Join(os.MkdirAll(commands, 0o755), os.MkdirAll(about, 0o755)); err != nil {
		return err
	}
	var pages []string
	for _, t := range m.Topics {
		name := source + "-" + t.Name
		page := fmt.Sprintf("%% %[1]q \"7\" %[2]q %[3]q %[3]q\n# NAME\n%[4]s - %[5]s\n# DESCRIPTION\n%[6]s",
			strings.ToUpper(name), date.Format("Jan 2006"), source, name, t.About, strings.ReplaceAll(t.Text, "\n## ", "\n# "))
		if err := os.WriteFile(filepath.Join(about, name+".7"), md2man.Render([]byte(page)), 0o644); err != nil {
			return err
		}
		pages = append(pages, name+"(7)")
	}
	m.asMarkdown(m.Root)
	if len(pages) > 0 {
		m.Root.Long += "\n\nThe topics: " + strings.Join(pages, ", ")
	}
	if len(m.Related) > 0 {
		m.Root.Long += "\n\nIt belongs to: " + strings.Join(m.Related, ", ")
	}
	if err := doc.GenManTree(m.Root, &doc.GenManHeader{Section: "1", Date: &date, Source: source}, commands); err != nil {
		return err
	}
	for _, path := range m.Elsewhere {
		if err := os.Remove(filepath.Join(commands, strings.ReplaceAll(path, " ", "-")+".1")); err != nil {
			return err
		}
	}
	return nil
}

// asMarkdown makes Markdown of the texts of a command and those below it: what is indented is code, and no other
// character means anything. The flags are listed as --help does.
func (m Manual) asMarkdown(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	plain := strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "#", `\#`)
	var b strings.Builder
	paragraph := false // the line before belongs to one, which code cannot interrupt
	for line := range strings.Lines(cmp.Or(cmd.Long, cmd.Short)) {
		code, is := strings.CutPrefix(line, "  ")
		switch {
		case is && paragraph:
			b.WriteString("\n    " + code)
		case is:
			b.WriteString("    " + code)
		default:
			b.WriteString(plain.Replace(line))
		}
		paragraph = !is && line != "\n"
	}
	cmd.InitDefaultHelpFlag()
	// the man page indents them by 7 columns
	flags := strings.TrimPrefix(m.Grouping.Flags(cmd, help.Width-7), "Flags:\n")
	b.WriteString("\n\n# OPTIONS\n```\n" + flags + "```\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	cmd.Long = b.String()
	for _, below := range cmd.Commands() {
		m.asMarkdown(below)
	}
}

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// The man pages are made here, so that the program does not carry what makes them: of a release in the folder
// $CLAUDE_SUPERVISE_MAN, dated $SOURCE_DATE_EPOCH (make release).
func TestEachCommandAndTopicHasAManPage(t *testing.T) {
	folder := os.Getenv("CLAUDE_SUPERVISE_MAN")
	if folder == "" {
		folder = t.TempDir()
		t.Setenv("SOURCE_DATE_EPOCH", "1800000000")
	}
	if err := writeManPages(folder); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string][]string{
		"claude-supervise.1": {"NAME claude-supervise - supervise headless Claude Code, and never lose a question SYNOPSIS", "claude-supervise-limits(7)",
			"  1  failed, or refused             70  internal error\n", "75  parked, waiting for a person\n",
			"claude-supervise-run(1)"},
		"claude-supervise-run.1": {"Bash(git log:*), Edit(/docs/**), WebFetch(domain:go.dev)", "mcp__github",
			"[PROMPT | -] [-f TASK.yaml] [flags] [-- CLAUDE FLAGS...]", "max_cost_usd, max_tokens",
			"\n         claude-supervise run --demo ask\n"},
		"claude-supervise-answer.1":         {"~/.claude/questions/pending/ID.json", "workflow_1729350000_q1"},
		"claude-supervise-doctor.1":         {"folders:\n         ~/work/api: {max_cost_usd: 20}\n"},
		"claude-supervise-completion-zsh.1": {`> "${fpath[1]}/_claude-supervise"`},
		"claude-supervise-limits.7":         {"You can refuse only what Claude Code asks about", "\nMachines\n"},
		"claude-supervise-exit-codes.7":     {"claude-supervise-exit-codes - what run, resume and wait return"},
	} {
		text := manText(t, filepath.Join(folder, "man"+page[len(page)-1:], page))
		for _, want := range want {
			if !strings.Contains(text, want) && !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s lacks %q:\n%s", page, want, text)
			}
		}
	}
}

// manText returns a page as man shows it, 80 columns wide and without hyphens.
func manText(t *testing.T, page string) string {
	t.Helper()
	if _, err := exec.LookPath("man"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("CI reads the man pages by man: ", err)
		}
		t.Skip("there is no man here")
	}
	man := exec.Command("man", "--warnings", "--nh", "--nj", "-l", page)
	man.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat", "GROFF_NO_SGR=1", "MAN_KEEP_FORMATTING=")
	var warned bytes.Buffer
	man.Stderr = &warned
	text, err := man.Output()
	if err != nil || warned.Len() > 0 {
		t.Errorf("man -l %s: %v %s", page, err, &warned)
	}
	return string(text)
}

// writeManPages writes those of the commands into man1, and those of the topics into man7.
func writeManPages(folder string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	date := time.Unix(seconds, 0).UTC()
	commands, about := filepath.Join(folder, "man1"), filepath.Join(folder, "man7")
	if err := errors.Join(os.MkdirAll(commands, 0o755), os.MkdirAll(about, 0o755)); err != nil {
		return err
	}
	root := newRoot()
	var pages []string
	for _, t := range topics() {
		name := "claude-supervise-" + t.name
		page := fmt.Sprintf("%% %[1]q \"7\" %[2]q %[3]q %[3]q\n# NAME\n%[4]s - %[5]s\n# DESCRIPTION\n%[6]s",
			strings.ToUpper(name), date.Format("Jan 2006"), "claude-supervise", name, t.about, strings.ReplaceAll(t.text, "\n## ", "\n# "))
		if err := os.WriteFile(filepath.Join(about, name+".7"), md2man.Render([]byte(page)), 0o644); err != nil {
			return err
		}
		pages = append(pages, name+"(7)")
	}
	asMarkdown(root)
	root.Long += "\n\nThe topics: " + strings.Join(pages, ", ")
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "claude-supervise"}, commands)
}

// asMarkdown makes Markdown of the texts of a command and those below it: what is indented is code, and no other
// character means anything. The flags are listed as --help does.
func asMarkdown(cmd *cobra.Command) {
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
	b.WriteString("\n\n# OPTIONS\n```\n" + strings.TrimPrefix(flagUsages(cmd, 73), "Flags:\n") + "```\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	cmd.Long = b.String()
	for _, below := range cmd.Commands() {
		asMarkdown(below)
	}
}

// Package completiontest checks all that a program hands to a shell that completes its command lines.
package completiontest

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/completion"
)

// Hostile are texts that mean more than themselves to some shell, or break out of where they are shown.
var Hostile = []string{
	"$(touch PWN)", "`touch PWN`", "a;touch PWN", "a&&touch PWN", "a|touch PWN", "a\ntouch PWN", "a\ttouch PWN", "a b",
	" a",
	"-rf", "--change", "=ls", "~", "~root", "@a", "%self", "%1", "!!", "!touch", "a!b", "^a^b", "#a", "*", "a*", "a?",
	"[a]",
	"{a,b}", "a>PWN", "a<PWN", "(touch PWN)", "a'b", `a"b`, `a\b`, "$HOME", "a$IFS", "_activeHelp_ a", ":4", "\x1b[2Jred",
	"a\x00b", "a\u202eb", "a\u00a0b", "a\u3000b", "é", "\xff", "",
}

// All asks a program for the completions at each place of its command lines: behind each command with each of args,
// and behind each of its flags. It gives those that are words, and fails for what a shell would read as anything else.
func All(t *testing.T, root func() *cobra.Command, args ...[]string) (words []string) {
	t.Helper()
	whole := root()
	whole.InitDefaultHelpCmd()
	for _, path := range paths(whole) {
		for _, args := range append(args, nil) {
			words = append(words, at(t, root(), slices.Concat(path, args, []string{""}))...)
		}
		cmd, _, err := whole.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			words = append(words, at(t, root(), slices.Concat(path, []string{"--" + f.Name, ""}))...)
		})
	}
	return words
}

// paths are the names that lead to each command.
func paths(cmd *cobra.Command) (all [][]string) {
	for _, sub := range cmd.Commands() {
		all = append(all, []string{sub.Name()})
		for _, path := range paths(sub) {
			all = append(all, append([]string{sub.Name()}, path...))
		}
	}
	return all
}

func at(t *testing.T, root *cobra.Command, line []string) (words []string) {
	t.Helper()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(append([]string{"__complete"}, line...))
	if err := root.Execute(); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, found := range lines[:len(lines)-1] { // the last is the directive
		word, about, _ := strings.Cut(found, "\t")
		if !completion.Plain(word) {
			t.Errorf("%q completes to %q", line, word)
		}
		if strings.ContainsFunc(about, unicode.IsControl) {
			t.Errorf("%q is %q", word, about)
		}
		if slices.Contains(words, word) {
			t.Errorf("%q completes to %s twice", line, word)
		}
		words = append(words, word)
	}
	return words
}

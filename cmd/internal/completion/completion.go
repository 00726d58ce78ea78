// Package completion hands words to a shell that completes a command line.
//
// A shell is given what agents and repositories have written: labels of options, names of runs. Not all scripts that
// ask for completions quote them: bash puts the common beginning of several onto the line as it is, and evaluates that
// line at the next request. So a word that a shell would read as anything but itself is never handed out. [Words] can
// be made by [Words.Add] only, and no other package registers a completion (the linter holds that).
package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
)

// Plain reports whether every shell takes a text as one word that means itself, typed without quotes. The first
// character is a letter or a digit: what begins with - is a flag, with = or ~ a path, with @ or % a variable.
func Plain(word string) bool {
	for i, c := range []byte(word) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && (i == 0 || !strings.ContainsRune("_.,:/@%+=-", rune(c))) {
			return false
		}
	}
	return word != ""
}

// Words are what can stand at one place of a command line, each once and with what it is. The zero value has none.
type Words struct {
	lines []cobra.Completion
	known map[string]bool
}

// Add adds a word and what it is, which need not be safe to show. It reports whether the word is [Plain]; another is
// not added. What is a word already stays as it is: of two that differ in their descriptions alone, bash would put the
// beginning of the description onto the line.
func (w *Words) Add(word string, about ...string) bool {
	if !Plain(word) {
		return false
	}
	if w.known == nil {
		w.known = map[string]bool{}
	}
	if !w.known[word] {
		w.known[word] = true
		about = slices.DeleteFunc(slices.Clone(about), func(part string) bool { return part == "" })
		w.lines = append(w.lines, cobra.CompletionWithDesc(word, terminal.CleanLine(strings.Join(about, ": "), 60)))
	}
	return true
}

// A Source lists what can stand behind args. What it cannot read it leaves out: a shell has no place for an error.
type Source func(ctx context.Context, args []string) Words

// Arguments makes the arguments of a command complete, and to no files: the first by the first source, and so on; the
// last goes on for the rest. What stands on the line already is not offered again.
func Arguments(cmd *cobra.Command, by ...Source) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		found := by[min(len(args), len(by)-1)](cmd.Context(), args)
		return slices.DeleteFunc(found.lines, func(line cobra.Completion) bool {
			word, _, _ := strings.Cut(line, "\t")
			return slices.Contains(args, word)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

// Flag makes a flag complete, and to no files.
func Flag(cmd *cobra.Command, flag string, by Source) {
	register(cmd, flag, by, cobra.ShellCompDirectiveNoFileComp)
}

// FlagOrFile makes a flag complete, or to a file where nothing fits.
func FlagOrFile(cmd *cobra.Command, flag string, by Source) {
	register(cmd, flag, by, cobra.ShellCompDirectiveDefault)
}

func register(cmd *cobra.Command, flag string, by Source, otherwise cobra.ShellCompDirective) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		return by(cmd.Context(), args).lines, otherwise
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// Fixed always lists the same words; each may have what it is behind a tab.
func Fixed(lines ...string) Source {
	var words Words
	for _, line := range lines {
		if word, about, _ := strings.Cut(line, "\t"); !words.Add(word, about) {
			panic("a shell would read " + line + " as more than a word")
		}
	}
	return func(context.Context, []string) Words { return words }
}

// Elsewhere has another program of ours complete the arguments of a command: exec takes the request for it, and
// returns only where that program cannot be started.
func Elsewhere(cmd *cobra.Command, exec func(args []string, typed string)) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		exec(args, typed)
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

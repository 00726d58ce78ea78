package completion_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/completion/completiontest"
)

// Whatever agents and repositories write: what a shell is handed is a word, or is left out.
func TestOnlyWordsAreHandedToAShell(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 0))
	drawn := func() string {
		text := ""
		for range chance.IntN(3) + 1 {
			text += completiontest.Hostile[chance.IntN(len(completiontest.Hostile))]
		}
		return text
	}
	root := func() *cobra.Command {
		root := &cobra.Command{Use: "program"}
		draws := func(context.Context, []string) (found completion.Words) {
			for range 2000 {
				found.Add(drawn(), drawn(), drawn())
			}
			found.Add("a.b:c,d/e@f%g+h=i-j_k", drawn())
			return found
		}
		one := &cobra.Command{Use: "one", Run: func(*cobra.Command, []string) {}}
		one.Flags().String("flag", "", "")
		one.Flags().String("file", "", "")
		completion.Arguments(one, draws)
		completion.Flag(one, "flag", draws)
		completion.FlagOrFile(one, "file", draws)
		root.AddCommand(one)
		root.CompletionOptions.DisableDefaultCmd = true
		return root
	}
	words := completiontest.All(t, root)
	if !strings.Contains(strings.Join(words, "\n"), "a.b:c,d/e@f%g+h=i-j_k") {
		t.Errorf("words are left out: %q", words)
	}
}

package commands

import (
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/completion/completiontest"
)

func TestWhatIsCompletedIsAWord(t *testing.T) {
	if words := completiontest.All(t, func() *cobra.Command { return newRoot(nil) }, []string{"q-000001"}); len(words) == 0 {
		t.Error("nothing is completed")
	}
}

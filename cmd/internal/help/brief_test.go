package help

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestTheBriefHelpHasTwoLinesAndFiveExamples(t *testing.T) {
	cmd := &cobra.Command{Use: "do [THING]", Short: "do a thing", Run: func(*cobra.Command, []string) {},
		Long: "Do a thing that is long to tell of, and takes more\nthan a line. Then tell of it. " +
			"And this is more " + strings.Repeat("than two lines ", 6) + "have room for." + "\n\nAnd prose.",
		Example: "  do 1\n  do 2 \\\n      more\n\n  # a group\n  do 3\n  do 4\n  do 5\n\n  # more\n  do 6"}
	if diff := cmp.Diff(`Do a thing that is long to tell of, and takes more than a line. Then tell of it.

Usage:
  do [THING]

Examples:
  do 1
  do 2 \
      more

  # a group
  do 3
  do 4
  do 5

More: help do
`, Brief(cmd, "help do")); diff != "" {
		t.Error(diff)
	}
	if whole := Whole(cmd); !strings.Contains(whole, "And prose.\n\nUsage:") || !strings.Contains(whole, "do 6") {
		t.Errorf("the whole help is\n%s", whole)
	}
	for long, want := range map[string]string{
		"": "Do a thing.", "One that lists:\n\n  a  b": "One that lists.",
		strings.Repeat("too long ", 30): "Do a thing.",
	} {
		cmd.Long = long
		if got := lead(cmd); got != want {
			t.Errorf("of %q it says %q", long, got)
		}
	}
}

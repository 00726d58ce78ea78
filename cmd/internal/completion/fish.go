package completion

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// SafeInFish gives the root of a program the command that prints completion scripts, with fish's mended. That one
// takes the words of the line without their quotes and has them evaluated: the name of a file with a command
// substitution in it, which fish itself has put there in quotes, would run.
func SafeInFish(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	fish, _, err := root.Find([]string{"completion", "fish"})
	if err != nil || fish.Name() != "fish" {
		return // the program has no commands
	}
	fish.RunE = func(cmd *cobra.Command, _ []string) error {
		bare, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script bytes.Buffer
		if err := root.GenFishCompletion(&script, !bare); err != nil {
			return err
		}
		const words, quoted = "(commandline -opc)\n", "(string escape -- (commandline -opc))\n"
		if strings.Count(script.String(), words) != 1 {
			return fmt.Errorf("the completion script of fish is not the one that is known; none was printed")
		}
		_, err = io.WriteString(cmd.OutOrStdout(), strings.Replace(script.String(), words, quoted, 1))
		return err
	}
}

package main

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// goNames are names of Go's functions, types and packages, as they stand in errors that were made for who writes Go.
var goNames = regexp.MustCompile(`strconv\.|time: |json: |yaml: |exec: |url: |unmarshal|Go value|\[\]|parsing "`)

func TestNoErrorOfAFlagNamesAGoFunction(t *testing.T) {
	refused := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		for _, name := range names {
			err := cmd.ParseFlags([]string{"--" + name + "=no::sense"})
			if err == nil {
				continue // any text will do, or it is looked at later
			}
			refused++
			if err = cmd.FlagErrorFunc()(cmd, err); goNames.MatchString(err.Error()) {
				t.Errorf("%s --%s: %v", cmd.CommandPath(), name, err)
			}
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRoot())
	if refused < 50 {
		t.Errorf("only %d flags refuse nonsense: nothing was looked at", refused)
	}
}

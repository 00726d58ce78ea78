package request

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/conf"
)

// OwnConfig reads the person's own config. It is empty inside an agent.
func OwnConfig() (config.Config, error) {
	c, err := config.Load(os.Environ())
	if err != nil {
		return c, exitcode.UsageError{Err: err}
	}
	return c, nil
}

// SetDefaults gives the flags of run that the person has not given the values of their own config. What it returns
// reports whether a flag was given, for the task file to go by: it widens no limit that the person has typed, and none
// of their config.
func SetDefaults(cmd *cobra.Command, f *Flags) (given func(flag string) bool, err error) {
	given = cmd.Flags().Changed
	c, err := OwnConfig()
	if err != nil {
		return nil, err
	}
	cwd, err := Folder(f.cwd)
	if err != nil {
		return nil, err
	}
	defaults, err := c.For(cwd)
	if err != nil {
		return nil, exitcode.UsageError{Err: err}
	}
	agent := conf.Config{Exec: strings.Fields(f.exec)} // the default of what it does not understand is nobody's
	var limits []string
	for _, d := range defaults {
		typed := given(d.Flag) && d.Flag != "allow" // whose rules are beside those of the flag
		if typed || !agent.Understands("--"+d.Flag) {
			continue
		}
		if err := cmd.Flags().Lookup(d.Flag).Value.Set(d.Value); err != nil { // which leaves it not given
			return nil, usage("%s: %s: %w; nothing was started", d.From, d.Flag, err)
		}
		if d.Flag == "delegate" || strings.HasPrefix(d.Flag, "max-") {
			limits = append(limits, d.Flag)
		}
	}
	if !given("notify") && !f.NoNotify {
		f.notify = c.Notify.Command
	}
	return func(flag string) bool { return cmd.Flags().Changed(flag) || slices.Contains(limits, flag) }, nil
}

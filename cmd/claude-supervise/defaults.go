package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/view"
)

// This file puts the person's own defaults (internal/config) under the flags.

// ownConfig reads the person's own config. It is empty inside an agent.
func ownConfig() (config.Config, error) {
	c, err := config.Load(os.Environ())
	if err != nil {
		return c, exitcode.UsageError{Err: err}
	}
	return c, nil
}

// guarded are the calls that could write to the person's own config.
func guarded() permission.Guarded {
	return permission.NewGuarded(os.Getenv("HOME"), config.Folders(os.Environ())...)
}

// forClaude are the flags of run that only claude understands: with --exec their defaults are nobody's.
var forClaude = []string{"allow", "claude", "max-cost-usd", "max-tokens", "max-turns", "model"}

// setDefaults gives the flags of run that the person has not given the values of their own config. What it returns
// reports whether a flag was given, for the task file to go by: it widens no limit that the person has typed, and none
// of their config.
func setDefaults(cmd *cobra.Command, f *runFlags) (given func(flag string) bool, err error) {
	given = cmd.Flags().Changed
	c, err := ownConfig()
	if err != nil {
		return nil, err
	}
	cwd, err := folder(f.cwd)
	if err != nil {
		return nil, err
	}
	defaults, err := c.For(cwd)
	if err != nil {
		return nil, exitcode.UsageError{Err: err}
	}
	var limits []string
	for _, d := range defaults {
		typed := given(d.Flag) && d.Flag != "allow" // whose rules are beside those of the flag
		if typed || f.exec != "" && slices.Contains(forClaude, d.Flag) {
			continue
		}
		if err := cmd.Flags().Lookup(d.Flag).Value.Set(d.Value); err != nil { // which leaves it not given
			return nil, usage("%s: %s: %w; nothing was started", d.From, d.Flag, err)
		}
		if d.Flag == "delegate" || strings.HasPrefix(d.Flag, "max-") {
			limits = append(limits, d.Flag)
		}
	}
	if !given("notify") && !f.noNotify {
		f.notify = c.Notify.Command
	}
	return func(flag string) bool { return cmd.Flags().Changed(flag) || slices.Contains(limits, flag) }, nil
}

// setDisplay gives the flags of how a run is shown, plain and quiet as far as the command has them, the values of the
// person's own config for the folder of the run, unless they were given.
func setDisplay(cmd *cobra.Command, cwd string) error {
	c, err := ownConfig()
	if err != nil {
		return err
	}
	defaults, err := c.For(cwd)
	if err != nil {
		return nil //nolint:nilerr // the folder is gone, or holds the config: who supervises the run says so
	}
	for _, d := range defaults {
		if f := cmd.Flags().Lookup(d.Flag); f != nil && !f.Changed && (d.Flag == "plain" || d.Flag == "quiet") {
			if err := f.Value.Set(d.Value); err != nil {
				return usage("%s: %s: %w", d.From, d.Flag, err)
			}
		}
	}
	return nil
}

// setDisplayOf is setDisplay for a run that an id names. An id that names none is told by who looks for it next.
func setDisplayOf(cmd *cobra.Command, id string) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	run, _, err := view.RunNamed(cmd.Context(), r.Store, id)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	v, err := r.Run(cmd.Context(), run)
	if err != nil {
		return err
	}
	return setDisplay(cmd, v.Cwd)
}

// setDefaults gives the flags of serve that the person has not given the values of their own config.
func (f *serveFlags) setDefaults(cmd *cobra.Command, c config.Config) {
	f.Chosen = cmd.Flags().Changed("listen")
	if !f.Chosen && c.Serve.Listen != "" {
		f.Listen, f.Chosen = c.Serve.Listen, true
	}
	if !cmd.Flags().Changed("host") {
		f.Hosts = c.Serve.Hosts
	}
	f.foldersIn = "--folder"
	if !cmd.Flags().Changed("folder") {
		f.folders, f.foldersIn = c.Serve.Folders, "serve.folders in "+c.Path
	}
	if u, err := url.Parse(c.Serve.URL); err == nil && u.Hostname() != "" {
		f.Hosts = append(f.Hosts, u.Hostname())
	}
}

// fromDefault says of a setting that nobody has set it.
const fromDefault = "default"

// inForce is what doctor has to say of the person's own config: the value of each default of a run in this folder, and
// where it comes from.
func inForce(claude string) doctor.Finding {
	f := doctor.Finding{Name: "config", OK: true}
	c, err := config.Load(os.Environ())
	var defaults []config.Default
	if err == nil {
		var cwd string
		if cwd, err = os.Getwd(); err == nil {
			defaults, err = c.For(cwd)
		}
	}
	if err != nil {
		f.OK, f.Text = false, err.Error()
		return f
	}
	switch path := config.Path(os.Environ()); {
	case c.Path != "":
		f.Text = c.Path
	case path == "":
		f.Text = "none is read here"
	default:
		f.Text = fmt.Sprintf("none (%s)", path)
	}
	flags := newRun().Flags()
	for _, flag := range config.Flags() {
		own := slices.DeleteFunc(slices.Clone(defaults), func(d config.Default) bool { return d.Flag != flag })
		if flag == "claude" && claude != "" {
			own = []config.Default{{Flag: flag, Value: claude, From: "flag"}}
		}
		if len(own) == 0 {
			own = []config.Default{{Flag: flag, Value: strings.Trim(flags.Lookup(flag).DefValue, "[]"), From: fromDefault}}
		}
		for _, d := range own {
			f.Settings = append(f.Settings, doctor.Setting(d))
		}
	}
	for _, s := range c.Others() {
		f.Settings = append(f.Settings, doctor.Setting(s))
	}
	return f
}

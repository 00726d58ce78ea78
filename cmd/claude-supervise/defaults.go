package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/view"
)

// This file puts the person's own defaults (internal/config) under the flags.

// guarded are the calls that could write to the person's own config.
func guarded() permission.Guarded {
	return permission.NewGuarded(os.Getenv("HOME"), config.Folders(os.Environ())...)
}

// setDisplay gives the flags of how a run is shown, plain and quiet as far as the command has them, the values of the
// person's own config for the folder of the run, unless they were given.
func setDisplay(cmd *cobra.Command, cwd string) error {
	c, err := request.OwnConfig()
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

// setPageDefaults gives the flags of serve that the person has not given the values of their own config. What it
// returns names where the folders are named.
func setPageDefaults(cmd *cobra.Command, f *serving.Flags, folders *[]string, c config.Config) (source string) {
	if !f.Chosen && c.Serve.Listen != "" {
		f.Listen, f.Chosen = c.Serve.Listen, true
	}
	if !cmd.Flags().Changed("host") {
		f.Hosts = c.Serve.Hosts
	}
	source = "--folder"
	if !cmd.Flags().Changed("folder") {
		*folders, source = c.Serve.Folders, "serve.folders in "+c.Path
	}
	if u, err := url.Parse(c.Serve.URL); err == nil && u.Hostname() != "" {
		f.Hosts = append(f.Hosts, u.Hostname())
	}
	return source
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

package main

import (
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/task"
)

// freshRun sets up a run as `run PROMPT --cwd FOLDER` does (client.Client): by the person's own config, and no flags.
func freshRun(prompt, cwd, at string) (t task.Task, look func(string, json.RawMessage) ask.CallView, err error) {
	var f request.Flags
	cmd := &cobra.Command{}
	request.AddFlags(cmd, &f)
	if err := cmd.ParseFlags([]string{"--cwd", cwd, "--check", request.CheckOff}); err != nil {
		return t, nil, err
	}
	given, err := request.SetDefaults(cmd, &f)
	if err != nil {
		return t, nil, err
	}
	o, err := request.New(cmd, []string{prompt}, f, given)
	if err == nil {
		err = findClaude(&o, f)
	}
	if err != nil {
		return t, nil, err
	}
	guarded := guarded()
	return o.Task, func(tool string, input json.RawMessage) ask.CallView {
		site := ask.CallSite{Folder: cwd, Cwd: at}
		return guarded.Look(permission.LookAt(tool, input, site), tool, input, site)
	}, nil
}

// findClaude finds the claude of a run, if it runs the one that is installed.
func findClaude(o *request.Request, f request.Flags) (err error) {
	if f.Demo == "" && o.Config.Abilities().OnPath {
		o.Config.Claude, err = doctor.FindClaude(f.Claude, os.Environ())
	}
	return err
}

// guarded are the calls that could write to the person's own config.
func guarded() permission.Guarded {
	return permission.NewGuarded(os.Getenv("HOME"), config.Folders(os.Environ())...)
}

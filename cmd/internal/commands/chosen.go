package commands

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A Choice is which run a command takes where none is named: the only one that fits, or, on a terminal, the one that a
// person picks. Without a terminal nothing that acts guesses.
type Choice struct {
	Takes string                  // what the command takes, as its usage error says
	Fits  func(view.RunView) bool // which runs it is for
	None  string                  // what there is none of

	Ended bool   // runs that have ended may fit
	Reads bool   // it changes nothing: without a terminal it takes the latest
	Waits bool   // it changes nothing: it takes the only one without a terminal, too
	Sure  string // what a person is asked before the only one is taken, of which %s is the name; "": nothing
}

// Chosen returns the id that is named, or that of the run which the command takes without one. Inside an agent, which
// sees no other runs, one has to be named.
func (p Program) Chosen(cmd *cobra.Command, args []string, c Choice) (id string, err error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if _, inside := doctor.InsideAgent(os.Environ()); inside || !p.local() {
		return "", help.Takes(cmd, c.Takes)
	}
	var fitting []view.RunView // the latest first
	err = p.with(cmd.Context(), func(s service.Runs) error {
		all, err := s.List(cmd.Context(), c.Reads || c.Ended)
		for _, r := range slices.Backward(all) {
			if c.Fits(r.RunView) {
				fitting = append(fitting, r.RunView)
			}
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return p.choose(cmd, fitting, c)
}

func (p Program) choose(cmd *cobra.Command, fitting []view.RunView, c Choice) (id string, err error) {
	attended := terminal.Attended()
	only := fitting
	if c.Reads { // one that goes on is what a person means
		if open := slices.DeleteFunc(slices.Clone(fitting), HasEnded); len(open) > 0 {
			only = open
		}
	}
	switch {
	case len(fitting) == 0:
		return "", exitcode.Usage("%s; `%s ps -a` lists all runs", c.None, p.Name)
	case len(only) == 1 && c.Sure != "" && attended:
		if !terminal.Confirmed(fmt.Sprintf(c.Sure, only[0].ID+named(only[0]))) {
			return "", exitcode.Usage("nothing was done")
		}
		return only[0].ID, nil
	case len(only) == 1 && (attended || c.Reads || c.Waits):
		return only[0].ID, nil
	case attended:
		rows := make([]string, len(fitting))
		for i, r := range fitting {
			rows[i] = fmt.Sprintf("%s  %s %s%s", r.ID, runs.Status(r), terminal.Ago(r.Since, time.Now()), named(r))
		}
		at, chosen := terminal.Pick("Which run?", rows)
		if !chosen {
			return "", exitcode.Usage("no run was chosen; nothing was done")
		}
		return fitting[at].ID, nil
	case c.Reads:
		return fitting[0].ID, nil
	}
	ids := make([]string, len(fitting))
	for i, r := range fitting {
		ids[i] = r.ID + named(r)
	}
	return "", exitcode.Usage("%s takes %s; name one of:\n  %s", cmd.Name(), c.Takes, strings.Join(ids, "\n  "))
}

// named is a run's name or task behind its id.
func named(r view.RunView) string {
	if title := ansi.Truncate(terminal.CleanLine(runs.Title(r), 0), 50, "…"); title != "" {
		return "  " + title
	}
	return ""
}

// IsLive wants runs that somebody supervises.
func IsLive(v view.RunView) bool { return v.GoesOn() }

// IsOpen wants runs that have not ended.
func IsOpen(v view.RunView) bool { return v.EndedAt == nil }

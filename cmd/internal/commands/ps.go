package commands

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/service"
)

// mostListed is how many runs people are shown where there may be very many.
const mostListed = 200

// Ps makes the command that lists runs.
func (p Program) Ps(cmd *cobra.Command) *cobra.Command {
	l := runs.Listing{Program: p.Name, Elsewhere: !p.local()}
	watch, since := false, ""
	selects := service.Can[service.Selector](p.Can)
	cmd.Args = help.Exactly(0, 0, "no arguments")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if l.IDs && (l.Tree || l.AsJSON || watch) {
			return exitcode.Usage("-q prints ids alone: it does not go with --tree, --watch and --json")
		}
		l, err := l.Below(l.Cwd)
		if err != nil {
			return err
		}
		if l.Wanted.Since, err = SinceWhen(since, time.Now()); err != nil {
			return err
		}
		if l.Wanted.Most < 0 {
			return exitcode.Usage("--limit takes how many runs are listed, not %d; 0: all", l.Wanted.Most)
		}
		if selects && !cmd.Flags().Changed("limit") && !l.IDs {
			l.Wanted.Most = mostListed
		}
		l.Wanted.All = l.Wanted.All || len(l.Wanted.Statuses) > 0
		if p.local() {
			l.Run, l.Inside = doctor.InsideRun(os.Environ())
		}
		return p.with(cmd.Context(), func(s service.Runs) error { return l.Show(cmd.Context(), s, watch) })
	}
	fl := cmd.Flags()
	fl.BoolVarP(&l.Wanted.All, "all", "a", false, "also list runs that have ended")
	fl.BoolVar(&l.AsJSON, "json", false, "print a JSON array")
	fl.BoolVarP(&l.IDs, "ids", "q", false, "print only the ids, one per line")
	fl.StringArrayVar(&l.Wanted.Statuses, "status", nil, "list only runs in this `STATUS`, ended ones included")
	fl.StringVar(&since, "since", "", "list only runs begun after a `TIME`, or within a duration")
	fl.BoolVar(&l.Tree, "tree", false, "list the agents of each run below it")
	if selects || p.local() {
		fl.BoolVarP(&watch, "watch", "w", false, "update the list when something changes")
	}
	if selects {
		fl.IntVar(&l.Wanted.Most, "limit", 0, "list only the newest `N` (default: 200; with -q all); 0: all")
		fl.StringArrayVar(&l.Wanted.Labels, "label", nil, "list only runs that need this `LABEL`")
	} else {
		fl.IntVar(&l.Wanted.Most, "limit", 0, "list only the newest `N`; 0: all")
	}
	if p.local() {
		fl.StringVar(&l.Cwd, "cwd", "", "list only runs in or below `DIR`")
		CompletesFolder(cmd, "cwd")
	}
	return p.command(cmd)
}

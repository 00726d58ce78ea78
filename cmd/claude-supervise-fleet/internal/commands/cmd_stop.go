package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
)

func newStop() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:     "stop RUN...",
		Short:   "stop runs of the fleet",
		Long:    "Stop runs of the fleet, wherever they are. Their processes are ended.",
		Example: "  claude-supervise fleet stop r-3f9a2c1b",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notInside(); err != nil {
				return err
			}
			if len(args) == 0 {
				return exitcode.Usage("stop takes the ids of runs; claude-supervise fleet ps lists them")
			}
			f, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer f.close()
			var failed []error
			for _, id := range args {
				failed = append(failed, stopOne(cmd, f, id))
			}
			return errors.Join(failed...)
		},
	}
	c.flags(cmd.Flags())
	return cmd
}

func stopOne(cmd *cobra.Command, f connected, id string) error {
	r, err := f.Run(cmd.Context(), id)
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s is being stopped.", r.ID)
	err = f.Stop(cmd.Context(), r.ID, fleet.Who())
	var refused *fleet.RefusedError
	if r.ExitCode != nil || errors.As(err, &refused) && refused.Kind == flow.ErrEnded {
		said, err = r.ID+" has already ended.", nil
	}
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error { return p.Result(said) })
}

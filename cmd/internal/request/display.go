package request

import (
	"github.com/spf13/cobra"

	"claude-supervise/supervisor/view"
)

// SetDisplay gives the flags of how a run is shown, plain and quiet as far as the command has them, the values of the
// person's own config for the folder of the run, unless they were given.
func SetDisplay(cmd *cobra.Command, cwd string) error {
	c, err := OwnConfig()
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

// SetDisplayOf is SetDisplay for a run that an id names. An id that names none is told by who looks for it next.
func SetDisplayOf(cmd *cobra.Command, id string) error {
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
	return SetDisplay(cmd, v.Cwd)
}

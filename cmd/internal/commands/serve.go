package commands

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
)

// A Page is what the command that serves a page is given by its program.
type Page struct {
	web.Config
	Folder func() (string, error) // makes the folder that keeps the token, and gives its path
	Closed func()                 // lets the service go
}

// Serve makes the command that serves the page, at the usual address unless another is named. open gives the page, and
// may change the flags.
func (p Program) Serve(cmd *cobra.Command, usual string,
	open func(*cobra.Command, *serving.Flags) (Page, error)) *cobra.Command {
	var f serving.Flags
	cmd.Args = help.Exactly(0, 0, "no arguments")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := p.NotInside(cmd); err != nil {
			return err
		}
		f.Chosen = cmd.Flags().Changed("listen")
		page, err := open(cmd, &f)
		if err != nil {
			return err
		}
		defer page.Closed()
		page.Program, page.Clean, page.Away = string(p.Name), terminal.Clean, runs.Away
		return f.Serve(cmd.Context(), page.Folder, page.Config)
	}
	f.Add(cmd.Flags(), usual)
	return p.command(cmd)
}

package main

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/install"
)

func newInit() *cobra.Command {
	var f install.Flags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "tell a project's agents how to ask a person",
		Long: `Install instructions that tell the Claude Code agents of this project how to ask
a person from the background, with this supervisor or without it:

  .claude/skills/claude-supervise/SKILL.md   a skill that explains how
  .claude/commands/supervise.md              /supervise TASK: the agent of an
                                             interactive session starts it in
                                             the background, passes its
                                             questions on to you, and reports
                                             the result
  CLAUDE.md                                  a section that names the skill
  .claude/settings.json                      with --hook: a Stop hook that
                                             makes agents correct malformed
                                             signals
  ~/.local/bin/claude-answer                 a link to this program, to
                                             list and answer open questions

With --sessions, init does something else instead: it brings the questions of
your ordinary claude sessions in this folder, with --user in all, into the
inbox. See ` + "`claude-supervise help sessions`" + `.

With --user, the first four are installed in ~/.claude, for all projects. Before
init changes an existing file, it shows the change and asks you; without a
terminal this needs --yes. Run init again to update its texts. --undo removes
what init installed and nothing else. If you have edited its texts, it asks
first.`,
		Example: "  claude-supervise init --dry-run\n" +
			"  claude-supervise init\n" +
			"  claude-supervise init --user --hook\n" +
			"  claude-supervise init --undo\n" +
			"  claude-supervise init --sessions --user",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(cmd); f.Sessions != "" && err != nil {
				return err
			}
			return install.Install(f)
		},
	}
	cmd.Flags().BoolVar(&f.User, "user", false, "install for all projects, in ~/.claude or $CLAUDE_CONFIG_DIR")
	cmd.Flags().BoolVar(&f.Dry, "dry-run", false, "show what would be done, and change nothing")
	cmd.Flags().BoolVar(&f.Undo, "undo", false, "remove what init installed")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "answer yes to every question, even if edits of init's texts are lost")
	cmd.Flags().BoolVar(&f.Hook, "hook", false, "add a Stop hook that runs claude-supervise lint")
	cmd.Flags().StringVar(&f.Sessions, "sessions", "",
		"bring the questions of ordinary sessions in this folder into the inbox: `MODE` is ask, notify or off")
	cmd.Flags().Lookup("sessions").NoOptDefVal = "ask"
	return cmd
}

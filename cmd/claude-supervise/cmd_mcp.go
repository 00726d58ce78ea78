package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/mcp"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/filedrop"
)

func newMCP() *cobra.Command {
	var wait time.Duration
	var asksIn string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "let any MCP host ask you",
		Long: `Serve the tool ask_user to an MCP host, on stdin and stdout: an editor, a
desktop program, an ordinary claude. Its agents ask you by it, and you answer as
any other question: answer, the board, the page. It lists and answers nothing.

A call waits as long as the host lets it. What the host breaks off stays open:
the same question, asked again, waits for the same answer. With --wait a call
returns a handle after that time, with which the agent asks again. Inside an
agent of a run it is the agent's own question.`,
		Example: "  claude mcp add --scope user person -- claude-supervise mcp\n" +
			"  claude-supervise mcp --wait 50s",
		Args: help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := filedrop.ClaudeFolder(os.Getenv)
			if err != nil {
				return err
			}
			drop, err := filedrop.OpenFolders(folder)
			if err != nil {
				return err
			}
			if _, inside := doctor.InsideAgent(os.Environ()); inside && asksIn == "" {
				return execMCP(filedrop.Watched(folder)[0])
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			defer stop()
			return mcp.Server{Folders: drop, Version: release.Version(), Wait: wait}.Run(ctx)
		},
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "return a handle after this time; 0: wait on")
	cmd.Flags().StringVar(&asksIn, "asks-in", "", "the folder of question files")
	_ = cmd.Flags().MarkHidden("asks-in") // it is there
	return cmd
}

// execMCP starts this program anew with the folder of question files among its arguments: whose question a file is, a
// supervisor sees by which of its agents' processes name that.
func execMCP(folder string) error {
	self, err := programs.Own()
	if err != nil {
		return err
	}
	return syscall.Exec(self, append(os.Args[:len(os.Args):len(os.Args)], "--asks-in", folder), os.Environ())
}

package commands

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/cmd/internal/web"
)

// stopEnds is what a stop does, to the page.
const stopEnds = "Its processes are ended, on whichever worker; what it wrote stays in its last snapshot."

func newServe() *cobra.Command {
	c := new(connection)
	return c.program().Serve(&cobra.Command{
		Use:   "serve",
		Short: "serve a web page for the runs and questions of the fleet",
		Long: `Serve the page and the API of claude-supervise serve for a fleet: all open
questions and runs of all workers, live. On it a person answers, declines or
skips questions, and stops runs. The first answer counts, wherever it is given.

The address of the page is the only output on stdout. It contains a token, which
is kept in the state folder so that bookmarks keep working. Anyone who has the
token can answer for you. Whether a command may run is answered on the machine
that it runs on.

By default the page can be reached only from this machine. To reach it from a
phone, use --listen with an address of this machine and a TLS certificate, or a
proxy that has one, and name its hosts with --host. No run depends on the page:
when it ends (Ctrl-C), runs continue.

What the page of one machine has beyond that, this one does not: messages to
agents, reports, changes of an answer, and the form that starts a run. Runs go
on by themselves once they are answered, and are handed in with fleet run. The
API is that of claude-supervise serve without these.`,
		Example: "  claude-supervise fleet serve --open\n" +
			"  claude-supervise fleet serve --listen 192.168.1.5 \\\n      --tls-cert c.pem --tls-key k.pem",
	}, "127.0.0.1:7434", // beside the page of one machine
		func(cmd *cobra.Command, _ *serving.Flags) (commands.Page, error) {
			_, d, closed, err := c.atDesk(cmd.Context())
			return commands.Page{Config: web.Config{Service: d, Stops: stopEnds, Card: desk.Card}, Folder: makeStateDir,
				Closed: closed}, err
		})
}

// makeStateDir makes the folder of what fleets of this machine keep here, and gives its path.
func makeStateDir() (string, error) {
	state, err := stateDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", fmt.Errorf("there is no place for the token of the page: %w; nothing is served", err)
	}
	return state, nil
}

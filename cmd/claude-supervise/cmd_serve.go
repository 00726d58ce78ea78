package main

import (
	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/commands"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/cmd/internal/web"
)

func newServe() *cobra.Command {
	var folders []string
	cmd := thisMachine.Serve(&cobra.Command{
		Use:   "serve",
		Short: "serve a web page for runs and questions",
		Long: `Serve a web page and an API. The page shows all open questions and runs, live.
On it a person answers, declines or skips questions, stops, resumes and retries
runs, sees what they have changed, writes to agents, deletes the records of runs
that have ended, and starts runs in the folders given by --folder. Answers go to
the same inbox as everywhere else, and the first one counts.

The address of the page is the only output on stdout. It contains a token, which
is kept in the state folder so that bookmarks keep working. Anyone who has the
token can answer for you. Commands that would run as you can only be approved on
a terminal.

By default the page can be reached only from this machine. To reach it from a
phone, use --listen with an address of this machine and a TLS certificate, or a
proxy that has one, and name its hosts with --host. On a terminal that address is
shown as a QR code, too. No run depends on the page: when it ends (Ctrl-C), runs
continue.

The API uses the same JSON objects as the commands with --json. Send the token
of the address with each request as Authorization: Bearer TOKEN.

  GET  /api/runs                   ps --json; ?ended=1: ended runs
  GET  /api/questions              questions --json
  GET  /api/questions/ID
  GET  /api/agents/ID/log?after=N  lines; next is the N of the next call
  GET  /api/events                 server-sent events: state, run, question,
                                   problems
  POST /api/questions/ID/answer    {"value": TEXT}, or "values", "decline" or
                                   "skip": true; with "change", "all_like"
  POST /api/runs                   {"prompt": TEXT} or {"task": FILE}, with
                                   "cwd" and "name"; Idempotency-Key: KEY, the
                                   same for a retry: 201, then 200; 422 if
                                   the retry differs
  POST /api/runs/ID/stop           ID of a run or an agent
  POST /api/runs/ID/resume
  POST /api/agents/ID/message      {"text": TEXT}

Lists have at most 1000 entries. Page through them with ?limit= and ?offset=;
the Link header has the next page. An answer that came too late gets 409 and the
answer that counts. An invalid answer gets 422 and the reason. An answer to a
command gets 403 and the command to type.`,
		Example: "  claude-supervise serve --open\n" +
			"  claude-supervise serve --folder ~/code    # start runs there from the page\n" +
			"  claude-supervise serve --listen 192.168.1.5 --tls-cert c.pem --tls-key k.pem\n" +
			"  claude-supervise serve --host desk.example.org    # a proxy with TLS before it",
	}, "127.0.0.1:7433", func(cmd *cobra.Command, f *serving.Flags) (p commands.Page, err error) {
		c, err := request.OwnConfig()
		if err != nil {
			return p, err
		}
		source := f.SetDefaults(cmd.Flags(), &folders, c)
		if folders, err = serving.Folders(source, folders); err != nil {
			return p, err
		}
		machine := acting
		machine.There = true
		return commands.Page{Config: web.Config{Service: onPage{here{machine}, folders}, Folders: folders, Stops: stopEnds,
			Card: asking.Card}, Folder: makeState, Closed: func() {}}, nil
	})
	cmd.Flags().StringArrayVar(&folders, "folder", nil, "allow starting runs in or below `FOLDER`")
	return cmd
}

// makeState makes the folder of the state, with the database in it, and gives its path.
func makeState() (string, error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	return c.Dirs.State, c.Close()
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
	"claude-supervise/supervisor/client"
)

type serveFlags struct {
	listen           string
	hosts, folders   []string
	foldersIn        string // what names the folders
	open, another    bool
	cert, key        string
	insecure, chosen bool // chosen: --listen was given
}

// defaultListen has the port that a bookmark finds again. Another is taken if it is in use.
const defaultListen = "127.0.0.1:7433"

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "serve a web page for runs and questions",
		Long: `Serve a web page and an API. The page shows all open questions and runs, live.
On it a person answers, declines or skips questions, stops and resumes runs,
writes to agents, and starts runs in the folders given by --folder. Answers go
to the same inbox as everywhere else, and the first one counts.

The address of the page is the only output on stdout. It contains a token, which
is kept in the state folder so that bookmarks keep working. Anyone who has the
token can answer for you. Commands that would run as you can only be approved on
a terminal.

By default the page can be reached only from this machine. To reach it from a
phone, use --listen with an address of this machine and a TLS certificate, or a
proxy that has one, and name its hosts with --host. No run depends on the page:
when it ends (Ctrl-C), runs continue.

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
		Args: exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notInside(cmd); err != nil {
				return err
			}
			c, err := ownConfig()
			if err != nil {
				return err
			}
			f.setDefaults(cmd, c)
			return runServe(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", defaultListen, "listen on `ADDR`, a host with or without a port")
	fl.StringArrayVar(&f.hosts, "host", nil, "also accept requests for the host `NAME`")
	fl.StringArrayVar(&f.folders, "folder", nil, "allow starting runs in or below `FOLDER`")
	fl.BoolVar(&f.open, "open", false, "open the page in the browser")
	fl.BoolVar(&f.another, "new-token", false, "make a new token; earlier addresses stop working")
	fl.StringVar(&f.cert, "tls-cert", "", "read the TLS certificate from `FILE`")
	fl.StringVar(&f.key, "tls-key", "", "read the TLS key from `FILE`")
	fl.BoolVar(&f.insecure, "insecure", false, "serve other machines without TLS; the traffic can be read")
	return cmd
}

func runServe(ctx context.Context, f serveFlags) error {
	certificate, err := f.certificate()
	if err != nil {
		return err
	}
	folders, err := pageFolders(f.foldersIn, f.folders)
	if err != nil {
		return err
	}
	listener, names, busy, err := f.listener(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has
	c, err := openClient()                  // which makes the state folder
	if err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	token, err := web.Token(c.Dirs.State, f.another)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // before anybody knows that it is there
	defer stop()
	port := listener.Addr().(*net.TCPAddr).Port
	page := web.New(web.Config{
		Token: token, Hosts: names, Secure: certificate != nil, Port: port, Source: web.State{},
		Actions: pageActions{folders}, Folders: folders, Press: press, Stops: stopEnds, Card: questions.Card,
		Clean: terminal.Clean,
	})
	scheme := "http"
	if certificate != nil {
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate},
			NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12})
	}
	address := fmt.Sprintf("%s://%s/?token=%s", scheme, net.JoinHostPort(names[0], strconv.Itoa(port)), token)
	if err := terminal.Print(func(p *terminal.Printer) error {
		if busy != "" {
			p.Notice(fmt.Sprintf("! %s is in use, so this page has another port. A bookmark of that one leads elsewhere.", busy))
		}
		p.Notice("Who has this address can answer for you. Ctrl-C ends the page; runs go on.")
		return p.Result(address)
	}); err != nil {
		return err
	}
	if f.open {
		forget, err := openPage(ctx, c, address)
		if err != nil {
			_ = terminal.Print(func(p *terminal.Printer) error { // the page is there all the same
				p.Notice("! no browser could be opened: " + err.Error())
				return nil
			})
		}
		defer forget()
	}
	return page.Serve(ctx, listener)
}

// certificate reads the files that the flags name; nil if they name none.
func (f serveFlags) certificate() (*tls.Certificate, error) {
	if f.cert == "" && f.key == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" {
		return nil, usage("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, usage("the certificate cannot be used: %w; nothing is served", err)
	}
	return &pair, nil
}

// listener listens where the flags say, and gives the names that the page is reached by: the first is that of its
// address. busy is the address that was to be taken, where another was.
func (f serveFlags) listener(ctx context.Context) (listener net.Listener, names []string, busy string, err error) {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil { // without a port
		_, port, _ = net.SplitHostPort(defaultListen)
		host, f.chosen = f.listen, false
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, nil, "", usage("--listen takes a host of this machine, with or without a port, not %q", f.listen)
	}
	all := at.IP == nil || at.IP.IsUnspecified()
	switch {
	case (all || !at.IP.IsLoopback()) && f.cert == "" && !f.insecure:
		return nil, nil, "", usage("%s is not this machine alone, and without TLS anyone on the way could read the token: "+
			"give --tls-cert and --tls-key, or --insecure; nothing is served", f.listen)
	case all && len(f.hosts) == 0:
		return nil, nil, "", usage("%s is every address of this machine: say with --host by which name the page is reached; "+
			"nothing is served", f.listen)
	}
	names = f.hosts
	if !all {
		if at.IP.IsLoopback() {
			names = append([]string{at.IP.String()}, names...)
		} else {
			names = append(names[:len(names):len(names)], at.IP.String())
		}
	}
	var config net.ListenConfig
	listener, err = config.Listen(ctx, "tcp", at.String())
	if errors.Is(err, syscall.EADDRINUSE) && !f.chosen {
		busy, at.Port = at.String(), 0
		listener, err = config.Listen(ctx, "tcp", at.String())
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil, "", fmt.Errorf("%s is in use; give --listen another port, or none to have one found", f.listen)
	case err != nil:
		return nil, nil, "", fmt.Errorf("nothing can listen on %s: %w; nothing is served", f.listen, err)
	}
	return listener, names, busy, nil
}

// openPage opens the page in the person's browser, by way of a file that only they can read: everybody sees the
// arguments of a process, and the address has the token in it.
func openPage(ctx context.Context, c client.Client, address string) (forget func(), err error) {
	path := filepath.Join(c.Dirs.State, "serve-open.html")
	text := fmt.Sprintf("<!doctype html>\n<meta charset=utf-8>\n<meta name=referrer content=no-referrer>\n"+
		"<meta http-equiv=refresh content=\"0; url=%[1]s\">\n<a href=\"%[1]s\">claude-supervise</a>\n",
		html.EscapeString(address))
	forget = func() { _ = os.Remove(path) } // the next one replaces it
	if err := client.ReplaceFile(path, []byte(text), 0o600); err != nil {
		return forget, err
	}
	if err := openOnDesktop(ctx, path); err != nil {
		return forget, err
	}
	return forget, nil
}

// openPatience is how long a desktop may take to open something.
const openPatience = 10 * time.Second

// openOnDesktop has the desktop open a file or a folder, by an absolute path, as if the person had clicked it.
func openOnDesktop(ctx context.Context, path string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, path).CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, terminal.CleanLine(string(out), 200))
	}
	return nil
}

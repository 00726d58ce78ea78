// Package serving serves the page of a program until a signal ends it: it has the flags that say where, the token, the
// certificate and the browser. What the page shows and does, the program says.
package serving

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/web"
)

// Flags are the flags of serve that say where, and to whom.
type Flags struct {
	Listen string   // a host of this machine, with or without a port
	Chosen bool     // somebody has set Listen
	Hosts  []string // names that the page is reached by, beside those of Listen

	usual         string // what Listen is where nobody has set it; its port is that of a host without one
	open, another bool
	cert, key     string
	insecure      bool
}

// Add adds the flags to those of a command. usual has the port that a bookmark finds again: another is taken if it is
// in use.
func (f *Flags) Add(fl *pflag.FlagSet, usual string) {
	f.usual = usual
	fl.StringVar(&f.Listen, "listen", usual, "listen on `ADDR`, a host with or without a port")
	fl.StringArrayVar(&f.Hosts, "host", nil, "also accept requests for the host `NAME`")
	fl.BoolVar(&f.open, "open", false, "open the page in the browser")
	fl.BoolVar(&f.another, "new-token", false, "make a new token; earlier addresses stop working")
	fl.StringVar(&f.cert, "tls-cert", "", "read the TLS certificate from `FILE`")
	fl.StringVar(&f.key, "tls-key", "", "read the TLS key from `FILE`")
	fl.BoolVar(&f.insecure, "insecure", false, "serve other machines without TLS; the traffic can be read")
}

// Serve serves a page until ctx ends or a signal comes; an error says that it ended before, or never began. The address
// of the page goes to stdout once it can be opened. folder makes the folder that keeps the token, and gives its path:
// it is called once nothing is wrong with the flags. Of c the token, the hosts and the port are set here.
func (f Flags) Serve(ctx context.Context, folder func() (string, error), c web.Config) error {
	certificate, err := f.certificate()
	if err != nil {
		return err
	}
	listener, names, busy, err := f.listener(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has
	keeps, err := folder()
	if err != nil {
		return err
	}
	if c.Token, err = web.Token(keeps, c.Program, f.another); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // before anybody knows that it is there
	defer stop()
	c.Port = listener.Addr().(*net.TCPAddr).Port
	c.Hosts, c.Secure = names, certificate != nil
	page := web.New(c)
	scheme := "http"
	if certificate != nil {
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate},
			NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12})
	}
	address := fmt.Sprintf("%s://%s/?token=%s", scheme, net.JoinHostPort(names[0], strconv.Itoa(c.Port)), c.Token)
	if err := terminal.Print(func(p *terminal.Printer) error {
		if busy != "" {
			p.Notice(fmt.Sprintf("! %s is in use, so this page has another port. Bookmarks of that address do not reach it.",
				busy))
		}
		p.Notice("Anyone who has this address can answer for you. Ctrl-C ends the page; runs continue.")
		if at := net.ParseIP(names[0]); at == nil || !at.IsLoopback() { // else no phone can open it
			p.Code(address)
		}
		return p.Result(address)
	}); err != nil {
		return err
	}
	if f.open {
		forget, err := openPage(ctx, keeps, address)
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
func (f Flags) certificate() (*tls.Certificate, error) {
	if f.cert == "" && f.key == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" {
		return nil, exitcode.Usage("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, exitcode.Usage("the certificate cannot be used: %w; nothing is served", err)
	}
	return &pair, nil
}

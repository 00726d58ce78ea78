package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"claude-supervise/cmd/internal/exitcode"
)

// listener listens where the flags say, and gives the names that the page is reached by: the first is that of its
// address. busy is the address that was to be taken, where another was.
func (f Flags) listener(ctx context.Context) (listener net.Listener, names []string, busy string, err error) {
	host, port, err := net.SplitHostPort(f.Listen)
	if err != nil { // without a port
		_, port, _ = net.SplitHostPort(f.usual)
		host, f.Chosen = f.Listen, false
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, nil, "", exitcode.Usage("--listen takes a host of this machine, with or without a port, not %q", f.Listen)
	}
	all := at.IP == nil || at.IP.IsUnspecified()
	switch {
	case (all || !at.IP.IsLoopback()) && f.cert == "" && !f.insecure:
		return nil, nil, "", exitcode.Usage("%s is not this machine alone, and without TLS anyone on the way could read "+
			"the token: give --tls-cert and --tls-key, or --insecure; nothing is served", f.Listen)
	case all && len(f.Hosts) == 0:
		return nil, nil, "", exitcode.Usage("%s is every address of this machine: say with --host by which name the page "+
			"is reached; nothing is served", f.Listen)
	}
	names = f.Hosts
	if !all {
		if at.IP.IsLoopback() {
			names = append([]string{at.IP.String()}, names...)
		} else {
			names = append(names[:len(names):len(names)], at.IP.String())
		}
	}
	var config net.ListenConfig
	listener, err = config.Listen(ctx, "tcp", at.String())
	if errors.Is(err, syscall.EADDRINUSE) && !f.Chosen {
		busy, at.Port = at.String(), 0
		listener, err = config.Listen(ctx, "tcp", at.String())
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, nil, "", fmt.Errorf("%s is in use; give --listen another port, or none to have one found", f.Listen)
	case err != nil:
		return nil, nil, "", fmt.Errorf("nothing can listen on %s: %w; nothing is served", f.Listen, err)
	}
	return listener, names, busy, nil
}

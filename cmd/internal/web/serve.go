package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	// headerPatience is how long a browser may take to say what it wants.
	headerPatience = 5 * time.Second
	// quiet is how long a connection may be kept for later.
	quiet = 2 * time.Minute
	// maxConnections is how many there may be, where the system lets this program have as many.
	maxConnections = 2000
	// closing is how long replies under way may take at the end.
	closing = 2 * time.Second
)

// Serve serves until ctx ends, and runs what Run does meanwhile. An error says that it ended before.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: headerPatience, IdleTimeout: quiet, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: s.connections.accept, ConnState: s.connections.left,
	}
	group.Go(func() error { s.Run(ctx); return nil })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("the page is served no more: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		if server.Shutdown(rest) != nil {
			_ = server.Close() // who is not done by now comes back
		}
		return nil
	})
	return group.Wait()
}

// connectionsHere is how many connections a server may have: half of the files that this process may open.
func connectionsHere() int {
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil || files.Cur > 2*maxConnections {
		return maxConnections
	}
	return int(files.Cur / 2)
}

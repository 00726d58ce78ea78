// Claude-supervise-fleet-dev is claude-supervise-fleet with a server in it: `claude-supervise fleet dev` is this
// program. It is one of its own, because the server makes it several times as big, and takes minutes to compile.
package main

import (
	"context"
	"crypto/tls"
	"os"

	"claude-supervise/cmd/claude-supervise-fleet/internal/commands"
	"claude-supervise/cmd/claude-supervise-fleet/internal/dev"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	_ "claude-supervise/cmd/claude-supervise-fleet/internal/stores" // by URL
)

func main() { os.Exit(commands.Main(os.Args[1:], startServer)) }

// startServer starts the server of `fleet dev`.
func startServer(ctx context.Context, file, namespace string, port int, key *tls.Config) (string, func() error,
	error) {
	s, err := dev.Start(ctx, dev.Options{File: file, Port: port, Namespace: namespace, Attributes: flow.Attributes(),
		TLS: key, Fatal: commands.Fatal})
	if err != nil {
		return "", nil, err
	}
	return s.Address, s.Stop, nil
}

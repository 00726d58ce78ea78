// Claude-supervise-fleet runs agents on a fleet of machines: `claude-supervise fleet` is this program. It is a Go
// module of its own, so that claude-supervise carries nothing of what a fleet needs.
package main

import (
	"context"
	"os"

	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/gcsblob"  // gs://
	_ "gocloud.dev/blob/s3blob"   // s3://

	"claude-supervise/cmd/claude-supervise-fleet/internal/commands"
	"claude-supervise/cmd/claude-supervise-fleet/internal/dev"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

func main() { os.Exit(commands.Main(os.Args[1:], startServer)) }

// startServer starts the server of `fleet dev`.
func startServer(ctx context.Context, file, namespace string, port int) (string, func() error, error) {
	s, err := dev.Start(ctx, dev.Options{File: file, Port: port, Namespace: namespace, Attributes: flow.Attributes()})
	if err != nil {
		return "", nil, err
	}
	return s.Address, s.Stop, nil
}

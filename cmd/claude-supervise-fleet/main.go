// Claude-supervise-fleet runs agents on a fleet of machines: `claude-supervise fleet` is this program. It is a Go
// module of its own, so that claude-supervise carries nothing of what a fleet needs. The server of `fleet dev` is in
// claude-supervise-fleet-dev, so that workers do not carry that.
package main

import (
	"os"

	"claude-supervise/cmd/claude-supervise-fleet/internal/commands"
	_ "claude-supervise/cmd/claude-supervise-fleet/internal/stores" // by URL
)

func main() { os.Exit(commands.Main(os.Args[1:], nil)) }

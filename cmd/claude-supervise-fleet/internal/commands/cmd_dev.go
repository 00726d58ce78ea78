package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/devkey"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
	"claude-supervise/cmd/internal/help"
	"claude-supervise/cmd/internal/programs"
)

func newDev(start StartServer) *cobra.Command {
	var f workerFlags
	var port int
	var noWorker bool
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "a fleet on this machine, to try it out",
		Long: `A whole fleet on this machine, to try it out: a Temporal server with its state
in a file, a folder for snapshots, a key, and one worker. It needs no setup: the
other commands of fleet find it by themselves. It listens on loopback only, and
lets in who has its certificate, which only you can read. To use it with another
$HOME, set TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_CLIENT_CERT_PATH to
server.crt in its folder, and TEMPORAL_TLS_CLIENT_KEY_PATH to server.key.

It keeps its state: runs continue when it is started again.`,
		Example: "  claude-supervise fleet dev\n  claude-supervise fleet dev --port 7233 --no-worker",
		Args:    help.Exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(f.check(), notInside()); err != nil {
				return err
			}
			if start == nil {
				return execDev(os.Args[1:])
			}
			return runDev(cmd.Context(), start, f, port, noWorker)
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "the server listens on `PORT` (default: the last one)")
	cmd.Flags().BoolVar(&noWorker, "no-worker", false, "start the server only")
	f.add(cmd)
	return cmd
}

// devProgram is this program with a server in it.
const devProgram = program + "-dev"

// execDev has devProgram take the place of this process, with the same arguments. It returns only where that cannot be.
func execDev(args []string) error {
	return programs.Exec(devProgram, args, func(folder string) error {
		return fmt.Errorf("%s is not installed: it is the server that dev starts, and a program of its own. It is neither "+
			"in %s nor in an absolute folder of $PATH. The package %s of a release has it; from the source of claude-supervise "+
			"`make fleet-build` puts it beside this program in bin; nothing was started", devProgram, folder, program)
	})
}

func runDev(ctx context.Context, start StartServer, f workerFlags, port int, noWorker bool) error {
	path, err := devPath()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Join(dir, "snapshots"), 0o700); err != nil {
		return fmt.Errorf("there is no place for the fleet's state: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return errors.Join(err, fmt.Errorf("a fleet dev runs already: its state is in %s", dir))
	}
	defer func() { _ = lock.Close() }() // the kernel would do it
	d := devFile{Namespace: namespace, Key: filepath.Join(dir, "fleet.key"), PID: os.Getpid(),
		Store: (&url.URL{Scheme: "file", Path: filepath.Join(dir, "snapshots"), RawQuery: "no_tmp_dir=true&metadata=skip"}).
			String()}
	key, err := seal.MakeKey(d.Key)
	if err != nil {
		return err
	}
	d.Server = devkey.Files{Certificate: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key")}
	if err := d.Server.Make(); err != nil {
		return err
	}
	shown, err := d.Server.TLS()
	if err != nil {
		return err
	}
	ports := filepath.Join(dir, "port")
	if port == 0 {
		port = keptPort(ports)
	}
	address, stop, err := start(ctx, filepath.Join(dir, "temporal.db"), namespace, port, shown)
	if err != nil {
		return err
	}
	if err := keepPort(ports, address); err != nil {
		say("The server's port will be another one when it is started again: %v", err)
	}
	d.Address = address
	defer func() { _ = os.Remove(path); quietly(stop) }() // it ends anyway
	c, err := connectWith(ctx, sdk.Options{HostPort: d.Address, Namespace: namespace,
		Logger: sdkLog(workerLog()), ConnectionOptions: sdk.ConnectionOptions{TLS: shown}}, key, d.Store)
	if err != nil {
		return err
	}
	defer c.close()
	tell := func() error {
		doc, err := json.Marshal(d)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, doc, 0o600); err != nil {
			return fmt.Errorf("other commands cannot be told of the fleet: %w", err)
		}
		say("A fleet runs here; its server is at %s.\nFrom another terminal:\n  claude-supervise fleet run \"TASK\"", address)
		return nil
	}
	if noWorker {
		if err := tell(); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	var told error
	err = f.work(ctx, c, func(*worker.Worker) { told = tell() })
	return errors.Join(told, err)
}

// keptPort returns the port that the server had before, so that workers of other machines and $TEMPORAL_ADDRESS find it
// again; 0 where there was none, or somebody else has it now.
func keptPort(file string) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(oneLine(content))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0
	}
	_ = l.Close() // nobody has come
	return port
}

func keepPort(file, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(port+"\n"), 0o600)
}

// stopWithin is how long the server may take to stop: all that it has acknowledged is on disk.
const stopWithin = 10 * time.Second

func quietly(stop func() error) {
	done := make(chan struct{})
	go func() { _ = stop(); close(done) }() // not waited for: a server that does not stop ends with the program
	select {
	case <-done:
	case <-time.After(stopWithin):
	}
}

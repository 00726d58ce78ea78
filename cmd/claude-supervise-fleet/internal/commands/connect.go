package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"gocloud.dev/blob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/desk"
	"claude-supervise/cmd/claude-supervise-fleet/internal/devkey"
	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
)

// Which fleet it is says, the first that does: a flag; Temporal's own environment variables and configuration file
// (TEMPORAL_ADDRESS and so on); `fleet dev`, as long as one runs here.

// namespace is the one of `fleet dev`, and of a fleet that names none.
const namespace = "claude-supervise"

const (
	envKey   = "CLAUDE_SUPERVISE_FLEET_KEY"   // the file of the fleet's key
	envStore = "CLAUDE_SUPERVISE_FLEET_STORE" // the URL of its blob store
)

// A connection says which fleet is meant.
type connection struct {
	address, namespace, apiKey, key, store string
	dev                                    bool          // it is that of `fleet dev`, which is resolved
	log                                    sdklog.Logger // nil: nothing is logged
}

func (c *connection) flags(fl *pflag.FlagSet) {
	fl.StringVar(&c.address, "address", "", "its Temporal server, at `HOST:PORT`")
	fl.StringVar(&c.namespace, "namespace", "", "its namespace there: `NAME`")
	fl.StringVar(&c.apiKey, "api-key", "", "`FILE` with the server's API key")
	fl.StringVar(&c.key, "key", "", "`FILE` with its key ($"+envKey+")")
	fl.StringVar(&c.store, "store", "", "`URL` of its store ($"+envStore+")")
}

// A devFile says where a `fleet dev` of this machine is.
type devFile struct {
	Address   string `json:"address"`
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	Store     string `json:"store"`
	PID       int    `json:"pid"`

	Server devkey.Files `json:"server"` // its server wants them
}

// stateDir is where fleets of this machine keep what they have here.
func stateDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, program), nil
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("no place to keep state: set HOME or XDG_STATE_HOME to an absolute path")
	}
	return filepath.Join(home, ".local", "state", program), nil
}

func devPath() (string, error) {
	state, err := stateDir()
	return filepath.Join(state, "dev", "dev.json"), err
}

// runningDev returns the `fleet dev` of this machine; the zero value if none was left.
func runningDev() (devFile, error) {
	var d devFile
	path, err := devPath()
	if err != nil {
		return d, err
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(content, &d)
}

// errNowhere means that nothing says which fleet is meant.
var errNowhere = errors.New("which fleet? Name its server with --address or TEMPORAL_ADDRESS, or try one out on this " +
	"machine with: claude-supervise fleet dev")

// resolved returns what connects to the fleet, and the connection with what was found.
func (c connection) resolved() (connection, sdk.Options, error) {
	opt, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{})
	if err != nil {
		return c, opt, fmt.Errorf("the configuration of Temporal cannot be used: %w; see to its variables "+
			"(TEMPORAL_...) and its file ($TEMPORAL_CONFIG_FILE)", err)
	}
	c.key, c.store = cmp.Or(c.key, os.Getenv(envKey)), cmp.Or(c.store, os.Getenv(envStore))
	if opt.HostPort = cmp.Or(c.address, opt.HostPort); opt.HostPort == "" {
		dev, err := runningDev()
		if err != nil {
			return c, opt, err
		}
		if dev.Address == "" {
			return c, opt, errNowhere
		}
		c.dev, opt.HostPort, c.namespace = true, dev.Address, cmp.Or(c.namespace, dev.Namespace)
		c.key, c.store = cmp.Or(c.key, dev.Key), cmp.Or(c.store, dev.Store)
		if dev.Server.Key != "" { // else it was left by an earlier build
			if opt.ConnectionOptions.TLS, err = dev.Server.TLS(); err != nil {
				return c, opt, err
			}
		}
	}
	opt.Namespace, opt.Logger = cmp.Or(c.namespace, opt.Namespace, namespace), c.log
	if c.apiKey != "" {
		content, err := os.ReadFile(c.apiKey)
		if err != nil {
			return c, opt, fmt.Errorf("the API key cannot be read: %w", err)
		}
		opt.Credentials = sdk.NewAPIKeyStaticCredentials(oneLine(content))
	}
	c.address, c.namespace = opt.HostPort, opt.Namespace
	return c, opt, nil
}

// A connected fleet is one whose server answers.
type connected struct {
	fleet.Fleet
	key   *seal.Key
	store string // the URL of its blob store
}

func (c connected) close() { c.Client.Close() }

// connect reaches the fleet.
func (c connection) connect(ctx context.Context) (connected, error) {
	c, opt, err := c.resolved()
	if err != nil {
		return connected{}, err
	}
	if c.key == "" {
		return connected{}, fmt.Errorf("the fleet's key is needed: name its file with --key or $%s. "+
			"A new fleet gets one by: age-keygen -o fleet.key", envKey)
	}
	key, err := seal.ReadKey(c.key)
	if err != nil {
		return connected{}, err
	}
	f, err := connectWith(ctx, opt, key, c.store)
	if err != nil && c.dev {
		return f, fmt.Errorf("%w. It was started by `claude-supervise fleet dev`: start it again, and runs continue", err)
	}
	return f, err
}

// with has do use the fleet. It returns what do returns.
func (c connection) with(ctx context.Context, do func(connected) error) error {
	fleet, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer fleet.close()
	return do(fleet)
}

// atDesk puts the fleet before a person who stays; closed lets it go.
func (c connection) atDesk(ctx context.Context) (f connected, d *desk.Desk, closed func(), err error) {
	if f, err = c.connect(ctx); err != nil {
		return f, nil, nil, err
	}
	d, storeClosed, err := f.desk(ctx)
	if err != nil {
		f.close()
		return f, nil, nil, err
	}
	return f, d, func() { storeClosed(); f.close() }, nil
}

func connectWith(ctx context.Context, opt sdk.Options, key *seal.Key, store string) (connected, error) {
	opt.DataConverter = key.Converter()
	opt.FailureConverter = key.FailureConverter()
	opt.PayloadLimits.MemoSizeWarning = 512 << 10 // what lists have of a run is bounded (internal/flow)
	if opt.Logger == nil {
		opt.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) // what goes wrong is in the error
	}
	client, err := sdk.DialContext(ctx, opt)
	if err != nil {
		encrypts := opt.ConnectionOptions.TLS != nil || opt.Credentials != nil && !opt.ConnectionOptions.TLSDisabled
		return connected{}, fleet.Unreached(opt.HostPort, encrypts, err)
	}
	f := fleet.Fleet{Client: client, Namespace: opt.Namespace, Converter: opt.DataConverter}
	f.Hosts = f.Host
	return connected{f, key, store}, nil
}

// snapshots opens the blob store.
func (c connected) snapshots(ctx context.Context) (worker.Store, error) {
	if c.store == "" {
		return worker.Store{}, fmt.Errorf("the fleet's blob store is needed: name it with --store or $%s, such as "+
			"s3://BUCKET?prefix=fleet/ or file:///mnt/snapshots", envStore)
	}
	bucket, err := blob.OpenBucket(ctx, opened(c.store))
	if err != nil {
		return worker.Store{}, fmt.Errorf("the blob store %s cannot be opened: %w", c.store, err)
	}
	return worker.Store{Bucket: bucket, Key: c.key}, nil
}

// checksums is what the URL of a bucket of S3 says of when the SDK looks whether what it has read is whole.
const checksums = "response_checksum_validation"

// folderMode is what the URL of a bucket that is a folder says of the mode of the folders below it.
const folderMode = "dir_file_mode"

// opened returns the URL by which a blob store is opened. Those who may not look into a folder that is one may not look
// into what is below it. Where a server of S3 has no checksum, as many have none, the SDK would say on stderr for each
// object that it does not look. Every object is authenticated as it is opened (package seal), so it need not.
func opened(store string) string {
	u, err := url.Parse(store)
	if err != nil {
		return store
	}
	q := u.Query()
	switch {
	case u.Scheme == "s3" && !q.Has(checksums):
		q.Set(checksums, "when_required")
	case u.Scheme == "file" && !q.Has(folderMode):
		folder, err := os.Stat(u.Path)
		if err != nil {
			return store // to open it says so
		}
		q.Set(folderMode, fmt.Sprintf("0%o", folder.Mode().Perm()))
	default:
		return store
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Package dev is a Temporal server inside this process, with its state in one file. It is for trying a fleet out on one
// machine: it serves loopback only, and whoever has its key (package devkey); it knows no accounts.
//
// It is the only package that imports the server, which takes minutes to compile and is most of its program: only
// claude-supervise-fleet-dev imports this package.
package dev

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/rpc/encryption"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const loopback = "127.0.0.1"

// clusterName is what the server calls itself.
const clusterName = "active"

// readyWithin is how long a server may take until it answers.
const readyWithin = time.Minute

// Options say how a server is to be.
type Options struct {
	File       string // of its state; made where it is not there
	Port       int    // 0: a free one
	Namespace  string
	Attributes map[string]enumspb.IndexedValueType // search attributes that the namespace has

	// TLS is what the server shows, and wants of its clients: of the fleet's, and of its own parts among themselves, which
	// listen on ports of loopback, too.
	TLS *tls.Config

	// Fatal is called, in any goroutine, when a part of the server cannot go on, as without its port. It must not return.
	Fatal func(words string)
}

// A Server runs in this process until Stop.
type Server struct {
	Address string // host:port, of loopback
	server  temporal.Server
}

// Start starts a server and returns when it answers.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	defer func() { // as where another process has taken one of its ports meanwhile
		if bug := recover(); bug != nil {
			err = fmt.Errorf("the server cannot be set up: %.300v", bug)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(o.File), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the server's state cannot be made: %w", err)
	}
	ports, err := freePorts(o.Port)
	if err != nil {
		return nil, err
	}
	cfg, store := configOf(o, ports)
	if _, err := os.Stat(o.File); errors.Is(err, fs.ErrNotExist) {
		if err := own(o.File); err != nil {
			return nil, fmt.Errorf("the server's state cannot be made in %s: %w", o.File, err)
		}
		if err := sqlite.SetupSchema(store); err != nil {
			return nil, errors.Join(fmt.Errorf("the server's state cannot be made in %s: %w", o.File, err), os.Remove(o.File))
		}
	}
	if err := errors.Join(own(o.File), forgetServers(ctx, o.File)); err != nil {
		return nil, err
	}
	namespace, err := sqlite.NewNamespaceConfig(clusterName, o.Namespace, false, o.Attributes)
	if err != nil {
		return nil, err
	}
	if err := sqlite.CreateNamespaces(store, namespace); err != nil {
		return nil, fmt.Errorf("the server's state in %s cannot be used: %w", o.File, err)
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(lastLogger{log.NewNoopLogger(), o.Fatal}),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{}),
		temporal.WithTLSConfigFactory(oneKey{o.TLS}),
	)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be set up: %w", err)
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("the server cannot start: %w", err)
	}
	s = &Server{Address: cfg.PublicClient.HostPort, server: server}
	if err := s.ready(ctx, o); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// own makes a file where there is none, and has only this user read it; sqlite makes those beside it alike.
func own(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// A lastLogger logs nothing but what a part of the server cannot go on without, in whichever goroutine. What logs that
// goes on as if it had a port, for one, where the logger of a server would end it.
type lastLogger struct {
	log.Logger
	fatal func(words string)
}

// Fatal says it, and is to end the process.
func (l lastLogger) Fatal(what string, tags ...tag.Tag) {
	words := what
	for _, t := range tags {
		if t.Key() == "error" || t.Key() == "address" {
			words += fmt.Sprintf(": %.300v", t.Value())
		}
	}
	l.fatal(words)
}

// With is the same logger: its tags would tell nothing more.
func (l lastLogger) With(...tag.Tag) log.Logger { return l }

// forgetServers removes from the state which servers it has served. One that has ended is looked for at its address for
// as long as it may be alive elsewhere, which is most of a minute: nothing decides about runs then. There is no other:
// the state is for one process.
func forgetServers(ctx context.Context, file string) error {
	db, err := sql.Open(sqliteplugin.PluginName, (&url.URL{Scheme: "file", Path: file}).String())
	if err == nil {
		_, err = db.ExecContext(ctx, "DELETE FROM cluster_membership")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return fmt.Errorf("the server's state in %s cannot be used: %w", file, err)
	}
	return nil
}

// ready waits until the server answers, and its namespace has the search attributes.
func (s *Server) ready(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("it does not answer within %s", readyWithin))
	defer cancel()
	for {
		client, err := sdk.DialContext(ctx, sdk.Options{HostPort: s.Address, Namespace: o.Namespace, Logger: quiet{},
			ConnectionOptions: sdk.ConnectionOptions{TLS: o.TLS}})
		if err == nil {
			err = has(ctx, client, o)
			client.Close()
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the server on %s: %w: %w", s.Address, context.Cause(ctx), err)
		}
	}
}

// has looks whether the namespace has the search attributes, and makes those that it lacks: its state may be that of an
// earlier build. An error says that they are not there yet.
func has(ctx context.Context, client sdk.Client, o Options) error {
	there, err := client.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: o.Namespace})
	if err != nil {
		return err
	}
	lacks := maps.Clone(o.Attributes)
	maps.DeleteFunc(lacks, func(name string, _ enumspb.IndexedValueType) bool {
		_, is := there.GetCustomAttributes()[name]
		return is
	})
	if len(lacks) == 0 {
		return nil
	}
	_, err = client.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: o.Namespace, SearchAttributes: lacks})
	return errors.Join(errors.New("its namespace lacks search attributes"), err)
}

// Stop ends the server. What it has acknowledged is in its file.
func (s *Server) Stop() error { return s.server.Stop() }

// oneKey has all parts of the server show the same, and want the same.
type oneKey struct{ config *tls.Config }

// GetInternodeServerConfig is that of the parts.
func (k oneKey) GetInternodeServerConfig() (*tls.Config, error) { return k.config, nil }

// GetInternodeClientConfig is that of the parts.
func (k oneKey) GetInternodeClientConfig() (*tls.Config, error) { return k.config, nil }

// GetFrontendServerConfig is what clients meet.
func (k oneKey) GetFrontendServerConfig() (*tls.Config, error) { return k.config, nil }

// GetFrontendClientConfig is that of the server's own workers.
func (k oneKey) GetFrontendClientConfig() (*tls.Config, error) { return k.config, nil }

// GetRemoteClusterClientConfig is of no use: there is no other cluster.
func (k oneKey) GetRemoteClusterClientConfig(string) (*tls.Config, error) { return k.config, nil }

// GetExpiringCerts says that none expires soon.
func (oneKey) GetExpiringCerts(time.Duration) (expiring, expired encryption.CertExpirationMap, err error) {
	return nil, nil, nil
}

// quiet is the logger of a client that only looks whether somebody answers.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// configOf returns the configuration of a server whose services are all in this process.
func configOf(o Options, free []int) (*config.Config, *config.SQL) {
	store := &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: o.File,
		ConnectAttributes: map[string]string{
			"mode": "rwc", "_journal_mode": "wal", "_synchronous": "full",
		},
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(free[0]))
	service := func(i int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: free[i], MembershipPort: free[i+4], BindOnIP: loopback}}
	}
	cfg := &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1,
			DataStores:       map[string]config.DataStore{sqliteplugin.PluginName: {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": service(0), "history": service(1), "matching": service(2), "worker": service(3),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient: config.PublicClient{HostPort: address},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	cfg.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}
	return cfg, store
}

// freePorts returns eight ports of loopback that nobody listens on: the first is the one that is asked for, if it is
// not 0.
func freePorts(first int) ([]int, error) {
	free := make([]int, 8)
	for i := range free {
		port := 0
		if i == 0 {
			port = first
		}
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("no server can listen on port %d: %w", port, err)
		}
		defer func() { _ = l.Close() }() // all are held until all are chosen
		free[i] = l.Addr().(*net.TCPAddr).Port
	}
	return free, nil
}

package commands

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

const apiKey = "key-of-the-server"

// A frontend is a server that has no runs, one namespace, and takes one API key if it wants any.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	namespace, key string
}

func (f *frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (
	*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (f *frontend) ListWorkflowExecutions(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	head, _ := metadata.FromIncomingContext(ctx)
	switch has := strings.Join(head.Get("authorization"), ","); {
	case f.key != "" && has != "Bearer "+f.key:
		return nil, status.Error(codes.PermissionDenied, "Request unauthorized.")
	case r.GetNamespace() != f.namespace:
		return nil, serviceerror.ToStatus(serviceerror.NewNamespaceNotFound(r.GetNamespace())).Err()
	}
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

// listens serves on a port of loopback until the test ends.
func (f *frontend) listens(t *testing.T, o ...grpc.ServerOption) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(o...)
	workflowservice.RegisterWorkflowServiceServer(s, f)
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }() // its end is what Stop makes
	t.Cleanup(func() { s.Stop(); <-served })
	return l.Addr().String()
}

// An authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // of its certificate
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign}
	a := authority{t: t, cert: cert, key: key, file: filepath.Join(t.TempDir(), name+".pem")}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.writes(a.file, "CERTIFICATE", der)
	return a
}

func (a authority) writes(file, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// signs makes the certificate of a name, and gives it and its files.
func (a authority) signs(name string) (pair tls.Certificate, cert, key string) {
	a.t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(2),
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.cert, own.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		a.t.Fatal(err)
	}
	folder := a.t.TempDir()
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	a.writes(cert, "CERTIFICATE", der)
	a.writes(key, "PRIVATE KEY", pkcs8)
	if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
		a.t.Fatal(err)
	}
	return pair, cert, key
}

// cleared has nothing in the environment or the home say which fleet is meant.
func cleared(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TEMPORAL_") {
			t.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, value := range map[string]string{"HOME": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", envKey: "",
		envStore: ""} {
		t.Setenv(name, value)
	}
	return home
}

func written(t *testing.T, folder, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFleetIsReachedAsFlagsTheEnvironmentAndTheFileSay(t *testing.T) {
	ca, other := newAuthority(t, "ours"), newAuthority(t, "theirs")
	pair, cert, key := ca.signs("fleet.test")
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	const teams = "teams"
	open := (&frontend{namespace: teams}).listens(t)
	keyed := (&frontend{namespace: teams, key: apiKey}).listens(t)
	sealed := (&frontend{namespace: teams, key: apiKey}).listens(t, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	mutual := (&frontend{namespace: teams}).listens(t, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	keyFile := written(t, files, "api.key", apiKey+"\n")
	wrongKey := written(t, files, "wrong.key", "another")
	profile := func(name, address string, more ...string) string {
		return fmt.Sprintf("[profile.%s]\naddress = %q\nnamespace = %q\n%s\n", name, address, teams, strings.Join(more, "\n"))
	}
	withTLS := fmt.Sprintf("[profile.%%s.tls]\nserver_ca_cert_path = %q\nserver_name = \"fleet.test\"", ca.file)
	trusts := map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": ca.file, "TEMPORAL_TLS_SERVER_NAME": "fleet.test"}
	for name, c := range map[string]struct {
		connection
		env  map[string]string
		file string   // temporal.toml
		left string   // the address that a `fleet dev` has left behind
		says []string // of the error; nil: it is reached
	}{
		"by flags":        {connection: connection{address: open, namespace: teams}},
		"by variables":    {env: map[string]string{"TEMPORAL_ADDRESS": open, "TEMPORAL_NAMESPACE": teams}},
		"by the file":     {file: profile("default", open)},
		"by a profile":    {file: profile("night", open), env: map[string]string{"TEMPORAL_PROFILE": "night"}},
		"flags are first": {connection: connection{address: open, namespace: teams}, file: profile("default", closed)},
		"TLS by variables": {connection: connection{address: sealed, namespace: teams, apiKey: keyFile},
			env: trusts},
		"TLS and key by the file": {file: profile("default", sealed, "api_key = \""+apiKey+"\"",
			fmt.Sprintf(withTLS, "default"))},
		"key by a variable": {connection: connection{address: keyed, namespace: teams},
			env: map[string]string{"TEMPORAL_API_KEY": apiKey, "TEMPORAL_TLS": "false"}},
		"the flag of the key is first": {connection: connection{address: keyed, namespace: teams, apiKey: keyFile},
			env: map[string]string{"TEMPORAL_API_KEY": "another", "TEMPORAL_TLS": "false"}},
		"a certificate of its own": {connection: connection{address: mutual, namespace: teams},
			env: map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": ca.file, "TEMPORAL_TLS_SERVER_NAME": "fleet.test",
				"TEMPORAL_TLS_CLIENT_CERT_PATH": cert, "TEMPORAL_TLS_CLIENT_KEY_PATH": key}},

		"nothing says which": {says: []string{"which fleet?", "--address", "fleet dev"}},
		"nobody listens": {connection: connection{address: closed, namespace: teams},
			says: []string{"at " + closed + " cannot be reached", "refused", "--address"}},
		"fleet dev was killed": {left: closed, says: []string{"at " + closed + " cannot be reached", "fleet dev`: start it"}},
		"another CA": {connection: connection{address: sealed, namespace: teams, apiKey: keyFile},
			env:  map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": other.file, "TEMPORAL_TLS_SERVER_NAME": "fleet.test"},
			says: []string{"certificate", "TEMPORAL_TLS_SERVER_CA_CERT_PATH"}},
		"another name": {connection: connection{address: sealed, namespace: teams, apiKey: keyFile},
			env:  map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": ca.file, "TEMPORAL_TLS_SERVER_NAME": "else.test"},
			says: []string{"certificate", "else.test", "TEMPORAL_TLS_SERVER_NAME"}},
		"no certificate of its own": {connection: connection{address: mutual, namespace: teams}, env: trusts,
			says: []string{"certificate", "TEMPORAL_TLS_CLIENT_CERT_PATH"}},
		"TLS to a server without": {connection: connection{address: open, namespace: teams}, env: trusts,
			says: []string{"speaks no TLS", "TEMPORAL_TLS=false"}},
		"no TLS to a server with": {connection: connection{address: sealed, namespace: teams},
			says: []string{"TEMPORAL_TLS=true"}},
		"no key": {connection: connection{address: keyed, namespace: teams},
			says: []string{"unauthorized", "--api-key"}},
		"another key": {connection: connection{address: sealed, namespace: teams, apiKey: wrongKey}, env: trusts,
			says: []string{"unauthorized", "--api-key"}},
		"a key that is no file": {connection: connection{address: keyed, namespace: teams, apiKey: files + "/none"},
			says: []string{"API key cannot be read", files + "/none"}},
		"a CA that is no file": {connection: connection{address: sealed, namespace: teams},
			env:  map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": files + "/none"},
			says: []string{"configuration of Temporal cannot be used", files + "/none"}},
		"a file that is no TOML": {file: "[profile", says: []string{"configuration of Temporal cannot be used", "toml"}},
		"no such profile": {file: profile("night", open), env: map[string]string{"TEMPORAL_PROFILE": "day"},
			says: []string{"configuration of Temporal cannot be used", "day"}},
		"no such namespace": {connection: connection{address: open, namespace: "else"},
			says: []string{"no namespace else", "--namespace", "temporal operator namespace create -n else"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := cleared(t)
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			t.Setenv("TEMPORAL_CONFIG_FILE", written(t, home, "temporal.toml", c.file))
			if c.left != "" {
				t.Setenv("XDG_STATE_HOME", home)
				written(t, home, program+"/dev/dev.json", fmt.Sprintf(`{"address": %q}`, c.left))
			}
			c.key = filepath.Join(home, "fleet.key")
			if _, err := seal.MakeKey(c.key); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := c.with(ctx, func(f connected) error {
				_, err := f.Runs(ctx, true, false)
				return err
			})
			if (err != nil) != (c.says != nil) {
				t.Fatalf("it is told: %v", err)
			}
			for _, word := range c.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q is not in: %v", word, err)
				}
			}
		})
	}
}

func TestTheSDKOfABucketLooksForNoChecksumsUnlessItIsTold(t *testing.T) {
	const set = "s3://b?response_checksum_validation=when_supported"
	for store, want := range map[string]string{
		"s3://b?region=eu":       "s3://b?region=eu&response_checksum_validation=when_required",
		"s3://b?prefix=a%2Fb%2F": "s3://b?prefix=a%2Fb%2F&response_checksum_validation=when_required",
		set:                      set, "file:///mnt/snapshots": "file:///mnt/snapshots", "gs://b": "gs://b",
	} {
		if got := opened(store); got != want {
			t.Errorf("%s is opened as %s", store, got)
		}
	}
}

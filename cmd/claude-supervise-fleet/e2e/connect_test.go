package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

// A gate is before the server of a site, as one of the internet is: it speaks TLS with a certificate that only its own
// CA trusts, and lets nobody in without the API key.
type gate struct {
	address, ca string // the file of its certificate
	let, kept   atomic.Int64
}

// gateName is what its certificate names.
const gateName = "example.com"

func (s *site) gate(apiKey string) *gate {
	s.t.Helper()
	made := httptest.NewUnstartedServer(nil)
	made.StartTLS()
	pair, cert := made.TLS.Certificates[0], made.Certificate()
	made.Close()
	g := &gate{ca: s.file("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}))}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	g.address = l.Addr().String()
	shown, err := s.serverKey().TLS()
	if err != nil {
		s.t.Fatal(err)
	}
	there, err := grpc.NewClient(s.server().Address, grpc.WithTransportCredentials(credentials.NewTLS(shown)))
	if err != nil {
		s.t.Fatal(err)
	}
	forwards, err := sdk.NewWorkflowServiceProxyServer(sdk.WorkflowServiceProxyOptions{
		Client: workflowservice.NewWorkflowServiceClient(there)})
	if err != nil {
		s.t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)), grpc.UnaryInterceptor(
		func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			head, _ := metadata.FromIncomingContext(ctx)
			if strings.Join(head.Get("authorization"), ",") != "Bearer "+apiKey {
				g.kept.Add(1)
				return nil, status.Error(codes.PermissionDenied, "Request unauthorized.")
			}
			g.let.Add(1)
			return next(ctx, r)
		}))
	workflowservice.RegisterWorkflowServiceServer(server, forwards)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(l) }() // its end is what Stop makes
	s.t.Cleanup(func() {
		server.Stop()
		<-served
		if err := there.Close(); err != nil && !errors.Is(err, context.Canceled) {
			s.t.Error(err)
		}
	})
	return g
}

// A fleet whose server is reached by TLS and an API key, as Temporal's own file says: all that people and workers do
// goes by it.
func TestAFleetIsReachedByTLSAndAKeyAsTemporalsFileSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const apiKey = "key-of-the-team"
	g, dev := s.gate(apiKey), s.server()
	profile := func(name, key string) string {
		return fmt.Sprintf("[profile.%s]\naddress = %q\nnamespace = %q\napi_key = %q\n[profile.%s.tls]\n"+
			"server_ca_cert_path = %q\nserver_name = %q\n", name, g.address, dev.Namespace, key, name, g.ca, gateName)
	}
	file := s.file("temporal.toml", []byte(profile("team", apiKey)+profile("stranger", "another-key")))
	as := "team"
	s.more = func(string) []string {
		return []string{"TEMPORAL_CONFIG_FILE=" + file, "TEMPORAL_PROFILE=" + as, "CLAUDE_SUPERVISE_FLEET_KEY=" + dev.Key,
			"CLAUDE_SUPERVISE_FLEET_STORE=" + dev.Store}
	}
	s.starts(t.TempDir(), takesRuns, "worker", "--name", "one", "--leave-within", "20s")
	run := s.asking()
	s.must("answer", s.asks(run, "one"), "JWT")
	s.succeeds(run)
	if shown := s.must("show", run); !strings.Contains(shown, "JWT") {
		t.Errorf("it is shown as %s", shown)
	}
	if g.let.Load() == 0 || g.kept.Load() > 0 {
		t.Errorf("%d calls had the key, and %d had not", g.let.Load(), g.kept.Load())
	}

	as = "stranger"
	if code, _, said := s.says("ps"); code != 1 || !strings.Contains(said, "--api-key") {
		t.Errorf("ps with another API key exits %d: %s", code, said)
	}
	if _, err := s.begins(t.TempDir(), takesRuns, "worker", "--name", "two"); err == nil ||
		!strings.Contains(err.Error(), "--api-key") {
		t.Errorf("a worker with another API key: %v", err)
	}
	as = "team"
	s.must("ps", "--api-key", s.file("api.key", []byte(apiKey+"\n")))
}

// Who has another key than the fleet's is told so, and changes nothing.
func TestAKeyThatIsNotTheFleetsIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.asking()
	q := s.asks(run, "one")
	other := filepath.Join(s.home, "other.key")
	if _, err := seal.MakeKey(other); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ps"}, {"questions"}, {"answer", q, "JWT"}, {"show", run}, {"run", "a task"}} {
		code, _, said := s.says(append(args, "--key", other)...)
		if code != 1 || !strings.Contains(said, "is this the fleet's key?") {
			t.Errorf("%q with another key exits %d: %s", args, code, said)
		}
	}
	if _, err := s.begins(t.TempDir(), takesRuns, s.workerArgs("two", "--key", other)...); err == nil ||
		!strings.Contains(err.Error(), "this is not the key of the fleet") {
		t.Errorf("a worker with another key: %v", err)
	}
	var all []listed
	if err := json.Unmarshal([]byte(s.reads("ps", "-a", "--json")), &all); err != nil || len(all) != 1 {
		t.Errorf("%d runs are there: %v", len(all), err)
	}
	s.must("answer", q, "JWT")
	s.succeeds(run)
}

package devkey

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

func filesIn(t *testing.T) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Certificate: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key")}
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	return f
}

func configOf(t *testing.T, f Files) *tls.Config {
	t.Helper()
	c, err := f.TLS()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The key is made once, nobody else can read it, and it is what a server and its clients want of each other.
func TestWhoHasTheKeyIsLetIn(t *testing.T) {
	own := filesIn(t)
	before, err := os.ReadFile(own.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Make(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(own.Key)
	after, err2 := os.ReadFile(own.Key)
	if err != nil || err2 != nil || string(before) != string(after) || info.Mode().Perm() != 0o600 {
		t.Errorf("it is made again, or %v: %v, %v", info.Mode(), err, err2)
	}
	server := configOf(t, own)
	without := server.Clone()
	without.Certificates = nil
	trusting := configOf(t, filesIn(t))
	trusting.InsecureSkipVerify = true //nolint:gosec // the attacker does not mind
	for name, c := range map[string]struct {
		client *tls.Config
		in     bool
	}{
		"with the key":      {server.Clone(), true},
		"without":           {without, false},
		"with another":      {configOf(t, filesIn(t)), false},
		"who trusts anyone": {trusting, false},
	} {
		a, b := net.Pipe()
		go func() {
			s := tls.Server(a, server)
			if s.Handshake() == nil {
				_, _ = s.Write([]byte("in"))
			}
			_ = a.Close()
		}()
		got, _ := io.ReadAll(tls.Client(b, c.client))
		_ = b.Close()
		if (string(got) == "in") != c.in {
			t.Errorf("%s: it reads %q", name, got)
		}
	}
}

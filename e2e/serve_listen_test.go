package e2e

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Over TLS the page is reached from elsewhere, by the names that --host gives, and its cookie stays on TLS.
func TestServeOverTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trusted := w.certificate()
	p := w.serve("--listen", "0.0.0.0:0", "--host", "desk.example.org", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	port := p.address[strings.LastIndex(p.address, ":"):]
	if p.address != "https://desk.example.org"+port {
		t.Errorf("its address is %s", p.address)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for host, want := range map[string]int{"desk.example.org": 303, "127.0.0.1": 303, "evil.example.org": 421} {
		r, err := http.NewRequest(http.MethodGet, "https://127.0.0.1"+port+"/?token="+p.token, nil)
		noError(t, err)
		r.Host = host
		reply, err := client.Do(r)
		noError(t, err)
		_ = reply.Body.Close()
		if reply.StatusCode != want || reply.ProtoMajor != 2 {
			t.Errorf("as %s it gets %d by %s", host, reply.StatusCode, reply.Proto)
		}
		if cookies := reply.Cookies(); want == 303 && (len(cookies) != 1 || !cookies[0].Secure || !cookies[0].HttpOnly ||
			cookies[0].SameSite != http.SameSiteLaxMode) {
			t.Errorf("as %s its cookies are %v", host, cookies)
		}
	}
	reply, err := http.Get("http://127.0.0.1" + port + "/")
	noError(t, err)
	defer func() { _ = reply.Body.Close() }()
	if text, _ := io.ReadAll(reply.Body); reply.StatusCode != 400 {
		t.Errorf("without TLS it gets %d %s", reply.StatusCode, text)
	}

	key, err := os.ReadFile(filepath.Join(w.Cwd, "key.pem"))
	noError(t, err)
	w.put("old.pem", string(key))
	w.certificate() // another
	for _, key := range []string{"old.pem", "cert.pem"} {
		if code, stdout, stderr := w.run("serve", "--tls-cert", "cert.pem", "--tls-key", key); code != 2 || stdout != "" ||
			!strings.Contains(stderr, "nothing is served") {
			t.Errorf("with %s for its key it exits %d: %s%s", key, code, stdout, stderr)
		}
	}
}

// Without TLS, beyond this machine, with --insecure alone.
func TestServeBeyondThisMachineWithoutTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("--listen", "0.0.0.0:0", "--host", "127.0.0.1", "--insecure")
	if status, text := p.send("GET", "/api/questions", ""); status != 200 {
		t.Errorf("it gets %d %s", status, text)
	}
}

// Where the usual port is in use another is taken, and that is said.
func TestServeSaysThatItTookAnotherPort(t *testing.T) {
	t.Parallel()
	const usual = "127.0.0.1:7433"
	if taken, err := net.Listen("tcp", usual); err == nil { // else somebody has it
		defer func() { _ = taken.Close() }()
	}
	p := newWorld(t).serve()
	if p.address == "http://"+usual {
		t.Fatal("it has the port that is in use")
	}
	if status, _ := p.send("GET", "/api/questions", ""); status != 200 {
		t.Errorf("it gets %d", status)
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
	if !strings.Contains(p.stderr.String(), usual+" is in use, so this page has another port") {
		t.Errorf("it says\n%s", p.stderr.String())
	}
}

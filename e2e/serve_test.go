package e2e

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A served page of a world.
type servedPage struct {
	w              *world
	cmd            *exec.Cmd
	stderr         bytes.Buffer
	address, token string // the address without the token
}

// serve starts serve, and waits until it has said its address.
func (w *world) serve(flags ...string) *servedPage {
	w.t.Helper()
	p := &servedPage{w: w, cmd: w.Command(append([]string{"serve"}, flags...)...)}
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	noError(w.t, err)
	noError(w.t, p.cmd.Start())
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("no address is said: %v\n%s", err, p.stderr.String())
	}
	whole, err := url.Parse(strings.TrimSpace(line))
	noError(w.t, err)
	p.address, p.token = whole.Scheme+"://"+whole.Host, whole.Query().Get("token")
	return p
}

// send sends a request with the token; a body is JSON.
func (p *servedPage) send(method, path, body string) (status int, text string) {
	p.w.t.Helper()
	return p.sendBy(http.DefaultClient, method, path, body)
}

func (p *servedPage) sendBy(client *http.Client, method, path, body string) (status int, text string) {
	p.w.t.Helper()
	r, err := http.NewRequest(method, p.address+path, strings.NewReader(body))
	noError(p.w.t, err)
	r.Header.Set("Authorization", "Bearer "+p.token)
	reply, err := client.Do(r)
	noError(p.w.t, err)
	defer func() { _ = reply.Body.Close() }()
	read, err := io.ReadAll(reply.Body)
	noError(p.w.t, err)
	return reply.StatusCode, string(read)
}

// lists checks that a question that is saved is in the list.
func (p *servedPage) lists(question string) {
	p.w.t.Helper()
	if status, text := p.send("GET", "/api/questions", ""); status != http.StatusOK || !strings.Contains(text, question) {
		p.w.t.Fatalf("the questions are %d %s", status, text)
	}
}

func TestAQuestionIsAnsweredByThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = []string{"--demo", "ask"}
	p := w.serve("--listen", "127.0.0.1:0") // before there is any state
	if status, text := p.send("GET", "/api/questions", ""); status != 200 || text != "[]\n" {
		t.Fatalf("without a run: %d %s", status, text)
	}
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	w.must("wait", "--question", run)
	q := w.questions()[0]
	p.lists(q.ID)
	status, text := p.send("POST", "/api/questions/"+q.ID+"/answer", `{"value": "9"}`)
	if status != 422 || !strings.Contains(text, "not one of the options") {
		t.Errorf("what does not fit gets %d %s", status, text)
	}
	if status, text = p.send("POST", "/api/questions/"+q.ID+"/answer", `{"value": "jwt"}`); status != 200 {
		t.Fatalf("the answer gets %d %s", status, text)
	}
	got := parse[questionView](t, text)
	if got.State == "open" || got.Answer == nil || *got.Answer != "JWT" || got.AnsweredBy != "a person by the API from 127.0.0.1" {
		t.Errorf("it is answered as %s", text)
	}
	if status, text = p.send("POST", "/api/questions/"+q.ID+"/answer", `{"value": "2"}`); status != 409 ||
		!strings.Contains(text, `"answer":"JWT"`) {
		t.Errorf("who comes later gets %d %s", status, text)
	}
	w.must("wait", run)
	if status, text = p.send("GET", "/api/runs?ended=1", ""); status != 200 || !strings.Contains(text, `"status":"succeeded"`) {
		t.Errorf("the past runs are %d %s", status, text)
	}
	root := w.ps().Agents[0].ID
	if status, text = p.send("GET", "/api/agents/"+root+"/log", ""); status != 200 || !strings.Contains(text, `"said":["`) {
		t.Errorf("the log is %d %.300s", status, text)
	}
	log := parse[struct{ Next int64 }](t, text)
	if status, text = p.send("GET", fmt.Sprintf("/api/agents/%s/log?after=%d", root, log.Next), ""); status != 200 ||
		!strings.Contains(text, `"lines":[]`) {
		t.Errorf("behind its end the log is %d %s", status, text)
	}
	for _, path := range []string{"/", "/runs", "/runs/" + run, "/agents/" + root, "/agents/" + root + "?after=0", "/questions/" + q.ID} {
		if status, text := p.send("GET", path, ""); status != 200 || !strings.HasPrefix(text, "<!doctype html>") {
			t.Errorf("%s is %d %.300s", path, status, text)
		}
	}
	if _, text := p.send("GET", "/meanwhile", ""); !strings.Contains(text, "+login by JWT") { // nor without what it changed
		t.Errorf("what happened is %s", text)
	}
}

func TestACommandStaysWithTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := strings.TrimSpace(w.must("run", "--demo", "stop", "--detach"))
	w.must("wait", "--question", run)
	p := w.serve("--listen", "127.0.0.1:0")
	if status, text := p.send("POST", "/api/questions/"+w.questions()[0].ID+"/answer", `{"value": "run: touch ran"}`); status != 200 {
		t.Fatalf("the command is asked for with %d %s", status, text)
	}
	w.must("wait", "--question", run)
	q := w.questions()[0]
	for _, body := range []string{`{"value": "run"}`, `{"skip": true}`, `{"decline": "no"}`} {
		status, text := p.send("POST", "/api/questions/"+q.ID+"/answer", body)
		if q.Kind != "command" || status != 403 || !strings.Contains(text, `"command":"claude-supervise answer `+q.ID) {
			t.Errorf("%s to a %s gets %d %s", body, q.Kind, status, text)
		}
	}
	if _, text := p.send("GET", "/", ""); !strings.Contains(text, "touch ran") || !strings.Contains(text, "claude-supervise answer "+q.ID) {
		t.Errorf("the page does not show it:\n%s", text)
	}
	if status, text := p.send("POST", "/api/agents/"+run+"/message", `{"text": "hello"}`); status != 200 {
		t.Errorf("a message gets %d %s", status, text)
	}
	if status, text := p.send("POST", "/api/runs/"+run+"/stop", ""); status != 200 || !strings.Contains(text, "stop") {
		t.Errorf("a stop gets %d %s", status, text)
	}
	w.run("wait", run)
	if got := w.ps().Status; got != "stopped" {
		t.Errorf("the run is %s", got)
	}
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil {
		t.Error("the command ran")
	}
}

func TestTheAddressLastsAndIsNobodyElses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	file := filepath.Join(w.Home, ".local", "state", "claude-supervise", "serve.token")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file is %v, %v", info, err)
	}
	for _, name := range []string{"cmdline", "environ"} {
		told, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.cmd.Process.Pid, name))
		if err == nil && bytes.Contains(told, []byte(p.token)) {
			t.Errorf("the token is in its %s", name)
		}
	}
	port := p.address[strings.LastIndex(p.address, ":"):]
	if code, stdout, stderr := w.run("serve", "--listen", "127.0.0.1"+port); code != 1 || stdout != "" ||
		!strings.Contains(stderr, "is in use") {
		t.Errorf("the port that is taken gets %d %s%s", code, stdout, stderr)
	}
	noError(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // killed
	again := w.serve("--listen", "127.0.0.1"+port)
	if again.token != p.token || again.address != p.address {
		t.Errorf("killed and started again, the address is %s, not %s", again.address, p.address)
	}
	noError(t, again.cmd.Process.Signal(syscall.SIGTERM))
	if err := again.cmd.Wait(); err != nil {
		t.Errorf("ended, it says %v\n%s", err, again.stderr.String())
	}
	if strings.Contains(again.stderr.String(), again.token) {
		t.Errorf("the token is on stderr:\n%s", again.stderr.String())
	}
	third := w.serve("--listen", "127.0.0.1:0", "--new-token")
	newer := third.token
	if third.token = p.token; newer == p.token {
		t.Error("--new-token keeps the token")
	}
	if status, _ := third.send("GET", "/", ""); status != 401 {
		t.Errorf("the old token gets %d", status)
	}
	noError(t, os.Chmod(file, 0o644))
	if code, stdout, stderr := w.run("serve", "--listen", "127.0.0.1:0"); code != 1 || stdout != "" || !strings.Contains(stderr, "--new-token") {
		t.Errorf("a token that others may read gets %d %s%s", code, stdout, stderr)
	}
}

// On a terminal the address is a QR code, too, where a phone can open it.
func TestAnAddressForAPhoneIsAQRCodeOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const code = `(?s)(\x1b\[30;107m[ ▀▄█]{33,}\x1b\[m\r\n){18,}`
	s := w.sit(nil, "serve", "--listen", "0.0.0.0:0", "--insecure", "--host", "desk.example.org")
	if shown := s.sees(`token=\S+`); !regexp.MustCompile(code).MatchString(shown) {
		t.Errorf("it shows no code:\n%s", shown)
	}
	s = w.sit(nil, "serve", "--listen", "127.0.0.1:0")
	if shown := s.sees(`token=\S+`); regexp.MustCompile(code).MatchString(shown) {
		t.Errorf("it shows a code that no phone can open:\n%s", shown)
	}
	p := w.serve("--listen", "0.0.0.0:0", "--insecure", "--host", "localhost")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if strings.ContainsAny(p.stderr.String(), "▀▄█\x1b") {
		t.Errorf("without a terminal it shows:\n%s", p.stderr.String())
	}
}

func TestServeIsRefusedWhereItIsNotSafe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for args, want := range map[string]string{
		"--listen 0.0.0.0":                     "--insecure",
		"--listen 192.0.2.1":                   "--tls-cert",
		"--listen :7433":                       "--insecure",
		"--listen 0.0.0.0 --insecure":          "--host",
		"--tls-cert x":                         "go together",
		"--tls-cert none.pem --tls-key no.pem": "none.pem",
		"--listen nowhere:at:all":              "--listen takes",
		"extra":                                "no arguments",
	} {
		code, stdout, stderr := w.run(append([]string{"serve"}, strings.Fields(args)...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d, says %s%s", args, code, stdout, stderr)
		}
	}
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_RUN=r-x", "CLAUDE_SUPERVISE_AGENT=a-x")
	if code, _, stderr := w.run("serve"); code != 1 || !strings.Contains(stderr, "serve is refused inside agent a-x") {
		t.Errorf("inside an agent it exits %d, says %s", code, stderr)
	}
}

// What is started by the page is started once for a key, whoever sends it how often, in a folder of --folder only.
func TestARunIsStartedByThePage(t *testing.T) {
	t.Parallel()
	s := load(t, "work")
	w := newWorld(t)
	agent := filepath.Join(w.Home, "claude")
	noError(t, os.WriteFile(agent, []byte("#!/bin/sh\nexec "+program+" stand-in work \"$@\"\n"), 0o700))
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+agent)
	elsewhere := t.TempDir()
	w.put("task.yaml", "prompt: |\n  "+strings.ReplaceAll(s.Prompt, "\n", "\n  ")+"\n")
	w.put("bad.yaml", "prompts: x\n")
	noError(t, os.Symlink(elsewhere, filepath.Join(w.Cwd, "link")))
	own := filepath.Join(w.Home, ".config", "claude-supervise")
	noError(t, os.MkdirAll(own, 0o700))
	noError(t, os.WriteFile(filepath.Join(own, "config.yaml"), []byte("serve: {folders: ["+w.Cwd+"]}\n"), 0o600))
	p := w.serve("--listen", "127.0.0.1:0") // --folder goes before the config
	start := func(key string, body map[string]string) (int, string) {
		t.Helper()
		text, _ := json.Marshal(body)
		r, err := http.NewRequest(http.MethodPost, p.address+"/api/runs", bytes.NewReader(text))
		noError(t, err)
		r.Header.Set("Authorization", "Bearer "+p.token)
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer func() { _ = reply.Body.Close() }()
		said, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Error(err)
		}
		return reply.StatusCode, string(said)
	}
	for name, c := range map[string]struct {
		body   map[string]string
		status int
		says   string
	}{
		"elsewhere":         {map[string]string{"prompt": "x", "cwd": elsewhere}, 403, "--folder"},
		"nowhere":           {map[string]string{"prompt": "x", "cwd": "/no/such"}, 403, "--folder"},
		"by dots":           {map[string]string{"prompt": "x", "cwd": w.Cwd + "/.."}, 403, "--folder"},
		"by a link":         {map[string]string{"prompt": "x", "cwd": w.Cwd + "/link"}, 403, "--folder"},
		"a task elsewhere":  {map[string]string{"task": "/etc/passwd", "cwd": w.Cwd}, 403, "--folder"},
		"a task by dots":    {map[string]string{"task": "../x.yaml", "cwd": w.Cwd}, 403, "--folder"},
		"not there":         {map[string]string{"prompt": "x", "cwd": w.Cwd + "/none"}, 422, "there is no"},
		"relative":          {map[string]string{"prompt": "x", "cwd": "."}, 422, "from the root"},
		"no task there":     {map[string]string{"task": "none.yaml", "cwd": w.Cwd}, 422, "there is no"},
		"a bad task":        {map[string]string{"task": "bad.yaml", "cwd": w.Cwd}, 422, "prompts"},
		"nothing":           {map[string]string{"cwd": w.Cwd}, 422, "either"},
		"both":              {map[string]string{"prompt": "x", "task": "task.yaml", "cwd": w.Cwd}, 422, "either"},
		"a flag for a name": {map[string]string{"prompt": " ", "name": "--detach", "cwd": w.Cwd}, 422, "either"},
	} {
		if status, text := start("", c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s gets %d %s", name, status, text)
		}
	}
	var at sync.WaitGroup
	got := make([]string, 4)
	for i := range got {
		at.Go(func() {
			status, text := start("key", map[string]string{"prompt": s.Prompt, "cwd": w.Cwd, "name": "--from the page"})
			got[i] = fmt.Sprint(status, " ", parse[runView](t, text).ID)
		})
	}
	at.Wait()
	run := w.ps()
	slices.Sort(got)
	if want := []string{"200 " + run.ID, "200 " + run.ID, "200 " + run.ID, "201 " + run.ID}; !slices.Equal(got, want) {
		t.Errorf("four calls with one key get %q", got)
	}
	if status, text := start("key", map[string]string{"prompt": "another", "cwd": w.Cwd}); status != 422 ||
		!strings.Contains(text, "another request") {
		t.Errorf("another request with that key gets %d %s", status, text)
	}
	if status, text := start("mended", map[string]string{"task": "bad.yaml", "cwd": w.Cwd}); status != 422 ||
		!strings.Contains(text, `"field":"task"`) {
		t.Errorf("a bad task file gets %d %s", status, text)
	}
	if run.Agents[0].Task != strings.TrimSpace(s.Prompt) {
		t.Errorf("its task is %q", run.Agents[0].Task)
	}
	w.must("stop", run.ID)
	status, text := start("mended", map[string]string{"task": "task.yaml", "cwd": w.Cwd}) // a key that has started nothing
	if status != 201 {
		t.Fatalf("the task file gets %d %s", status, text)
	}
	w.must("stop", parse[runView](t, text).ID)
	w.configure("serve: {folders: [/no/such]}\n")
	if code, _, stderr := w.run("serve"); code != 2 || !strings.Contains(stderr, "serve.folders in ") ||
		strings.Contains(stderr, "--folder") {
		t.Errorf("a folder of the config that is not there: %d %s", code, stderr)
	}
}

// servesAsShown starts serve as its topic does, on this machine, and asks the page for what is open.
func servesAsShown(t *testing.T, command string) {
	w := newWorld(t)
	bin := t.TempDir()
	opened := filepath.Join(bin, "opened")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\ncat \"$1\" > "+opened+".new && mv "+
		opened+".new "+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "PATH="+bin+":"+filepath.Dir(program)+":/usr/bin:/bin")
	client := &http.Client{}
	if strings.Contains(command, "--tls-cert cert.pem") {
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: w.certificate()}}
	}
	flags := strings.Fields(strings.ReplaceAll(command, "192.168.1.5", "127.0.0.1"))[2:]
	p := w.serve(flags...)
	if status, text := p.sendBy(client, "GET", "/api/questions", ""); status != 200 || text != "[]\n" {
		t.Errorf("the page says %d %s", status, text)
	}
	if strings.Contains(command, "--open") {
		waitFor(t, opened)
		if text, err := os.ReadFile(opened); err != nil || !strings.Contains(string(text), p.address) {
			t.Errorf("the browser is given %s (%v)", text, err)
		}
	}
}

// certificate makes cert.pem and key.pem for this machine, and gives who trusts it.
func (w *world) certificate() *x509.CertPool {
	w.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(w.t, err)
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	made, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	noError(w.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	noError(w.t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	w.put("cert.pem", string(cert))
	w.put("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// asksThePage runs a request of a topic while a run asks.
func asksThePage(t *testing.T, command string) {
	w := newWorld(t)
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	w.must("wait", "--question", run)
	q := w.questions()[0]
	p := w.serve("--listen", "127.0.0.1:0")
	shell := exec.Command("sh", "-c",
		strings.NewReplacer("http://127.0.0.1:7433", p.address, "q-7kq2mx", q.ID, "curl ", "curl -sS ").Replace(command))
	shell.Env = append(w.Env, "TOKEN="+p.token)
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"id":"`+q.ID+`"`) {
		t.Fatalf("it says %s (%v)", out, err)
	}
	if !strings.Contains(command, " -d ") {
		w.must("answer", q.ID, "1")
	}
	w.must("wait", run)
}

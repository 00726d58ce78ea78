package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/machine"
)

// An ntfyServer keeps to what ntfy documents of publishing as JSON, and keeps what it was sent.
type ntfyServer struct {
	*httptest.Server
	published chan ntfyMessage
}

type ntfyMessage struct {
	Topic, Title, Message, Click string
	Priority                     int
	Tags                         []string
	Actions                      []ntfyAction
	SequenceID                   string `json:"sequence_id"`
}

type ntfyAction struct {
	Action, Label, URL, Method, Body string
	Headers                          map[string]string
	Clear                            bool
}

const (
	ntfyTopic = "questions_1"
	ntfyToken = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
)

// next waits for what is published next.
func (n *ntfyServer) next(t *testing.T) ntfyMessage {
	t.Helper()
	select {
	case m := <-n.published:
		return m
	case <-time.After(screenPatience):
		t.Fatal("nothing more is published")
		panic("unreachable")
	}
}

func newNtfyServer(t *testing.T) *ntfyServer {
	t.Helper()
	n := &ntfyServer{published: make(chan ntfyMessage, 100)}
	named := regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m ntfyMessage
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 2*4096))
		switch {
		case err != nil || len(body) == 0 || json.Unmarshal(body, &m) != nil:
			http.Error(w, `{"code":40024}`, http.StatusBadRequest)
		case r.Header.Get("Authorization") != "Bearer "+ntfyToken:
			http.Error(w, `{"code":40301}`, http.StatusForbidden)
		case r.Method != http.MethodPost || r.URL.Path != "/" || !named.MatchString(m.Topic) || m.Priority < 0 ||
			m.Priority > 5 || len(m.Actions) > 3 || len(m.Message) > 4096 || len(m.Title) > 1024 || len(strings.Join(m.Tags, ",")) > 512 || !named.MatchString(m.SequenceID):
			http.Error(w, `{"code":400}`, http.StatusBadRequest)
		default:
			n.published <- m
			_, _ = io.WriteString(w, `{"id":"hwQ2YpKdmg","event":"message"}`)
		}
	}))
	t.Cleanup(n.Close)
	return n
}

// press presses a button, as the app does.
func (a ntfyAction) press(t *testing.T, change func(*http.Request)) (status int, text string) {
	t.Helper()
	r, err := http.NewRequest(a.Method, a.URL, strings.NewReader(a.Body))
	noError(t, err)
	for name, value := range a.Headers {
		r.Header.Set(name, value)
	}
	if change != nil {
		change(r)
	}
	reply, err := http.DefaultClient.Do(r)
	noError(t, err)
	defer func() { _ = reply.Body.Close() }()
	read, err := io.ReadAll(reply.Body)
	noError(t, err)
	return reply.StatusCode, string(read)
}

// configure writes the person's own config.
func (w *world) configure(text string) {
	w.t.Helper()
	dir := filepath.Join(w.Home, ".config", "claude-supervise")
	noError(w.t, os.MkdirAll(dir, 0o700))
	noError(w.t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600))
}

// withPhone has questions told by a server, with buttons that reach a page.
func (w *world) withPhone(n *ntfyServer, page, more string) {
	w.t.Helper()
	noError(w.t, os.WriteFile(filepath.Join(w.Home, "token"), []byte(ntfyToken+"\n"), 0o600))
	w.configure("serve: {url: " + page + "}\nnotify:\n  ntfy: {url: " + n.URL + "/" + ntfyTopic +
		", token_file: ~/token}\n" + more)
}

// It asks, the phone rings, a button is pressed, and it goes on; with the stand-in and with the real CLI.
func TestAQuestionIsAnsweredByAButtonOnThePhone(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]func(*world){
		"stand-in": func(w *world) { w.standIn(load(t, "ask")) },
		"real":     func(w *world) { w.real(load(t, "ask"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, n := newWorld(t), newNtfyServer(t)
			agent(w)
			page := w.serve("--listen", "127.0.0.1:0")
			w.withPhone(n, page.address, "")
			run := strings.TrimSpace(w.must(w.runArgs(load(t, "ask"), "--detach")...))
			asked := n.next(t)
			q := w.questions()[0]
			if asked.Topic != ntfyTopic || asked.SequenceID != q.ID || asked.Click != page.address+"/questions/"+q.ID ||
				!strings.Contains(asked.Message, q.Question) || len(asked.Actions) != 2 || asked.Actions[0].Label != "JWT" {
				t.Fatalf("published is %+v", asked)
			}
			wrong := asked.Actions[0]
			wrong.URL += "x"
			sends := func(method, body string) ntfyAction {
				return ntfyAction{Method: method, URL: asked.Actions[0].URL, Body: body}
			}
			host := func(r *http.Request) { r.Host = "evil.example.org" }
			origin := func(r *http.Request) { r.Header.Set("Origin", "https://evil.example.org") }
			for _, c := range []struct {
				what   string
				action ntfyAction
				change func(*http.Request)
				status int
			}{
				{"an address that is not the button's", wrong, nil, 404},
				{"another name of the host", asked.Actions[0], host, 421},
				{"a page elsewhere", asked.Actions[0], origin, 403},
				{"a button that is not there", sends("POST", `{"option":2}`), nil, 422},
				{"no button", sends("POST", `{}`), nil, 422},
				{"another answer", sends("POST", `{"value":"x"}`), nil, 400},
				{"a large body", sends("POST", strings.Repeat(" ", 1<<20)+"{}"), nil, 413},
				{"a look at it", sends("GET", ""), nil, 401},
			} {
				if status, text := c.action.press(t, c.change); status != c.status {
					t.Errorf("%s gets %d %s, want %d", c.what, status, text, c.status)
				}
			}
			if status, text := asked.Actions[0].press(t, nil); status != 200 {
				t.Fatalf("the button gets %d %s", status, text)
			}
			if code, _, stderr := w.run("wait", run); code != 0 {
				t.Fatalf("the run ends with %d\n%s", code, stderr)
			}
			if status, text := asked.Actions[1].press(t, nil); status != 410 {
				t.Errorf("a second press gets %d %s", status, text)
			}
			shown := w.must("show", q.ID)
			if !strings.Contains(shown, "JWT") || !strings.Contains(shown, "a button on the phone") {
				t.Errorf("the answer is\n%s", shown)
			}
			if closed := n.next(t); closed.SequenceID != q.ID || !strings.Contains(closed.Message, "JWT") ||
				len(closed.Actions) != 0 {
				t.Errorf("it is told as closed by %+v", closed)
			}
			if left := n.next(t); left.SequenceID != run || !strings.Contains(left.Title, "succeeded") {
				t.Errorf("the end is told by %+v", left)
			}
			button := asked.Actions[0].URL[strings.LastIndexByte(asked.Actions[0].URL, '.')+1:]
			for _, command := range [][]string{{"ps", "-a", "--json"}, {"show", run, "--json"}, {"logs", run, "--raw"},
				{"report", run}, {"doctor", "--report"}} {
				_, stdout, stderr := w.run(command...)
				for _, secret := range []string{ntfyToken, button} {
					if strings.Contains(stdout+stderr, secret) {
						t.Errorf("%q shows a secret", command)
					}
				}
			}
			w.keepsSecret(ntfyToken, button)
		})
	}
}

// keepsSecret looks for secrets in all files of the home but the person's own.
func (w *world) keepsSecret(secrets ...string) {
	w.t.Helper()
	err := filepath.WalkDir(filepath.Join(w.Home, ".local"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				w.t.Errorf("%s holds a secret", path)
			}
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

// Killed, the next supervisor tells what happened since, and not again what was told.
func TestAQuestionIsToldOnceThoughItsSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	w, n := newWorld(t), newNtfyServer(t)
	w.withPhone(n, "http://127.0.0.1:1", "")
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	asked := n.next(t)
	journal := filepath.Join(w.Home, ".local/state/claude-supervise/runs", run, "notices")
	waitForText(t, journal)
	noError(t, syscall.Kill(w.ps().SupervisorPID, syscall.SIGKILL))
	w.becomes("orphaned") // its lock goes with it
	w.must("answer", asked.SequenceID, "Sessions")
	w.must("resume", run)
	if closed := n.next(t); closed.SequenceID != asked.SequenceID || !strings.Contains(closed.Message, "Sessions") {
		t.Errorf("after the kill is told %+v", closed)
	}
	if left := n.next(t); left.SequenceID != run {
		t.Errorf("then %+v", left)
	}
	if len(n.published) != 0 {
		t.Errorf("and %+v", n.next(t))
	}
}

// Who wants them gathered has one notice of all that is open in all runs, in the place of the one before; killed, the
// next supervisor takes it back.
func TestNoticesAreGathered(t *testing.T) {
	t.Parallel()
	w, n := newWorld(t), newNtfyServer(t)
	w.withPhone(n, "http://127.0.0.1:1", "  gather: true\n")
	asks := func() (run, question string) {
		run = strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
		w.must("wait", "--question", run)
		for _, q := range w.questions() {
			if q.Run == run {
				question = q.ID
			}
		}
		return run, question
	}
	shows := func(titled, says string, loud bool) {
		t.Helper()
		m := n.next(t)
		if m.SequenceID != "questions" || !strings.Contains(m.Title, titled) || !strings.Contains(m.Message, says) ||
			(m.Priority > 1) != loud {
			t.Errorf("it is %+v", m)
		}
	}
	first, one := asks()
	shows("asks", one, true)
	second, other := asks()
	shows("2 questions of 2 runs", other+": ", true)
	w.must("answer", one, "JWT")
	shows("asks", other, false)
	if left := n.next(t); left.SequenceID != first {
		t.Errorf("then %+v", left)
	}
	waitUntil(t, "it is written down", func() bool {
		text, _ := os.ReadFile(filepath.Join(w.Home, ".local/state/claude-supervise/runs", second, "notices"))
		return strings.Contains(string(text), " questions.1.")
	})
	for _, r := range parse[[]runView](t, w.must("ps", "--json")) { // the one that has not ended
		noError(t, syscall.Kill(r.SupervisorPID, syscall.SIGKILL))
	}
	waitUntil(t, "its lock is gone", func() bool { return strings.Contains(w.must("ps"), "orphaned") })
	w.must("answer", other, "JWT")
	w.must("resume", second)
	shows("nothing is asked", "", false)
	if left := n.next(t); left.SequenceID != second || len(n.published) != 0 {
		t.Errorf("at last %+v", left)
	}
}

// What permits something has a button to deny it; one to allow it only where the person's config says so.
func TestAPhoneDeniesAndPermitsOnlyWhereThePersonLetsIt(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]string{"": "Deny", "  permissions: true\n": "Allow once Deny"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w, n := newWorld(t), newNtfyServer(t)
			page := w.serve("--listen", "127.0.0.1:0")
			w.withPhone(n, page.address, more)
			run := strings.TrimSpace(w.must("run", "--demo", "permission-edit", "--cwd", ".", "--detach"))
			asked := n.next(t)
			var labels []string
			for _, a := range asked.Actions {
				labels = append(labels, a.Label)
			}
			if got := strings.Join(labels, " "); got != want {
				t.Errorf("the buttons are %s", got)
			}
			last := asked.Actions[len(asked.Actions)-1]
			if status, text := last.press(t, nil); status != 200 {
				t.Errorf("deny gets %d %s", status, text)
			}
			w.run("wait", run)
			if shown := w.must("show", asked.SequenceID); !strings.Contains(shown, "deny") {
				t.Errorf("it is answered\n%s", shown)
			}
		})
	}
}

// A server that is dead costs the run nothing.
func TestADeadPhoneCostsNoAnswerAndNoTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_NOTIFY_URL=ntfy+http://127.0.0.1:1/topic_1",
		"CLAUDE_SUPERVISE_NTFY_TOKEN="+ntfyToken)
	code, _, stderr := w.run("run", "--demo", "ask")
	if code != 0 || !strings.Contains(stderr, "! ntfy (127.0.0.1:1): ") || strings.Contains(stderr, "topic_1") {
		t.Errorf("it exits %d, says\n%s", code, stderr)
	}
	w.keepsSecret(ntfyToken, "topic_1")
	for given, want := range map[string]string{
		"ntfy://ntfy.sh":              "ends with its name",
		"ntfy+http://ntfy.sh/x":       "takes https beyond this machine",
		"https://me:pw@example.org/":  "takes no name or password",
		"gopher://x":                  "takes an address",
		"http://hooks.example.org/me": "takes https beyond this machine",
	} {
		code, _, stderr := w.run("run", "--demo", "ask", "--notify-url", given)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s exits %d, says\n%s", given, code, stderr)
		}
	}
}

// A run that is parked has no supervisor to remind of it: whoever looks next does, once, and if that is killed while it
// sends, whoever looks after it.
func TestWhoeverLooksRemindsOfAParkedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hangs, came := make(chan struct{}), make(chan string, 10)
	var reminders atomic.Int32
	phone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m ntfyMessage
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &m)
		came <- m.Title
		if strings.HasPrefix(m.Title, "Still waiting") && reminders.Add(1) == 1 {
			<-hangs
		}
	}))
	t.Cleanup(phone.Close)
	t.Cleanup(func() { close(hangs) }) // first
	w.configure("notify: {ntfy: {url: " + phone.URL + "/" + ntfyTopic + "}, remind: 5s}\n")
	_, question := w.park()
	if asked, left := <-came, <-came; !strings.Contains(asked, "asks") || !strings.Contains(left, "parked") {
		t.Errorf("it is told by %q and %q", asked, left)
	}
	for len(came) == 0 { // it is not due before
		w.must("ps")
		time.Sleep(100 * time.Millisecond)
	}
	if first := <-came; !strings.HasPrefix(first, "Still waiting") {
		t.Errorf("then it is told by %q", first)
	}
	for range 3 {
		w.must("questions") // it is on its way
	}
	for _, pid := range machine.With(machine.InHome(w.Home)) {
		noError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	w.must("ps")
	if second := <-came; !strings.HasPrefix(second, "Still waiting") {
		t.Errorf("after the kill it is told by %q", second)
	}
	waitUntil(t, "nobody tells any more", func() bool { return len(machine.With(machine.InHome(w.Home))) == 0 })
	for _, look := range [][]string{{"ps"}, {"questions"}, {"ps", "--json"}} {
		w.must(look...)
	}
	waitUntil(t, "nobody tells any more", func() bool { return len(machine.With(machine.InHome(w.Home))) == 0 })
	if len(came) > 0 {
		t.Errorf("%s is told again by %q", question, <-came)
	}
}

package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A hook is a receiver of webhooks that does to the nth request what it is told to, and keeps what it has taken.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	ids   []string      // of all requests, in their order
	taken []string      // of those that were replied to with success
	came  chan hookCall // each request once it was dealt with
}

type hookCall struct {
	id    string
	event event
}

const hookSecret = "whsec_c2VjcmV0IG9mIHRoZSBob29r"

// newHook makes a receiver. do replies to a request; its number counts from 1.
func newHook(t *testing.T, do func(w http.ResponseWriter, n int) (takes bool)) *hook {
	t.Helper()
	h := &hook{came: make(chan hookCall, 1000)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		id := r.Header.Get("webhook-id")
		mac := hmac.New(sha256.New, []byte("secret of the hook"))
		mac.Write([]byte(id + "." + r.Header.Get("webhook-timestamp") + "."))
		mac.Write(body)
		signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		var e event
		if err != nil || r.Header.Get("webhook-signature") != signature || json.Unmarshal(body, &e) != nil {
			t.Errorf("a request with %v: %s", r.Header, body)
		}
		h.mu.Lock()
		h.ids = append(h.ids, id)
		n := len(h.ids)
		h.mu.Unlock()
		defer func() { h.came <- hookCall{id, e} }()
		if do(w, n) {
			h.mu.Lock()
			h.taken = append(h.taken, id)
			h.mu.Unlock()
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// withHook has questions told by a receiver.
func (w *world) withHook(h *hook) {
	w.t.Helper()
	noError(w.t, os.WriteFile(filepath.Join(w.Home, "secret"), []byte(hookSecret+"\n"), 0o600))
	w.configure("notify:\n  webhook: {url: " + h.URL + "/hook, secret_file: ~/secret}\n")
}

// One that fails, then dies in the middle, then takes it: what is told of a question comes in its order, each once.
func TestAWebhookIsToldInOrderWhateverItsReceiverDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := newHook(t, func(w http.ResponseWriter, n int) bool {
		switch n {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable)
			return false
		case 2:
			panic(http.ErrAbortHandler) // it hangs up
		}
		return true
	})
	w.withHook(h)
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	var asked hookCall
	for range 3 {
		asked = <-h.came
	}
	q := w.questions()[0]
	if asked.event.Type != "question" || asked.event.Question.ID != q.ID || asked.event.Run != run {
		t.Errorf("asked is told by %+v", asked)
	}
	w.must("answer", q.ID, "JWT")
	closed, left := <-h.came, <-h.came
	if closed.event.Type != "answered" || closed.event.Question.Answer == nil || left.event.Type != "run_done" {
		t.Errorf("after it come %+v and %+v", closed, left)
	}
	w.must("wait", run)
	want := []string{q.ID + ".asked", q.ID + ".closed", run + ".left.1"}
	if !slices.Equal(h.taken, want) || !slices.Equal(h.ids, append([]string{want[0], want[0]}, want...)) {
		t.Errorf("told are %v, taken %v", h.ids, h.taken)
	}
	w.keepsSecret(strings.TrimPrefix(hookSecret, "whsec_"), "secret of the hook")
}

// The supervisor is killed while its receiver fails: the next one tells it, once.
func TestAWebhookIsToldOnceThoughItsSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mended := make(chan struct{})
	h := newHook(t, func(w http.ResponseWriter, _ int) bool {
		select {
		case <-mended:
			return true
		default:
			w.WriteHeader(http.StatusInternalServerError)
			return false
		}
	})
	w.withHook(h)
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	asked := <-h.came
	noError(t, syscall.Kill(w.ps().SupervisorPID, syscall.SIGKILL))
	for w.ps().Status != "orphaned" { // its lock goes with it; each look is a process of its own
	}
	close(mended)
	resumed := w.start("resume", run, "--on-question", "ask")
	for taken := false; !taken; {
		select {
		case <-h.came:
		case <-resumed.ended:
			t.Fatalf("the resumed run ends:\n%s", resumed.stderr.String())
		}
		h.mu.Lock()
		taken = slices.Contains(h.taken, asked.id)
		h.mu.Unlock()
	}
	w.must("answer", strings.TrimSuffix(asked.id, ".asked"), "JWT")
	w.ends(resumed, 0)
	closed := strings.TrimSuffix(asked.id, "asked") + "closed"
	if want := []string{asked.id, closed, run + ".left.2"}; !slices.Equal(h.taken, want) {
		t.Errorf("taken is %v, want %v", h.taken, want)
	}
}

// One that never replies keeps neither stop nor the end of a run: both come while it still hangs.
func TestAWebhookThatHangsKeepsNothing(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(w *world, run string){
		"stop":   func(w *world, run string) { w.must("stop", run) },
		"answer": func(w *world, _ string) { w.must("answer", w.questions()[0].ID, "JWT") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			begun, over := make(chan struct{}, 100), make(chan struct{})
			h := newHook(t, func(http.ResponseWriter, int) bool { begun <- struct{}{}; <-over; return false })
			t.Cleanup(func() { close(over) }) // before the server is closed, which waits for it
			w.withHook(h)
			run := w.start("run", "--demo", "ask", "--on-question", "ask")
			<-begun
			ends(w, run.until("question").Question.Run)
			run.wait() // it ends though the receiver has not
		})
	}
}

package notify

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A request as a receiver sees it.
type request struct {
	path   string
	header http.Header
	body   string
}

// receives returns a server that replies with a status, and what it is sent.
func receives(t *testing.T, reply http.HandlerFunc) (address string, sent chan request) {
	t.Helper()
	sent = make(chan request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- request{r.Method + " " + r.URL.Path, r.Header, string(body)}
		reply(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

func ok(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

func TestANtfyServerIsSentWhatItsDocumentationSays(t *testing.T) {
	address, sent := receives(t, ok)
	n, err := NewNtfy(address+"/base/my_topic", "tk_secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Send(t.Context(), Message{ID: "q-1.asked", About: "q-1", Title: "Asks <b>", Text: "Which?\nOne.",
		Priority: 5, Tags: []string{"question"}, Click: "https://desk/q-1",
		Buttons: []Button{{"JWT", "https://desk/api/answer/x", `{"option":0}`}}}); err != nil {
		t.Fatal(err)
	}
	got := <-sent
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"topic": "my_topic", "title": "Asks <b>", "message": "Which?\nOne.", "priority": 5.0,
		"tags": []any{"question"}, "click": "https://desk/q-1", "sequence_id": "q-1", "actions": []any{map[string]any{
			"action": "http", "label": "JWT", "url": "https://desk/api/answer/x", "method": "POST", "clear": true,
			"body": `{"option":0}`, "headers": map[string]any{"Content-Type": "application/json"}}}}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if got.path != "POST /base/" || got.header.Get("Authorization") != "Bearer tk_secret" {
		t.Errorf("sent is %s with %v", got.path, got.header)
	}
	for _, address := range []string{"https://ntfy.sh", "https://ntfy.sh/", "https://ntfy.sh/a b"} {
		if _, err := NewNtfy(address, ""); err == nil {
			t.Errorf("%s has a topic", address)
		}
	}
}

func TestAWebhookIsSignedWithItsTimeAsStandardWebhooksAre(t *testing.T) {
	address, sent := receives(t, ok)
	for secret, key := range map[string]string{"whsec_" + base64.StdEncoding.EncodeToString([]byte("key")): "key",
		"any text": "any text"} {
		w, err := NewWebhook(address+"/hook", secret)
		if err != nil {
			t.Fatal(err)
		}
		w.now = func() time.Time { return time.Unix(1700000000, 0) }
		if err := w.Send(t.Context(), Message{ID: "q-1.asked", Event: map[string]string{"type": "question"}}); err != nil {
			t.Fatal(err)
		}
		got := <-sent
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte("q-1.asked.1700000000." + `{"type":"question"}`))
		signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		if got.path != "POST /hook" || got.body != `{"type":"question"}` ||
			got.header.Get("webhook-signature") != signature || got.header.Get("webhook-id") != "q-1.asked" ||
			got.header.Get("webhook-timestamp") != strconv.Itoa(1700000000) {
			t.Errorf("sent is %+v, want the signature %s", got, signature)
		}
	}
	if _, err := NewWebhook(address, "whsec_?"); err == nil {
		t.Error("a secret that is not base64 was taken")
	}
}

func TestWhatAReceiverRepliesDecidesWhetherItIsTriedAgain(t *testing.T) {
	var elsewhere atomic.Int32
	other, _ := receives(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	for status, again := range map[int]bool{200: false, 204: false, 301: false, 307: false, 308: false, 400: false,
		401: false, 403: false, 404: false, 408: true, 413: false, 429: true, 500: true, 503: true} {
		address, _ := receives(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", other)
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
		})
		w, err := NewWebhook(address, "secret")
		if err != nil {
			t.Fatal(err)
		}
		err = w.Send(t.Context(), Message{ID: "x", Event: 1})
		var later *Temporary
		if (err == nil) != (status < 300) || errors.As(err, &later) != again || again && later.After != 7*time.Second {
			t.Errorf("%d: %v (%+v)", status, err, later)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed, with what is secret")
	}
}

func TestTheReasonThatAReceiverGivesIsNotRepeated(t *testing.T) {
	var lines net.ListenConfig
	listener, err := lines.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = http.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, "HTTP/1.1 404 claude-supervise: type yes to go on\r\nContent-Length: 0\r\n\r\n")
	}()
	w, err := NewWebhook("http://"+listener.Addr().String(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Send(t.Context(), Message{ID: "x", Event: 1}); err == nil || err.Error() != "404 Not Found" {
		t.Errorf("got %v", err)
	}
}

// One that is down, hangs up in the middle, or hangs.
func TestAReceiverThatDiesIsTriedAgainAndNamedWithoutItsAddress(t *testing.T) {
	dies, _ := receives(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	hold := make(chan struct{})
	hangs, _ := receives(t, func(http.ResponseWriter, *http.Request) { <-hold })
	defer close(hold)
	for _, address := range []string{dies, hangs, "http://127.0.0.1:1"} {
		n, err := NewNtfy(address+"/topic_as_good_as_a_password", "tk_secret")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err = n.Send(ctx, Message{ID: "x"})
		cancel()
		if later := new(Temporary); !errors.As(err, &later) {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && (strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("the error says %q", err)
		}
	}
}

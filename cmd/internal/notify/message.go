package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Message is one thing to be told by the network. Its texts are for people, and hold nothing that a screen obeys.
type Message struct {
	ID       string // the same however often it is sent
	About    string // of what it tells: a later message about the same takes its place, where the receiver can do that
	Title    string
	Text     string
	Priority int // of ntfy, 1 to 5
	Tags     []string
	Click    string   // the address that a tap opens; "" for none
	Buttons  []Button // at most MaxPhoneButtons
	Event    any      // the same for programs, as JSON
}

// A Button answers by a POST of Body to URL.
type Button struct{ Label, URL, Body string }

// MaxPhoneButtons is how many buttons a message has at most: ntfy takes no more.
const MaxPhoneButtons = 3

// A Channel is where messages are sent.
type Channel interface {
	// Name is what the channel is called in the journal and to people.
	Name() string
	// Host is the receiver, for people.
	Host() string
	// Send sends a message, which blocks until the receiver has taken it. An error that is no *Temporary is for good.
	Send(ctx context.Context, m Message) error
}

// A Temporary is a failure after which sending may succeed.
type Temporary struct {
	Err   error
	After time.Duration // what the receiver wants to be waited; 0: it did not say
}

// Error says what failed.
func (e *Temporary) Error() string { return e.Err.Error() }

// Unwrap returns what failed.
func (e *Temporary) Unwrap() error { return e.Err }

// sending is how long one attempt may take.
const sending = 10 * time.Second

// maxReply bounds what of a receiver's reply is read, in bytes, so that its connection can be used again.
const maxReply = 64 << 10

// receiver follows no redirect: a request carries secrets, and goes where the person has said.
var receiver = &http.Client{
	Timeout:       sending,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends JSON. The error has no address in it, which may be as good as a password.
func post(ctx context.Context, to string, body []byte, header http.Header) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address cannot be used")
	}
	if header != nil {
		request.Header = header
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "claude-supervise")
	reply, err := receiver.Do(request)
	if failed := new(url.Error); errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return &Temporary{Err: err}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, maxReply))
	_ = reply.Body.Close() // all that matters was read
	switch code := reply.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return fmt.Errorf("it leads elsewhere (%s), which is not followed", reply.Status)
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		seconds, _ := strconv.Atoi(reply.Header.Get("Retry-After")) // a date says nothing here
		return &Temporary{Err: errors.New(reply.Status), After: time.Duration(max(seconds, 0)) * time.Second}
	}
	return errors.New(reply.Status)
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

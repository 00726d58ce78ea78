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
	"strings"
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

// The bounds of a message's texts, in bytes: of a longer one ntfy makes a file, and it refuses a title of more than
// 1 KiB (2.28); on a phone that would be cut long before.
const (
	MaxText  = 3500
	MaxTitle = 200
)

// A Network is a kind of receiver that a person can set up, under notify in their config.
type Network struct {
	Name       string // its key there, what it is called in the journal, and to people
	About      string // what it is, and what its URL is, for the schema of the config
	AboutURL   string
	Secret     string // the key of the file with its secret, beside the URL
	AboutFile  string
	Variable   string // of the environment: its secret itself
	Scheme     string // what --notify-url begins with where it names one such; "": an address as it is
	HasButtons bool   // a person reads it, and can press what a message offers
	Open       func(address, secret string) (Channel, error)
}

// Networks are the kinds of receivers that there are.
var Networks = []Network{ntfy, webhook}

// A Channel is one receiver.
type Channel interface {
	// Host is the receiver, for people.
	Host() string
	// Send sends a message, which blocks until the receiver has taken it. An error that is no *Temporary is for good.
	Send(ctx context.Context, m Message) error
}

// A Receiver is a channel with what is known of its kind.
type Receiver struct {
	Network
	Channel
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
	code := reply.StatusCode
	status := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code))) // in our words, not the receiver's
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return fmt.Errorf("it leads elsewhere (%s), which is not followed", status)
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		seconds, _ := strconv.Atoi(reply.Header.Get("Retry-After")) // a date says nothing here
		return &Temporary{Err: errors.New(status), After: time.Duration(max(seconds, 0)) * time.Second}
	}
	return errors.New(status)
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

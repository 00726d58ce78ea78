package notify

import (
	"claude-supervise/supervisor/text"

	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An Ntfy publishes to a topic of an ntfy server, as JSON (https://docs.ntfy.sh/publish/#publish-as-json).
type Ntfy struct {
	server, topic, host string
	token               string
}

var topicName = text.Lazily(`^[-_A-Za-z0-9]{1,64}$`)

// NewNtfy makes the channel of a topic's address, https://ntfy.sh/TOPIC; token is "" for a topic that needs none.
func NewNtfy(address, token string) (*Ntfy, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	at := strings.LastIndexByte(u.Path, '/')
	if at < 0 || !topicName().MatchString(u.Path[at+1:]) {
		return nil, fmt.Errorf("the address of an ntfy topic ends with its name: https://ntfy.sh/TOPIC")
	}
	server := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path[:at+1]}
	return &Ntfy{server: server.String(), topic: u.Path[at+1:], host: u.Host, token: token}, nil
}

// Name is ntfy.
func (n *Ntfy) Name() string { return "ntfy" }

// Host is the server's.
func (n *Ntfy) Host() string { return n.host }

// The bounds of a message, in bytes. A longer text becomes a file; a title of more than 1 KiB is refused (2.28), as for
// a phone it would be cut long before.
const (
	MaxNtfy      = 3500
	MaxNtfyTitle = 200
)

type ntfyMessage struct {
	Topic    string       `json:"topic"`
	Title    string       `json:"title"`
	Message  string       `json:"message"`
	Tags     []string     `json:"tags,omitempty"`
	Priority int          `json:"priority,omitempty"`
	Click    string       `json:"click,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
	// The same for all messages about one thing: the last takes the place of the others (2.16; before, it stands beside).
	Sequence string `json:"sequence_id,omitempty"`
}

type ntfyAction struct {
	Action  string            `json:"action"`
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Clear   bool              `json:"clear"` // the notification goes once the request has succeeded
}

// Send publishes a message.
func (n *Ntfy) Send(ctx context.Context, m Message) error {
	message := ntfyMessage{Topic: n.topic, Title: m.Title, Message: m.Text, Tags: m.Tags, Priority: m.Priority,
		Click: m.Click, Sequence: m.About}
	for _, b := range m.Buttons {
		message.Actions = append(message.Actions, ntfyAction{Action: "http", Label: b.Label, URL: b.URL,
			Method: http.MethodPost, Headers: map[string]string{"Content-Type": "application/json"}, Body: b.Body, Clear: true})
	}
	body, err := encoded(message)
	if err != nil {
		return err
	}
	header := http.Header{}
	if n.token != "" {
		header.Set("Authorization", "Bearer "+n.token)
	}
	return post(ctx, n.server, body, header)
}

package notify

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"claude-supervise/supervisor/text"
)

var ntfy = Network{Name: "ntfy", About: "A topic of an ntfy server.", AboutURL: "The topic: https://ntfy.sh/TOPIC.",
	Secret: "token_file", AboutFile: "A file that only you can read, with the access token.",
	Variable: "CLAUDE_SUPERVISE_NTFY_TOKEN", Scheme: "ntfy", HasButtons: true,
	Open: func(address, secret string) (Channel, error) { return NewNtfy(address, secret) }}

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

// Host is the server's.
func (n *Ntfy) Host() string { return n.host }

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

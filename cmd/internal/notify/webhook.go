package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

var webhook = Network{Name: "webhook", About: "An address that is sent JSON.",
	Secret: "secret_file", AboutFile: "A file that only you can read, with the key that signs what is sent.",
	Variable: "CLAUDE_SUPERVISE_WEBHOOK_SECRET",
	Open:     func(address, secret string) (Channel, error) { return NewWebhook(address, secret) }}

// A Webhook is sent each message's event as JSON, with the headers and the signature of Standard Webhooks
// (https://www.standardwebhooks.com): webhook-id, webhook-timestamp, and webhook-signature, an HMAC-SHA256 of both and
// the body.
type Webhook struct {
	url, host string
	key       []byte // nil: it is not signed
	now       func() time.Time
}

// secretMark begins a secret whose rest is base64.
const secretMark = "whsec_"

// NewWebhook makes the channel of an address. The secret is as such services give it, whsec_ and base64, or any text;
// "" signs nothing.
func NewWebhook(address, secret string) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	w := &Webhook{url: address, host: u.Host, now: time.Now}
	if encoded, marked := strings.CutPrefix(secret, secretMark); marked {
		if w.key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, fmt.Errorf("the secret of the webhook begins with %s and is not base64", secretMark)
		}
	} else if secret != "" {
		w.key = []byte(secret)
	}
	return w, nil
}

// Host is the receiver's.
func (w *Webhook) Host() string { return w.host }

// Send posts the event of a message.
func (w *Webhook) Send(ctx context.Context, m Message) error {
	body, err := encoded(m.Event)
	if err != nil {
		return err
	}
	at := strconv.FormatInt(w.now().Unix(), 10)
	header := http.Header{}
	header.Set("webhook-id", m.ID)
	header.Set("webhook-timestamp", at)
	if w.key != nil {
		mac := hmac.New(sha256.New, w.key)
		mac.Write([]byte(m.ID + "." + at + ".")) // which never fails
		mac.Write(body)
		header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return post(ctx, w.url, body, header)
}

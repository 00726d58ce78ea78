package standin

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// A request is a control request of ours that waits for its answer.
type request struct {
	id    string
	body  doc
	reply *incoming
}

// ask makes a control request.
func (a *agent) ask(body doc) *request {
	r := &request{id: uuid.NewString(), body: body}
	a.requests = append(a.requests, r)
	a.print(doc{"type": "control_request", "request_id": r.id, "request": body})
	return r
}

// request makes a control request and waits for its answer. The errors are those of wait, errRefused, and
// errStreamClosed when no answer can come any more.
func (c *conversation) request(body doc) (json.RawMessage, error) {
	if c.input == nil {
		return nil, errStreamClosed
	}
	return c.await(c.ask(body))
}

// await waits for the answer to a request.
func (c *conversation) await(r *request) (json.RawMessage, error) {
	defer c.forget(r)
	for r.reply == nil {
		if err := c.wait(); err != nil {
			return nil, err
		}
		if c.input == nil && r.reply == nil {
			if r.body["requires_user_interaction"] == true {
				c.print(doc{"type": "control_cancel_request", "request_id": r.id})
			}
			return nil, errStreamClosed
		}
	}
	if r.reply.Response.Subtype == "error" {
		return nil, fmt.Errorf("%w: %s", errRefused, r.reply.Response.Error)
	}
	return r.reply.Response.Response, nil
}

func (a *agent) forget(r *request) {
	a.requests = slices.DeleteFunc(a.requests, func(other *request) bool { return other == r })
}

// cancelRequests withdraws what is asked: an interrupt has made it pointless.
func (a *agent) cancelRequests() {
	for _, r := range a.requests {
		switch r.body["subtype"] {
		case "mcp_message", "elicitation":
			continue // the protocol inside tells the one, its call the other
		}
		a.print(doc{"type": "control_cancel_request", "request_id": r.id})
	}
}

// Package messagesapi is a Messages API on loopback whose model is a scenario of package examples. Point the real CLI
// at it (ANTHROPIC_BASE_URL) and it plays the scenario, without account or network.
//
// Use it in tests. It knows as much of the API as Claude Code 2.1.332 needs: POST /v1/messages, streamed or not, and
// count_tokens. It checks no key and no version, refuses calls that are without their results (pairs.go), and bills
// what the scenario says. A test that wants something to happen while an agent waits for the model holds the reply in
// onRequest.
package messagesapi

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"claude-supervise/examples"
)

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 64 << 20

// A Request is one that the CLI made, and what it got.
type Request struct {
	// Side requests are not part of the conversation, and get any text: titles and summaries, which have no tools, and
	// those of a compaction, whose summary is without anything that was said.
	Side         bool
	Agent        string // the id of the agent whose conversation it is, "" if nothing in it tells
	Conversation []examples.Message
	Reply        examples.Reply
	Headers      http.Header

	Body []byte // as it came; onRequest alone is given it
}

// API answers the requests of any number of agents that play one scenario. It is an http.Handler.
type API struct {
	URL string // where it listens, if Serve made it

	server    *httptest.Server
	onRequest func(Request)
	mux       *http.ServeMux
	closed    chan struct{}
	close     sync.Once

	mu       sync.Mutex
	scenario examples.Scenario // what is left of it: a usage limit that has passed is none any more
	limit    *examples.APIError
	until    time.Time // when limit has passed
	requests []Request
}

// New makes the API. onRequest, unless nil, is called with each request that is not a side request before it is
// answered, from the request's own goroutine; the answer waits for it to return.
func New(s examples.Scenario, onRequest func(Request)) *API {
	if onRequest == nil {
		onRequest = func(Request) {}
	}
	a := &API{scenario: s, onRequest: onRequest, mux: http.NewServeMux(), closed: make(chan struct{})}
	a.mux.HandleFunc("POST /v1/messages", a.messages)
	a.mux.HandleFunc("POST /v1/messages/count_tokens", countTokens)
	return a
}

// Serve makes the API as New does, and has it listen until Close.
func Serve(s examples.Scenario, onRequest func(Request)) *API {
	a := New(s, onRequest)
	a.server = httptest.NewServer(a)
	a.URL = a.server.URL
	return a
}

// ServeHTTP implements http.Handler. A reply that is a hang or a crash keeps its request open until the client leaves
// or Close.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// Close lets go of the requests that hang, and ends what Serve began. Those that hang later are let go at once.
func (a *API) Close() {
	a.close.Do(func() {
		close(a.closed)
		if a.server != nil {
			a.server.Close()
		}
	})
}

// Requests returns the requests so far, side requests included, in the order in which they came.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// Received reports whether a user message with this text has reached the model.
func (a *API) Received(text string) bool {
	return slices.ContainsFunc(a.Requests(), func(r Request) bool {
		return slices.ContainsFunc(r.Conversation, func(m examples.Message) bool {
			return m.Role == examples.User &&
				slices.ContainsFunc(m.Texts, func(t string) bool { return strings.Contains(t, text) })
		})
	})
}

func (a *API) messages(w http.ResponseWriter, r *http.Request) {
	var body requestBody
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err := cmp.Or(err, json.Unmarshal(data, &body)); err != nil {
		fail(w, examples.APIError{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	if problem := body.unpaired(); problem != "" {
		fail(w, examples.APIError{Status: http.StatusBadRequest, Message: problem})
		return
	}
	req := Request{Side: len(body.Tools) == 0 || body.compacts(), Conversation: body.conversation(),
		Headers: r.Header.Clone()}
	req.Agent = examples.Agent(req.Conversation)
	a.mu.Lock()
	if req.Side {
		req.Reply = examples.Reply{Text: "Scripted"}
	} else {
		req.Reply = body.named(a.next(req.Conversation, time.Now()))
	}
	a.requests = append(a.requests, req)
	a.mu.Unlock()
	if !req.Side {
		req.Body = data
		a.onRequest(req)
	}
	switch {
	case req.Reply.APIError != nil:
		fail(w, *req.Reply.APIError)
	case req.Reply.Hang || req.Reply.Crash != 0:
		select {
		case <-r.Context().Done():
		case <-a.closed:
			fail(w, examples.APIError{Status: http.StatusServiceUnavailable, Message: "the scripted API is closed"})
		}
	case body.Stream:
		sendStream(w, newMessage(body.Model, req.Reply))
	default:
		reply(w, http.StatusOK, newMessage(body.Model, req.Reply))
	}
}

// next is what the account of all agents gets now: what the scenario says, or the usage limit that they have reached.
func (a *API) next(conversation []examples.Message, now time.Time) examples.Reply {
	if a.limit != nil && !now.Before(a.until) {
		a.limit, a.scenario = nil, a.scenario.Lifted()
	}
	if a.limit == nil {
		reply := a.scenario.Next(conversation)
		if reply.APIError == nil || reply.APIError.Lasts == 0 {
			return reply
		}
		a.until = reply.APIError.Passes(now)
		a.limit = new(reply.APIError.Until(a.until))
	}
	return examples.Reply{APIError: a.limit}
}

func countTokens(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]int{"input_tokens": examples.Reply{}.Billed().Input})
}

// fail answers as the API does when it fails.
func fail(w http.ResponseWriter, e examples.APIError) {
	reply(w, e.Status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": e.Type(), "message": e.Message},
	})
}

// reply writes a document. A client that has gone cannot be told so: the error of writing is of no use to anyone.
func reply(w http.ResponseWriter, status int, doc any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

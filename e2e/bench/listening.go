package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// A listening is a scripted Messages API for one agent, and what it has received of it.
type listening struct {
	url      string
	requests chan request // of the conversation, in their order
	replied  atomic.Int64 // when the newest reply was about to be written
	close    func()
}

// A request is what the agent asked of the model at one time.
type request struct {
	came     int64
	size     int // of the body, in bytes
	messages int
	pieces   []string // tools, system prompt and messages: the order in which the API's cache compares them
}

// receivedMost is how many requests may wait to be looked at.
const receivedMost = 1 << 12

func listen(s examples.Scenario) *listening {
	l := &listening{requests: make(chan request, receivedMost)}
	api := messagesapi.New(s, func(messagesapi.Request) { l.replied.Store(clock()) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if received, ok := parseRequest(body); ok && r.URL.Path == "/v1/messages" {
			l.requests <- received
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		api.ServeHTTP(w, r)
	}))
	l.url, l.close = server.URL, func() { api.Close(); server.Close() }
	return l
}

// cacheMark is where the CLI wants the cache to end: it moves on with each request, and is none of the conversation.
var cacheMark = regexp.MustCompile(`,"cache_control":\{[^{}]*\}`)

// parseRequest reads a request. One without tools is a side request, such as for a title: ok is false.
func parseRequest(body []byte) (_ request, ok bool) {
	r := request{came: clock(), size: len(body)}
	var doc struct {
		Tools, System []json.RawMessage
		Messages      []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.Tools) == 0 {
		return r, false
	}
	for _, piece := range append(doc.Tools, doc.System...) {
		r.pieces = append(r.pieces, cacheMark.ReplaceAllString(string(piece), ""))
	}
	r.messages = len(doc.Messages)
	for _, m := range doc.Messages {
		content := m.Content
		if len(content) > 0 && content[0] == '"' { // a text may stand for the block that it is
			content = []byte(`[{"type":"text","text":` + string(content) + `}]`)
		}
		r.pieces = append(r.pieces, m.Role+cacheMark.ReplaceAllString(string(content), ""))
	}
	return r, true
}

// beyond returns how many bytes of a request the one before it did not begin with: what no cache can hold.
func (r request) beyond(before request) int {
	n, same := 0, true
	for i, piece := range r.pieces {
		same = same && i < len(before.pieces) && before.pieces[i] == piece
		if !same {
			n += len(piece)
		}
	}
	return n
}

package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"claude-supervise/procs/stream"
	words "claude-supervise/supervisor/text"
)

// Outcome is what a transcript says of a call.
type Outcome string

// The outcomes of a call.
const (
	None     Outcome = ""       // it has no result
	ByHook   Outcome = "hook"   // a hook has answered it
	ByScreen Outcome = "screen" // the person at the screen has, or it has come to an end without an answer
	Came     Outcome = "came"   // it has a result, of a release that does not say who has decided (2.1.7, 2.1.100)
)

// tail is how much of a transcript is read to find a call that was just made, in bytes: it may be gigabytes long.
const tail = 4 << 20

// A call is one in a transcript.
type call struct {
	id, line string
	version  string // of the claude that made it
	name     string
	input    json.RawMessage
	outcome  Outcome
	came     time.Time // its result
	later    bool      // that was not there at the first look
	left     bool      // the conversation has gone on without its result
}

// A reading follows a transcript as it grows.
type reading struct {
	path  string
	at    int64
	cut   bool // what is before was not read
	again bool // it was looked at before
	says  bool // its results say who has decided
	calls []*call
}

// more reads what was written since. That there is no file yet is no error.
func (r *reading) more() error {
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrInvalid)
	}
	if r.at > info.Size() { // it was written anew
		r.at, r.calls = 0, nil
	}
	skipped := false
	if from := info.Size() - tail; r.at < from {
		r.at, r.cut, skipped = from, true, true
	}
	data, err := io.ReadAll(io.NewSectionReader(f, r.at, info.Size()-r.at))
	if err != nil {
		return err
	}
	if skipped {
		begin := bytes.IndexByte(data, '\n') + 1
		r.at, data = r.at+int64(begin), data[begin:]
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	r.at += int64(end)
	for line := range bytes.Lines(data[:end]) {
		r.read(line)
	}
	r.again = true
	return nil
}

// A line of a transcript of a session.
type line struct {
	stream.Line
	Cwd      string `json:"cwd"`
	Version  string `json:"version"`
	Decision struct {
		Source string `json:"source"`
	} `json:"permissionDecision"` // of the one result that it has
}

func (r *reading) read(text []byte) {
	var l line
	if !stream.Decode(text, &l) || l.Type != "assistant" && l.Type != "user" {
		return
	}
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_use":
			r.calls = append(r.calls, &call{id: b.ID, line: l.UUID, version: l.Version, name: b.Name, input: b.Input})
		case "text":
			if l.Type == "user" && !l.Meta { // who says something does not wait for the calls before it
				for _, c := range r.calls {
					c.left = true
				}
			}
		case "tool_result":
			r.says = r.says || l.Decision.Source != ""
			for _, c := range r.calls {
				if c.id != b.ToolUseID {
					continue
				}
				c.came, _ = time.Parse(time.RFC3339Nano, l.Timestamp) // zero: an age ago
				c.later = r.again
				switch c.outcome = ByScreen; l.Decision.Source {
				case "hook":
					c.outcome = ByHook
				case "":
					c.outcome = Came
				}
			}
		}
	}
}

// find returns the call that a hook was asked about at a time: the last of this tool and input that nobody else is
// asked about, else the last of the tool; nil: the transcript does not have it yet. It has had no result then. It may
// have one by now: claude writes late, and the screen may have answered before. Of another input that is no reason.
func (r *reading) find(name string, input json.RawMessage, asked time.Time, taken func(id string) bool) *call {
	var near, exact *call
	for _, c := range r.calls {
		same := sameJSON(c.input, input)
		before := c.outcome != None && (!c.later || !same) && c.came.Before(asked)
		if c.name != name || before || taken(c.id) {
			continue
		}
		if near = c; same {
			exact = c
		}
	}
	if exact != nil {
		return exact
	}
	return near
}

// pending reports whether a call is known, and has no result.
func (r *reading) pending(id string) bool {
	return slices.ContainsFunc(r.calls, func(c *call) bool { return c.id == id && c.outcome == None })
}

// outcome reads in the transcript what became of the call, by its id or, where that is not known, by its tool and
// input. A conversation that has gone on without it, or is not there any more, waits for no answer.
func (a *Ask) outcome() Outcome {
	if a.Server != "" {
		return ByHook // no call of the conversation is its: what the screen did with it nothing says
	}
	r := reading{path: a.conversation()}
	if info, err := os.Stat(r.path); err != nil || info.Size() == 0 || r.more() != nil {
		return ByScreen
	}
	var found *call
	for _, c := range r.calls {
		if c.id == a.Call || a.Call == "" && c.name == a.Tool && sameJSON(c.input, a.Input) {
			found = c
		}
	}
	switch {
	case found != nil && found.outcome == Came && r.says:
		return ByScreen
	case found != nil && found.left:
		return cmp.Or(found.outcome, ByScreen)
	case found != nil:
		return found.outcome
	case r.cut: // it lies far behind
		return ByScreen
	}
	return None
}

// An Opening is how a conversation began, with which another process takes it up.
type Opening struct {
	Prompt string // the first of the person's; never ""
	Folder string // that claude was started in
}

const (
	head      = 1 << 20 // how much of a transcript is read for how it began, in bytes
	maxPrompt = 4 << 10 // bytes
)

// Opening reads how the conversation of an ask began. The error says why that cannot be told.
func (a *Ask) Opening() (o Opening, err error) {
	f, err := os.Open(a.Transcript)
	if err != nil {
		return o, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, head))
	if err != nil {
		return o, err
	}
	for l := range bytes.Lines(text) {
		var is line
		if !stream.Decode(l, &is) {
			continue
		}
		o.Folder = cmp.Or(o.Folder, is.Cwd)
		if is.Type != "user" || is.Meta || o.Prompt != "" {
			continue
		}
		for _, b := range is.Message.Content {
			if b.Type == "text" {
				o.Prompt = b.Text
			}
		}
	}
	if o.Folder == "" {
		return o, errors.New("its transcript does not say in which folder it began")
	}
	o.Prompt = cmp.Or(shorten(o.Prompt), "Go on with what the conversation has begun.")
	return o, nil
}

func shorten(prompt string) string { return words.Truncate(strings.TrimSpace(prompt), maxPrompt) }

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var one, other any
	return json.Unmarshal(a, &one) == nil && json.Unmarshal(b, &other) == nil && reflect.DeepEqual(one, other)
}

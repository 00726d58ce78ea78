package claude

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// SaidAfter gives what the conversation has after the user message with this uuid, a turn of its own or taken into one,
// as the handler of the process was given it or would have been: Text, ToolUse, ToolResult and Refused of the main
// conversation, and of its subagents what they have said since. That a subagent has come to its end is told by a result
// of the call that started it, an empty one before the conversation's own. Nothing, if the message is not there.
func SaidAfter(transcript, uuid string, each func(procs.Message)) error {
	paths, err := subagentsOf(transcript)
	if err != nil {
		return err
	}
	said := saidAfter{each: each, untold: map[string]toldIn{}}
	for _, path := range paths {
		sub := toldIn{subagentAt(path), path}
		sub.ToolUse = cmp.Or(sub.ToolUse, sub.ID)
		said.untold[sub.ToolUse] = sub
	}
	d := decoder{past: true}
	after := false
	err = scanLines(transcript, func(data []byte) bool {
		var l line
		if !after {
			after = bytes.Contains(data, []byte(uuid)) && stream.Decode(data, &l) && l.receives(uuid)
			said.since, _ = time.Parse(time.RFC3339, l.Timestamp) // without one nothing tells what subagents said since
			return false
		}
		if !stream.Decode(data, &l) || l.Sidechain { // a subagent's, in releases that keep them here
			return false
		}
		for _, m := range d.messages(&l) {
			said.by(m, "", "")
		}
		return false
	})
	if after && err == nil {
		for _, sub := range slices.SortedFunc(maps.Values(said.untold), func(a, b toldIn) int {
			return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.ToolUse, b.ToolUse))
		}) {
			said.bySubagent(sub.ToolUse)
		}
		err = said.err
	}
	return err
}

// A saidAfter hands on what a conversation has, what a subagent said before the result of its call.
type saidAfter struct {
	each   func(procs.Message)
	since  time.Time         // what subagents said before is left out
	untold map[string]toldIn // by the call that started each; of releases that do not keep that by the id
	err    error
}

// A toldIn is a subagent and its transcript.
type toldIn struct {
	procs.Subagent
	path string
}

// by hands on a message of the main conversation, or of a subagent.
func (s *saidAfter) by(m procs.Message, parent, agent string) {
	switch m := m.(type) {
	case procs.Text:
		m.Parent, m.Agent = parent, agent
		s.each(m)
	case procs.ToolUse:
		m.Parent, m.Agent = parent, agent
		s.each(m)
	case procs.ToolResult:
		s.bySubagent(m.ToolUse)
		m.Parent = parent
		s.each(m)
	case procs.Refused:
		if parent == "" {
			s.each(m)
		}
	}
}

// bySubagent hands on what the subagent that a call started has said, if that is not told yet.
func (s *saidAfter) bySubagent(call string) {
	sub, untold := s.untold[call]
	if !untold || s.since.IsZero() || s.err != nil {
		return
	}
	delete(s.untold, call)
	ended := false
	var d decoder
	err := scanLines(sub.path, func(data []byte) bool {
		var l line
		if !stream.Decode(data, &l) {
			return false
		}
		if at, err := time.Parse(time.RFC3339, l.Timestamp); err != nil || at.Before(s.since) {
			return false
		}
		if l.Message.Content != nil {
			ended = l.Type == "assistant" && l.Message.StopReason == "end_turn"
		}
		for _, m := range d.messages(&l) {
			s.by(m, call, sub.ID)
		}
		return false
	})
	s.err = cmp.Or(s.err, err)
	if ended {
		s.each(procs.ToolResult{ToolUse: call})
	}
}

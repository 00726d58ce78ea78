package signals

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"claude-supervise/procs/stream"
)

// This file reads conversations: the lines of claude's stream-json, of its transcripts, and of our own logs, which wrap
// the former as {"launch":1,"time":…,"line":…} and hold the output of other commands as lines of the type raw. Unknown
// types and members are ignored. What makes a turn, a message or an answer is what the supervisor takes for one while
// the agent runs.

// Bounds on what is read of a conversation.
const (
	maxResult = 64 << 10 // of what a call printed, in bytes
	maxCalls  = 100      // that have no result yet
)

// A lintLine is a line of a conversation, or of our log.
type lintLine struct {
	stream.Line
	Launch int          `json:"launch"`
	Logged *stream.Line `json:"line"`
}

// A call is one of a tool, without its result so far.
type call struct {
	command string // of Bash
	key     string // the fingerprint of the signal that the call is
}

// A conversation is the lint of one.
type conversation struct {
	*linter
	line   int             // of the file
	calls  map[string]call // by their ids, of this turn
	wrote  bool            // the main conversation had a text since the last result
	launch int             // of our log
}

// stream reads a conversation.
func (l *linter) stream(in io.Reader) error {
	c := &conversation{linter: l, calls: make(map[string]call)}
	err := eachStreamLine(in, func(n int, data []byte, whole bool) {
		c.line = n
		if !whole {
			c.problems(newProblem(n, "truncated", "a line of more than %d MiB is not read", stream.MaxLine>>20))
			return
		}
		c.take(data)
	})
	c.endTurn("")
	return err
}

// eachStreamLine hands over each line that is not blank with its number, cleaned. The bytes are good until each
// returns. Of a line that is too long only its beginning is given.
func eachStreamLine(r io.Reader, each func(n int, data []byte, whole bool)) error {
	lines := stream.NewLines(r, stream.MaxLine)
	for n := 1; ; n++ {
		line, whole, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line = stream.Clean(line); len(line) > 0 {
			each(n, line, whole)
		}
	}
}

func (c *conversation) take(data []byte) {
	var l lintLine
	if !stream.Decode(data, &l) {
		return // what a terminal or a shell has put between
	}
	if l.Launch == 0 {
		c.message(&l.Line)
		return
	}
	if l.Launch != c.launch { // the process before has ended, and with it its turn
		c.endTurn("")
		c.launch = l.Launch
	}
	if l.Logged != nil { // nil of stderr
		c.message(l.Logged)
	}
}

func (c *conversation) message(l *stream.Line) {
	src := Main
	if l.Parent != "" || l.Sidechain {
		src = Source(cmp.Or(l.Parent, l.AgentID, l.SideID, string(Subagent)))
	}
	if src != Main {
		c.scanner.Meet(cmp.Or(l.AgentID, l.SideID))
	}
	switch l.Type {
	case "raw":
		c.scanner.BeginMessage(Main, "raw")
		c.place(&c.scanner.main)
		c.read(c.scanner.Text(l.Text))
	case "assistant":
		if l.APIError || l.APIErrorInFile {
			return
		}
		for _, b := range l.Message.Content {
			switch b.Type {
			case "text":
				c.text(src, l.Message.ID, b.Text)
			case "tool_use":
				c.call(src, b)
			}
		}
	case "user":
		c.user(src, l)
	case "attachment":
		if src == Main && l.Attachment.Type == "queued_command" { // a message that was taken into a running turn
			c.endTurn("")
			clear(c.seen)
		}
	case "result":
		text := l.Result
		if c.wrote {
			text = "" // it repeats the last message
		}
		c.endTurn(text)
		c.wrote = false
	}
}

func (c *conversation) text(src Source, id, text string) {
	c.wrote = c.wrote || src == Main && strings.TrimSpace(text) != ""
	s := c.scanner
	s.BeginMessage(src, id)
	s.BeginBlock()
	c.place(s.machine(src))
	c.read(s.Text(text))
	c.read(s.EndBlock())
}

// user takes what was said to the agent: results of its calls, and messages.
func (c *conversation) user(src Source, l *stream.Line) {
	said := false
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_result":
			c.result(b)
		case "text":
			said = true
		}
	}
	if !said || src != Main || l.Synthetic || l.Meta {
		return
	}
	c.endTurn("")
	if l.Origin.Kind == "" || l.Origin.Kind == "human" { // a task that has ended answers nothing
		clear(c.seen)
	}
}

func (c *conversation) call(src Source, b stream.Block) {
	open := call{}
	var found []Signal
	if src == Main {
		found = c.here(c.scanner.ToolCall(b.Name, b.Input))
	} else {
		found = c.here(c.scanner.SubagentToolCall(src, b.Name, b.Input))
	}
	for _, sig := range found {
		open.key = sig.Fingerprint()
	}
	c.add(found)
	if src == Main {
		if b.Name == "Bash" {
			var in struct{ Command string }
			_ = json.Unmarshal(b.Input, &in) // a call without a command prints nothing that could count
			open.command = in.Command
		}
	}
	if f, ok := toolForm(b.Name, src); ok {
		sig, problems, ok := toolSignal(f, b.Name, b.Input)
		c.problems(c.on(problems)...)
		if ok {
			if sig.AgentID != "" && !c.scanner.isOwn(sig.AgentID) {
				sig.Foreign = true
				sig.problem(c.line, "foreign", "agent_id %s is not this agent's", sig.AgentID)
			}
			open.key = sig.Fingerprint()
			c.add(c.here([]Signal{sig}))
		}
	}
	if open != (call{}) && len(c.calls) < maxCalls && len(open.command) <= MaxBlock {
		c.calls[b.ID] = open
	}
}

// on places problems on the current line.
func (c *conversation) on(ps []Problem) []Problem {
	for i := range ps {
		ps[i].Line = c.line
	}
	return ps
}

func (c *conversation) result(b stream.Block) {
	open, ok := c.calls[b.ToolUseID]
	if !ok {
		return
	}
	delete(c.calls, b.ToolUseID)
	delete(c.seen, open.key) // it was answered
	if open.command == "" {
		return
	}
	s := c.scanner
	s.begin()
	before := len(s.bash)
	found := s.Bash(open.command, bounded(b.Content.Text(), maxResult), b.IsError)
	for i := range s.bash[before:] { // to be read at the end of the turn
		sig := &s.bash[before+i]
		sig.Line, sig.EndLine = c.line*inLine, c.line*inLine
		for j := range sig.Problems {
			sig.Problems[j].Line = sig.Line
		}
	}
	c.add(c.here(found))
}

// here places signals that are not of a message on the current line.
func (c *conversation) here(sigs []Signal) []Signal {
	for i := range sigs {
		s := &sigs[i]
		s.Line, s.EndLine, s.Problems = c.line, c.line, c.on(s.Problems)
	}
	return sigs
}

func (c *conversation) endTurn(result string) {
	c.scanner.begin()
	c.place(&c.scanner.main)
	c.read(c.scanner.EndTurn(result))
	problems := c.scanner.problems()
	for i := range problems {
		problems[i].Line = c.at(problems[i].Line)
	}
	c.problems(problems...)
	clear(c.calls)
}

// The scanner numbers the lines of what it is fed. So that these numbers tell the line of the file, a message begins at
// that line's number times inLine.
const inLine = 1 << (bits.UintSize / 2)

func (c *conversation) place(m *machine) { m.n = max(m.n, c.line*inLine) }

func (c *conversation) at(n int) int {
	if n < inLine {
		return c.line // within the result of a call
	}
	return n / inLine
}

// read takes signals from the scanner.
func (c *conversation) read(sigs []Signal) {
	for i := range sigs {
		s := &sigs[i]
		end := s.EndLine
		s.Line, s.EndLine = c.at(s.Line), c.at(end)
		for j := range s.Problems {
			p := &s.Problems[j]
			p.Line = c.at(p.Line)
			// the end of what is not closed
			p.Message = strings.ReplaceAll(p.Message, strconv.Itoa(end), strconv.Itoa(s.EndLine))
		}
	}
	c.add(sigs)
}

// LastMessage returns the text of the assistant's last message in a conversation, "" if it has said nothing since a
// person spoke. Files are read as they come.
func LastMessage(r io.Reader) (text string, err error) {
	id := ""
	err = eachStreamLine(r, func(_ int, data []byte, whole bool) {
		var l stream.Line
		if !whole || !stream.Decode(data, &l) || l.Parent != "" || l.Sidechain {
			return
		}
		said := l.Message.Content.Text()
		switch {
		case said == "":
		case l.Type == "user" && !l.Synthetic && !l.Meta:
			text, id = "", ""
		case l.Type != "assistant":
		case id != "" && l.Message.ID == id:
			text += "\n" + said
		default:
			text, id = said, l.Message.ID
		}
	})
	return text, err
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"github.com/google/uuid"

	"claude-supervise/signals"
)

// A bare agent is the real CLI with nobody around it: driven over its streams by the least that there can be.
type bare struct {
	home
	way     way
	path    string
	outfit  outfit
	session string

	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines chan line    // closed at the end of the process's output
	said  bytes.Buffer // on stderr
	call  line         // the one that waits
}

// A line is what matters of a line that the CLI prints.
type line struct {
	Type      string
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string
		Message struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name            string
				ProtocolVersion string `json:"protocolVersion"`
			}
		}
	}
	read int64
	err  error // of serving it
}

// asks reports whether it is a call that waits for a person.
func (l line) asks() bool {
	return l.Request.Message.Method == "tools/call" && l.Request.Message.Params.Name == "ask_user"
}

// start starts the process: with the task, or with a conversation that is gone on with.
func (b *bare) start(ctx context.Context, prompt string, session ...string) (err error) {
	b.cmd = b.command(ctx, b.path, b.outfit.args(session...)...)
	b.cmd.Stderr = &b.said
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return err
	}
	if b.out, err = b.begin(b.outfit.terminal); err != nil {
		return err
	}
	b.lines = make(chan line, receivedMost)
	go b.read(b.out, b.lines) // not waited for: it ends with the process, and closes lines
	request := map[string]any{"type": "control_request", "request_id": "init", "request": b.outfit.initialize()}
	if err := b.say(request); err != nil {
		return err
	}
	return b.prompt(prompt)
}

func (b *bare) say(doc map[string]any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(text, '\n'))
	return err
}

func (b *bare) prompt(text string) error {
	return b.say(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

// read passes the lines on, and serves the tools meanwhile: before it has them, the CLI asks the model nothing.
func (b *bare) read(out io.Reader, lines chan<- line) {
	defer close(lines)
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		l := line{read: clock()}
		if json.Unmarshal(text, &l) != nil {
			continue // what a terminal is told
		}
		if !l.asks() {
			l.err = b.serve(l)
		}
		lines <- l
	}
}

// until takes the lines up to a wanted one.
func (b *bare) until(wanted func(line) bool) (line, error) {
	for l := range b.lines {
		if l.err != nil || wanted(l) {
			return l, l.err
		}
	}
	return line{}, fmt.Errorf("the bare agent ended too early: %w: %s", b.cmd.Wait(), &b.said)
}

func isResult(l line) bool { return l.Type == "result" }

// serve answers what a server of tools is asked before it is called, and the hooks, which want nothing.
func (b *bare) serve(l line) error {
	if l.Request.Subtype == "hook_callback" {
		return b.respond(l, map[string]any{})
	}
	var result any
	switch m := l.Request.Message; m.Method {
	case "":
		return nil
	case "initialize":
		result = map[string]any{
			"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "supervise", "version": "1"},
		}
	case "tools/list":
		var tools []any
		for _, t := range signals.Tools() {
			tools = append(tools, map[string]any{
				"name": t.Name, "description": t.Description, "inputSchema": t.Schema,
				"_meta": map[string]any{"anthropic/alwaysLoad": true},
			})
		}
		result = map[string]any{"tools": tools}
	case "tools/call": // a report
		result = returned("noted")
	default: // a notification
		result = map[string]any{}
	}
	return b.reply(l, result)
}

func returned(text string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
}

func (b *bare) reply(l line, result any) error {
	return b.respond(l, map[string]any{"mcp_response": map[string]any{
		"jsonrpc": "2.0", "id": l.Request.Message.ID, "result": result,
	}})
}

func (b *bare) respond(l line, response map[string]any) error {
	return b.say(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": l.RequestID, "response": response,
	}})
}

// asks waits for the next question.
func (b *bare) asks(ctx context.Context) (at int64, err error) {
	if b.cmd == nil {
		b.session = uuid.NewString()
		if err := b.start(ctx, "## YOUR TASK\n\nYour agent id: "+bareID, "--session-id", b.session); err != nil {
			return 0, err
		}
	}
	if b.way.tool {
		b.call, err = b.until(line.asks)
		return b.call.read, err
	}
	said, err := b.until(func(l line) bool { return l.Type == "assistant" })
	if err != nil {
		return 0, err
	}
	_, err = b.until(isResult)
	return said.read, err
}

// settle ends the process where the way is to answer another one.
func (b *bare) settle() error {
	if b.way.hold != "0" {
		return nil
	}
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	for range b.lines { // up to its end
	}
	return ignoreExit(b.cmd.Wait())
}

// answer gives the answer to question i.
func (b *bare) answer(ctx context.Context, i int) error {
	prompt := "## CLARIFICATION RESPONSE\n\nQ1: " + questionText(i) + "\nA1: " + theAnswer
	switch {
	case b.way.hold == "0":
		return b.start(ctx, prompt, "--resume", b.session)
	case b.way.tool:
		return b.reply(b.call, returned(theAnswer))
	}
	return b.prompt(prompt)
}

// finish lets the agent come to its end.
func (b *bare) finish() error {
	if _, err := b.until(isResult); err != nil {
		return err
	}
	if err := b.in.Close(); err != nil {
		return err
	}
	for range b.lines { // the pipe must not fill
	}
	return ignoreExit(b.cmd.Wait())
}

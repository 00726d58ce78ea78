package standin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
)

// A program is how --mcp-config says that an MCP server is started.
type program struct {
	name    string
	Command string
	Args    []string
	Env     map[string]string
}

// A local server is a process that serves tools over its standard streams. What it serves it says when it is called.
type local struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	next  int   // id of the next request to it
	inbox []rpc // what it has said and no call has read
	over  bool
}

// An rpc is a line of a local server: a request of its own, or the answer to one of ours.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Message     string          `json:"message"`
		Schema      json.RawMessage `json:"requestedSchema"`
		Mode        string          `json:"mode"` // url: an address is to be opened, and there is no schema
		URL         string          `json:"url"`
		Elicitation string          `json:"elicitationId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// heard is a line of a local server, nil at its end.
type heard struct {
	from *local
	line []byte
}

// take reads a line. What is no message is passed over.
func (h heard) take() {
	var m rpc
	switch {
	case h.line == nil:
		h.from.over = true
	case json.Unmarshal(h.line, &m) == nil:
		h.from.inbox = append(h.from.inbox, m)
	}
}

// startLocals starts the local servers of the command line, once. One that fails serves nothing.
func (a *agent) startLocals() error {
	programs := a.opts.programs
	a.opts.programs = nil
	for _, p := range programs {
		s, err := a.startLocal(p)
		if err != nil {
			continue
		}
		a.locals = append(a.locals, s)
		if _, err := a.main.exchange(s, "initialize", doc{
			"protocolVersion": protocolVersion, "clientInfo": clientInfo,
			"capabilities": doc{"elicitation": doc{"form": doc{}, "url": doc{}}},
		}); unlessRefused(err) != nil {
			return err
		}
	}
	return nil
}

func (a *agent) startLocal(p program) (*local, error) {
	s := &local{name: p.name, cmd: exec.Command(p.Command, p.Args...)}
	s.cmd.Dir, s.cmd.Env = a.cwd, slices.Clone(a.env)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		s.cmd.Env = append(s.cmd.Env, name+"="+p.Env[name])
	}
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout = write
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	_ = write.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	// Not waited for: whatever the server leaves behind may keep its output open.
	go func() {
		defer func() { _ = out.Close() }()
		in := bufio.NewScanner(out)
		in.Buffer(nil, maxLine)
		for line := []byte{}; line != nil; {
			line = nil
			if in.Scan() {
				line = append([]byte{}, in.Bytes()...)
			}
			select {
			case a.heard <- heard{s, line}:
			case <-a.done:
				return
			}
		}
	}()
	return s, nil
}

// local finds the server of a tool by its name; nil if no process serves it.
func (a *agent) local(tool string) *local {
	of, _, _ := servedName(tool)
	if at := slices.IndexFunc(a.locals, func(s *local) bool { return s.name == of }); at >= 0 {
		return a.locals[at]
	}
	return nil
}

// say writes a message to the server. One that is gone is noticed by its end.
func (s *local) say(message doc) {
	message["jsonrpc"] = "2.0"
	_, _ = s.stdin.Write(append(encode(message), '\n'))
}

// end ends the server with the agent.
func (s *local) end() {
	_ = s.stdin.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// exchange makes a request of a server and waits for its result. What the server asks meanwhile the other side is
// asked. The errors are those of wait, and errRefused.
func (c *conversation) exchange(s *local, method string, params doc) (json.RawMessage, error) {
	id := s.next
	s.next++
	s.say(doc{"id": id, "method": method, "params": params})
	var asked *request // what the server waits for, until it is answered
	var askedID json.RawMessage
	withdraw := func() {
		if asked != nil {
			c.print(doc{"type": "control_cancel_request", "request_id": asked.id})
			c.forget(asked)
		}
	}
	for {
		switch {
		case asked != nil && (asked.reply != nil || c.input == nil):
			s.say(doc{"id": askedID, "result": asked.action()})
			c.forget(asked)
			asked = nil
		case len(s.inbox) > 0:
			m := s.inbox[0]
			s.inbox = s.inbox[1:]
			switch {
			case m.Method == "elicitation/create":
				askedID = m.ID
				ask := doc{"subtype": "elicitation", "mcp_server_name": s.name, "message": m.Params.Message, "mode": "form"}
				if m.Params.Mode == "url" {
					ask["mode"], ask["url"], ask["elicitation_id"] = m.Params.Mode, m.Params.URL, m.Params.Elicitation
				} else {
					ask["requested_schema"], ask["property_order"] = m.Params.Schema, propertyOrder(m.Params.Schema)
				}
				asked = c.ask(ask)
			case m.Method != "" || string(m.ID) != fmt.Sprint(id):
			case m.Error != nil:
				withdraw()
				return nil, fmt.Errorf("%w: %s", errRefused, m.Error.Message)
			default:
				withdraw() // it has gone on without an answer
				return m.Result, nil
			}
		case s.over:
			withdraw()
			return nil, fmt.Errorf("%w: %s", errRefused, "Connection closed")
		default:
			if err := c.wait(); err != nil {
				if errors.Is(err, errInterrupted) {
					withdraw()
				}
				return nil, err
			}
		}
	}
}

// action is what a server is answered: what the other side says, or that nobody decides.
func (r *request) action() any {
	if r.reply == nil || r.reply.Response.Subtype == "error" {
		return doc{"action": "cancel"}
	}
	return r.reply.Response.Response
}

// propertyOrder returns the names of a form's fields in the order in which they stand.
func propertyOrder(schema json.RawMessage) []string {
	var form struct{ Properties json.RawMessage }
	names := []string{}
	if json.Unmarshal(schema, &form) != nil {
		return names
	}
	d := json.NewDecoder(bytes.NewReader(form.Properties))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return names
	}
	for d.More() {
		name, err := d.Token()
		var field json.RawMessage
		if err != nil || d.Decode(&field) != nil {
			break
		}
		if name, ok := name.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// servedByProcess makes a call of a tool that a local server serves.
func (c *conversation) servedByProcess(made call) (result, error) {
	_, tool, _ := servedName(made.name)
	data, err := c.exchange(c.local(made.name), "tools/call", doc{"name": tool, "arguments": made.input,
		"_meta": doc{"claudecode/toolUseId": made.id}})
	return toolAnswer(data, err)
}

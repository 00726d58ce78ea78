package standin

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"claude-supervise/examples"
	"claude-supervise/procs/stream"
)

// An agent is one process with one conversation and those of its subagents. At any time one goroutine owns it: whatever
// waits, waits in wait, which takes in what comes meanwhile and lets the strands beside it go on.
type agent struct {
	scenario examples.Scenario
	opts     options
	cwd      string
	env      []string
	out      io.Writer
	broken   error // of writing to out

	input   <-chan []byte // nil once the input has ended
	signals <-chan os.Signal
	done    <-chan struct{}
	ended   chan *task

	main     *conversation
	answered map[string]bool // uuids that an earlier process has dealt with
	seen     map[string]bool // uuids that came to this one
	queue    []prompt
	tasks    []*task
	orphans  []orphan
	hooks    []string // ids of the Stop hooks
	calling  []hook   // those before a call
	compact  []hook   // those after a compaction
	server   *server  // nil until the other side has said that it serves tools
	locals   []*local // MCP servers that it has started
	heard    chan heard
	requests []*request

	strands   []*strand
	subagents []*subagent // those that work

	results int
	failed  bool // the last turn

	spent        spent
	spentBefore  spent     // the last result
	spentEarlier spent     // by processes before this one
	limitedSince time.Time // when a usage limit was first met; zero: never
}

// A prompt is a message to the model that waits for its turn: a person's, or of a background task that has ended.
type prompt struct {
	uuid, text string
	results    stream.Content // of calls that are open where the conversation is continued, in place of the text
	origin     doc            // nil for a person's
	silent     bool           // the model is not asked
}

var (
	errInterrupted  = errors.New("interrupted")
	errStreamClosed = errors.New("the stream is closed")
	errRefused      = errors.New("the request was refused")
	errDismissed    = errors.New("the process ends")
)

func newAgent(scenario examples.Scenario, opts options, cwd string, env []string, out io.Writer) *agent {
	a := &agent{
		scenario: scenario, opts: opts, cwd: cwd, env: env, out: out,
		ended: make(chan *task), heard: make(chan heard), answered: map[string]bool{}, seen: map[string]bool{},
	}
	a.main = newConversation(a)
	return a
}

// getenv returns the last value of a variable in the environment.
func (a *agent) getenv(name string) string {
	for _, kv := range slices.Backward(a.env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// open takes up the conversation.
func (a *agent) open() error {
	dir := projects(a.getenv)
	path := findTranscript(dir, a.opts.session)
	switch {
	case a.opts.session == "":
		a.opts.session = uuid.NewString()
	case a.opts.resume && path == "":
		return a.gone(a.opts.session)
	case !a.opts.resume && path != "":
		return complain("Error: Session ID %s is already in use.", a.opts.session)
	}
	if a.opts.mode == modePlan {
		system := &a.main.messages[0]
		system.Texts = append(system.Texts, "The plan goes into "+a.planFile())
	}
	own := filepath.Join(dir, munged(a.cwd), a.opts.session+".jsonl")
	switch {
	case a.opts.resume:
		a.main.transcript.path = path
	case a.opts.fork == "":
		a.main.transcript.path = own
		return nil
	default:
		if path = findTranscript(dir, a.opts.fork); path == "" {
			return a.gone(a.opts.fork)
		}
		head, err := forked(path, a.opts.session)
		if err != nil {
			return err
		}
		a.main.transcript = &transcript{path: own, head: head}
	}
	p, err := readTranscript(path)
	if err != nil {
		return err
	}
	if len(p.messages) == 0 { // nothing was said in it, or it is spoiled
		return a.gone(cmp.Or(a.opts.fork, a.opts.session))
	}
	if at := a.opts.at; at != "" {
		if _, known := p.cuts[at]; !known {
			return a.noPlace()
		}
		p.at(at)
		p.last = at
		a.main.open, p.open = p.open, nil
	}
	a.main.goOnFrom(p)
	a.answered, a.spent, a.spentBefore, a.spentEarlier = p.answered, p.spent, p.spent, p.spent
	a.limitedSince = p.limited
	if a.opts.resume { // what works in the background of another is the other's
		a.orphans = p.tasks
		a.tellOrphans()
	}
	return a.main.mend(p.open)
}

// gone tells that there is no such conversation to go on with.
func (a *agent) gone(session string) error {
	gone := complain("No conversation found with session ID: %s", session)
	if uuid.Validate(session) != nil {
		gone = complain(
			"Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume "+
				"<session-id|title>. "+
				"Provided value %q is not a UUID and does not match any session title.", session)
	}
	a.endUnbegun(gone.Error())
	return gone
}

// endUnbegun prints the result of a process that ends before its first turn.
func (a *agent) endUnbegun(why string) {
	a.message(doc{
		"type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0, "stop_reason": nil,
		"duration_ms": 0, "duration_api_ms": 0, "total_cost_usd": 0, "usage": spent{}.usage(), "modelUsage": doc{},
		"permission_denials": []doc{}, "result_index": 0, "errors": []string{why},
	})
}

// run plays until the process is to end: the error is an ending, or a failure of the stand-in itself.
func (a *agent) run() error {
	if err := a.startLocals(); err != nil {
		return err
	}
	for {
		if err := a.connect(); err != nil {
			return err
		}
		for len(a.queue) > 0 {
			next := a.queue[0]
			a.queue = a.queue[1:]
			// Of notifications that wait together the model is asked about once.
			next.silent = next.silent || next.origin != nil && len(a.queue) > 0 && a.queue[0].origin != nil
			if err := a.main.play(next); err != nil {
				return err
			}
		}
		switch {
		case a.broken != nil:
			return a.broken
		case a.input != nil || len(a.tasks) > 0 || len(a.subagents) > 0:
			if err := a.wait(); err != nil {
				return err
			}
		case a.failed:
			return ending{code: exitFailed}
		default:
			return ending{code: exitGood}
		}
	}
}

// wait lets the strands go on, or if none of them ends takes in the next thing that happens: a line of input, the end
// of a command, a signal. It gives errInterrupted when the turn is to be broken off, and an ending when the process is
// to end.
func (a *agent) wait() error {
	if a.broken != nil {
		return a.broken
	}
	if moved, err := a.goOn(); moved || err != nil {
		return err
	}
	select {
	case line, ok := <-a.input:
		if !ok {
			a.input = nil
			return nil
		}
		return a.take(line)
	case t := <-a.ended:
		a.taskEnded(t)
	case h := <-a.heard:
		h.take()
	case s := <-a.signals:
		return endingBy(s)
	case <-a.done:
		return ending{code: exitTerm}
	}
	return nil
}

// signalled gives an ending if a signal has come, without waiting for one.
func (a *agent) signalled() error {
	select {
	case s := <-a.signals:
		return endingBy(s)
	case <-a.done:
		return ending{code: exitTerm}
	default:
		return nil
	}
}

func endingBy(s os.Signal) ending {
	if s == syscall.SIGHUP {
		return ending{code: exitHangUp}
	}
	return ending{code: exitTerm}
}

// take reads a line of input. Unknown types are ignored, as the CLI does.
func (a *agent) take(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	var in incoming
	if err := json.Unmarshal(line, &in); err != nil {
		return complain("Error parsing streaming input line (type=unknown, %d chars): %v", len(line), err)
	}
	switch in.Type {
	case "user":
		a.told(prompt{uuid: in.UUID, text: strings.Join(in.Message.Content.Texts(), "\n"),
			results: results(in.Message.Content)})
	case "control_response":
		if a.opts.replay && in.Response.Subtype != "error" {
			// Together with the user messages the CLI repeats the answers to its requests.
			a.print(doc{"type": "control_response", "response": in.Response})
		}
		for _, r := range a.requests {
			if r.id == in.Response.RequestID {
				r.reply = &in
			}
		}
	case "control_request":
		return a.control(in)
	}
	return nil
}

// told queues a person's message, unless it is one that the conversation already has.
func (a *agent) told(p prompt) {
	switch {
	case p.uuid == "":
	case a.answered[p.uuid]:
		a.echo(p)
		a.lifecycle(p, "completed")
		return
	case a.seen[p.uuid]:
		if !a.underWay(p.uuid) {
			a.echo(p)
		}
		return
	}
	a.seen[p.uuid] = true
	a.lifecycle(p, "queued")
	a.queue = append(a.queue, p)
}

// underWay reports whether a message still waits for its turn, or for the end of it.
func (a *agent) underWay(uuid string) bool {
	is := func(p prompt) bool { return p.uuid == uuid }
	return slices.ContainsFunc(a.queue, is) || a.main.turn != nil &&
		(is(a.main.turn.prompt) || slices.ContainsFunc(a.main.turn.absorbed, is))
}

// control answers a control request. It gives errInterrupted when that breaks off the running turn.
func (a *agent) control(in incoming) error {
	switch in.Request.Subtype {
	case "initialize":
		for _, h := range in.Request.Hooks.Stop {
			a.hooks = append(a.hooks, h.IDs...)
		}
		a.calling, a.compact = in.Request.Hooks.PreToolUse, in.Request.Hooks.SessionStart
		a.greet(in.Request.Servers)
		a.accept(in.RequestID, doc{
			"commands": []doc{}, "agents": []doc{}, "models": []doc{}, "output_style": "default", "pid": os.Getpid(),
			"claude_code_version": version, "current_permission_mode": a.opts.mode, "session_state": "idle",
			"hooks_applied": len(a.hooks) > 0,
		})
		a.queueOrphans()
	case "interrupt":
		a.cancelRequests()
		queued := []string{}
		for _, p := range a.queue {
			queued = append(queued, p.uuid)
		}
		a.accept(in.RequestID, doc{"still_queued": queued})
		if a.main.turn != nil {
			if err := a.breakOff(); err != nil {
				return err
			}
			return errInterrupted
		}
	case "get_usage":
		a.accept(in.RequestID, doc{
			"session":               doc{"total_cost_usd": a.spent.cost(), "model_usage": a.spent.byModel(a.opts.model)},
			"rate_limits_available": false, "rate_limits": nil,
		})
	case "set_permission_mode":
		a.accept(in.RequestID, doc{"mode": in.Request.Mode})
		a.setMode(in.Request.Mode)
	default:
		a.print(doc{"type": "control_response", "response": doc{
			"subtype": "error", "request_id": in.RequestID, "error_code": "unsupported_request",
			"error": "Unsupported control request subtype: " + in.Request.Subtype,
		}})
	}
	return nil
}

// setMode changes the permission mode.
func (a *agent) setMode(mode string) {
	a.opts.mode = mode
	a.message(doc{"type": "system", "subtype": "status", "status": nil, "permissionMode": mode})
}

// tidy is what the process does on its way out, unless it crashes: the work it began goes with it.
func (a *agent) tidy() {
	for _, t := range a.tasks {
		a.killTask(t)
	}
	for _, s := range a.locals {
		s.end()
	}
	a.dismiss()
	if a.main.transcript.file != nil {
		// Without it the next process counts its cost from the last that is known, as the CLI does.
		_ = a.main.transcript.add(doc{"type": "cost-state", "sessionId": a.opts.session, "totalCostUSD": a.spent.cost(),
			"modelUsage": a.spent.byModel(a.opts.model)})
		_ = a.main.transcript.file.Close()
	}
}

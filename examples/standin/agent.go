package standin

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// An agent is one process with one conversation. One goroutine owns it: whatever it waits for, it waits in wait, which
// takes in what comes meanwhile.
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

	transcript transcript
	messages   []examples.Message
	last       string          // uuid of the last line of the conversation
	answered   map[string]bool // uuids that an earlier process has dealt with
	seen       map[string]bool // uuids that came to this one
	queue      []prompt
	tasks      []*task
	orphans    map[string]string // background tasks of an earlier process that never ended, and their calls
	hooks      []string          // ids of the Stop hooks

	turn    *turn // the running one
	pending string
	reply   *incoming
	results int
	failed  bool // the last turn
	cost    float64
}

// A prompt is a message to the model that waits for its turn: a person's, or of a background task that has ended.
type prompt struct {
	uuid, text string
	origin     doc  // nil for a person's
	silent     bool // the model is not asked
}

var (
	errInterrupted  = errors.New("interrupted")
	errStreamClosed = errors.New("the stream is closed")
	errRefused      = errors.New("the request was refused")
)

func newAgent(scenario examples.Scenario, opts options, cwd string, env []string, out io.Writer) *agent {
	return &agent{
		scenario: scenario, opts: opts, cwd: cwd, env: env, out: out,
		ended: make(chan *task), answered: map[string]bool{}, seen: map[string]bool{},
		messages: []examples.Message{{Role: examples.System, Texts: []string{"Primary working directory: " + cwd}}},
	}
}

// getenv gives the last value of a variable in the environment.
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
		gone := complain("No conversation found with session ID: %s", a.opts.session)
		if uuid.Validate(a.opts.session) != nil {
			gone = complain("Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>. "+
				"Provided value %q is not a UUID and does not match any session title.", a.opts.session)
		}
		a.message(doc{
			"type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0, "stop_reason": nil,
			"duration_ms": 0, "duration_api_ms": 0, "total_cost_usd": 0, "usage": usage(0), "modelUsage": doc{},
			"permission_denials": []doc{}, "result_index": 0, "errors": []string{gone.Error()},
		})
		return gone
	case !a.opts.resume && path != "":
		return complain("Error: Session ID %s is already in use.", a.opts.session)
	}
	if !a.opts.resume {
		a.transcript.path = filepath.Join(dir, munged(a.cwd), a.opts.session+".jsonl")
		return nil
	}
	a.transcript.path = path
	p, err := readTranscript(path)
	if err != nil {
		return err
	}
	a.messages = append(a.messages, p.messages...)
	a.answered, a.cost, a.orphans, a.last = p.answered, p.cost, p.tasks, p.last
	a.tellOrphans()
	return a.mend(p.open)
}

// run plays until the process is to end: the error is an ending, or a failure of the stand-in itself.
func (a *agent) run() error {
	for {
		for len(a.queue) > 0 {
			next := a.queue[0]
			a.queue = a.queue[1:]
			if err := a.play(next); err != nil {
				return err
			}
		}
		switch {
		case a.broken != nil:
			return a.broken
		case a.input != nil || len(a.tasks) > 0:
			if err := a.wait(nil); err != nil {
				return err
			}
		case a.failed:
			return ending{code: exitFailed}
		default:
			return ending{code: exitGood}
		}
	}
}

// wait takes in the next thing that happens: a line of input, the end of a background task, a signal, or until is
// closed. It gives errInterrupted when the turn is to be broken off, and an ending when the process is to end.
func (a *agent) wait(until <-chan struct{}) error {
	if a.broken != nil {
		return a.broken
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
	case s := <-a.signals:
		if s == syscall.SIGHUP {
			return ending{code: exitHangUp}
		}
		return ending{code: exitTerm}
	case <-a.done:
		return ending{code: exitTerm}
	case <-until:
	}
	return nil
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
		a.told(prompt{uuid: in.UUID, text: strings.Join(in.Message.Content.Texts(), "\n")})
	case "control_response":
		if in.Response.RequestID == a.pending && a.pending != "" {
			a.reply = &in
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

// underWay tells whether a message still waits for its turn, or for the end of it.
func (a *agent) underWay(uuid string) bool {
	is := func(p prompt) bool { return p.uuid == uuid }
	return slices.ContainsFunc(a.queue, is) || a.turn != nil && (is(a.turn.prompt) || slices.ContainsFunc(a.turn.absorbed, is))
}

// control answers a control request. It gives errInterrupted when that breaks off the running turn.
func (a *agent) control(in incoming) error {
	switch in.Request.Subtype {
	case "initialize":
		for _, h := range in.Request.Hooks.Stop {
			a.hooks = append(a.hooks, h.IDs...)
		}
		a.accept(in.RequestID, doc{
			"commands": []doc{}, "agents": []doc{}, "models": []doc{}, "output_style": "default", "pid": os.Getpid(),
			"claude_code_version": Version, "current_permission_mode": a.opts.mode, "session_state": "idle",
			"hooks_applied": len(a.hooks) > 0,
		})
		a.queueOrphans()
	case "interrupt":
		if a.pending != "" {
			a.print(doc{"type": "control_cancel_request", "request_id": a.pending})
		}
		queued := []string{}
		for _, p := range a.queue {
			queued = append(queued, p.uuid)
		}
		a.accept(in.RequestID, doc{"still_queued": queued})
		if a.turn != nil {
			return errInterrupted
		}
	case "set_permission_mode":
		a.opts.mode = in.Request.Mode
		a.accept(in.RequestID, doc{"mode": a.opts.mode})
		a.message(doc{"type": "system", "subtype": "status", "status": nil, "permissionMode": a.opts.mode})
	default:
		a.print(doc{"type": "control_response", "response": doc{
			"subtype": "error", "request_id": in.RequestID, "error_code": "unsupported_request",
			"error": "Unsupported control request subtype: " + in.Request.Subtype,
		}})
	}
	return nil
}

// tidy is what the process does on its way out, unless it crashes: the work it began goes with it.
func (a *agent) tidy() {
	for _, t := range a.tasks {
		a.killTask(t)
	}
	if a.transcript.file != nil {
		// Without it the next process counts its cost from the last that is known, as the CLI does.
		_ = a.transcript.add(doc{"type": "cost-state", "sessionId": a.opts.session, "totalCostUSD": a.cost})
		_ = a.transcript.file.Close()
	}
}

package claude

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// Agent is claude, which speaks the CLI's protocol.
type Agent struct{}

// Launch implements procs.Agent.
func (Agent) Launch(p *procs.Process) (procs.Launch, error) {
	if err := (*launch)(&p.Spec).fork(); err != nil {
		return procs.Launch{}, &procs.StartError{Path: p.Spec.Path, Err: err}
	}
	d := newDialogue(p)
	if err := d.serveTools(); err != nil {
		return procs.Launch{}, &procs.StartError{Path: p.Spec.Path, Err: err}
	}
	cmd := exec.Command(p.Spec.Path, launch(p.Spec).args()...)
	cmd.Env = launch(p.Spec).environ()
	return procs.Launch{Cmd: cmd, Hint: claudeHint, Exchange: d}, nil
}

func (s launch) environ() []string {
	return procs.Spec(s).Environ(func(env []string) []string {
		env = append(withoutBreakers(env), ReleaseOf(InstalledRelease(s.Path)).environ()...)
		if s.Resume || s.Fork != "" {
			env = append(env, noDeferredCall)
		}
		return env
	})
}

// A launch is one of claude.
type launch procs.Spec

// A dialogue is a process that is spoken with in the CLI's protocol.
type dialogue struct {
	*procs.Process
	stdin *writer
	turn  *turn
	tools *toolServer // nil: it is served none

	spending inquiry
	hookAsks atomic.Bool // Release.HookAsks, once the process has said its version
	expected atomic.Pointer[map[string]bool]

	waiting waiting
	replies errgroup.Group // what is written on behalf of the goroutine that reads stdout, see reply
	parking atomic.Bool    // it is being ended so that what waits can be answered later
	flooded bool           // it was told that too much waits; of the goroutine that reads stdout
	unheard bool           // it was told that too much is asked by MCP servers; of the same
}

func newDialogue(p *procs.Process) *dialogue {
	d := &dialogue{Process: p, turn: newTurn(), spending: inquiry{answered: make(chan struct{}, 1)}}
	d.replies.SetLimit(maxWaiting)
	return d
}

// Open puts the first line into the input.
func (d *dialogue) Open() (theirs *os.File, err error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	d.stdin = newWriter(ours)
	if err := d.stdin.write(launch(d.Spec).initialize()); err != nil { // fits in the pipe
		theirs.Close()
		return nil, err
	}
	return theirs, nil
}

// Listen implements procs.Exchange.
func (d *dialogue) Listen(out *procs.Output) (e procs.Exit, last func()) {
	var spent spending
	e.Spoke, spent = readLines(d.Process, stream.NewLines(out, stream.MaxLine), d.take)
	e.CostUSD, e.InputTokens, e.OutputTokens = spent.cost, spent.input, spent.output
	e.CacheRead, e.CacheCreation = spent.cacheRead, spent.cacheCreation
	return e, func() { _ = d.replies.Wait() } // none gives an error
}

// Complain implements procs.Exchange.
func (d *dialogue) Complain([]byte) {}

// Leave implements procs.Exchange.
func (d *dialogue) Leave(ctx context.Context, how procs.Ending) {
	d.parking.Store(how == procs.Park)
	switch how {
	case procs.Finish:
		_ = d.stdin.closeWithin(d.Patience.Finish)
		if d.Gone(ctx, d.Patience.Finish) {
			return
		}
	case procs.Stop:
		// A child that does not take it gets the next step all the same.
		if !d.waiting.onPerson() && d.stdin.writeWithin(interrupt, d.Patience.Interrupt) == nil {
			d.turnOver(ctx, d.Patience.Interrupt)
		}
	case procs.Kill:
		return
	}
	d.askSpending()
}

// Close implements procs.Exchange.
func (d *dialogue) Close() {
	if d.stdin != nil {
		d.stdin.close()
	}
}

// turnOver waits until no turn is under way, the process has ended, within has passed or ctx is done.
func (d *dialogue) turnOver(ctx context.Context, within time.Duration) {
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-d.turn.over():
	case <-d.Exited():
	case <-ctx.Done():
	case <-limit.C:
	}
}

// ReadStream hands over what lines of claude's stream say that are printed by a process which nobody talks to.
func ReadStream(p *procs.Process, out io.Reader, take func(procs.Message)) {
	readLines(p, stream.NewLines(out, stream.MaxLine), take)
}

// readLines hands over what lines of the protocol say, and reports whether there was one, and what was spent since the
// last result.
func readLines(p *procs.Process, in *stream.Lines, take func(procs.Message)) (spoke bool, spent spending) {
	d := decoder{ledger: launch(p.Spec).ledger(), asksRefused: p.Spec.AsksRefused}
	for {
		data, whole, err := in.Next()
		if err != nil {
			return spoke, d.ledger.turn
		}
		if !whole {
			p.LogLine(data, false)
			take(garbled(data))
			continue
		}
		if at := d.beginning(data); at > 0 {
			p.LogLine(data[:at], false)
			take(garbled(data[:at]))
			data = data[at:]
		}
		messages, isJSON := d.decode(data)
		if !isJSON {
			data = bytes.TrimSpace(data)
		}
		if len(data) > 0 {
			p.LogLine(data, isJSON)
		}
		spoke = spoke || isJSON
		for _, m := range messages {
			take(m)
		}
	}
}

// take deals with what is ours and hands over the rest.
func (d *dialogue) take(m procs.Message) {
	switch m := m.(type) {
	case unanswerable:
		d.refuse(m.Request, fmt.Sprintf("unsupported control request %.60q", m.Subtype))
		return
	case mcpMessage:
		d.receive(m)
		return
	case calling:
		if m.Call != nil && d.expects(m.Call) {
			leave := func(string) { d.reply(func() error { return d.answerHook(m.Request, m.Input, procs.CallCheck{}) }) }
			if d.admit(request{id: m.Request, how: byVerdict, hook: m.Input}, leave) {
				d.Tell(*m.Call)
			}
			return
		}
		d.reply(func() error { return d.answerHook(m.Request, m.Input, procs.CallCheck{}) })
		return
	case compacted:
		d.reply(func() error { return d.respond(m.Request, launch(d.Spec).afterCompaction(m.Input)) })
		return
	case procs.Ask:
		if launch(d.Spec).isOwn(m.Name) {
			d.reply(func() error { return d.respond(m.Request, allowed(m.Input)) })
			return
		}
		if m.Elicits {
			d.elicited(m)
			return
		}
		if !d.admit(request{id: m.Request, how: byVerdict}, func(why string) { d.deny(m.Request, why) }) {
			return
		}
	case procs.StopHook:
		// An error would let the turn end.
		sendOn := func(why string) { d.reply(func() error { return d.respond(m.Request, blocked(why)) }) }
		if !d.admit(request{id: m.Request, how: byGate}, sendOn) {
			return
		}
	case procs.AskCancelled:
		// 2.1.200 withdraws a subagent's call at SIGTERM; the person is to answer it all the same
		if gone := d.waiting.withdraw(m.Request); gone != "" && !d.parking.Load() {
			d.Tell(procs.AskCancelled{Request: gone})
		}
		return
	case replied:
		if m.Request == usageRequest {
			d.spending.answer()
			return
		}
		if m.Error != "" {
			d.Tell(procs.Activity{Text: fmt.Sprintf("claude refused %s: %s", m.Request, procs.Cut(m.Error, procs.MaxShown))})
		}
		return
	case procs.Init:
		d.turn.begin()
		release := ReleaseOf(m.Version)
		d.spending.possible.Store(release.SaysSpending)
		d.hookAsks.Store(release.HookAsks)
	case procs.Result:
		d.turn.end()
	}
	d.Tell(m)
}

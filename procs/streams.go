package procs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// drain is how long after the end of a process its streams must be silent to count as read, when something that it
// left behind keeps them open. maxDrain bounds what that may add, in bytes.
const (
	drain    = 100 * time.Millisecond
	maxDrain = 4 << 20
)

// A drained reads a stream of a process to its end: the end of the stream, or silence after the process is gone.
type drained struct {
	f      *os.File
	exited <-chan struct{}
	drain  time.Duration // see above
	until  time.Time     // when a Read ends with os.ErrDeadlineExceeded; zero: never
	set    time.Time     // the deadline of f that until has made
	after  int           // bytes read since the exit
}

func (d *drained) Read(b []byte) (int, error) {
	for {
		if d.until != d.set { // before the look at exited, after which await sets a deadline of its own
			_ = d.f.SetReadDeadline(d.until)
			d.set = d.until
		}
		late := false
		select {
		case <-d.exited:
			late = true
			// Where the file takes no deadline, its end is waited for.
			_ = d.f.SetReadDeadline(time.Now().Add(d.drain))
		default:
		}
		n, err := d.f.Read(b)
		if late && errors.Is(err, os.ErrDeadlineExceeded) {
			n, err = d.rest(b)
		}
		if late {
			d.after += n
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && !late {
			if !d.until.IsZero() && !time.Now().Before(d.until) {
				return n, err
			}
			continue // await has just set it
		}
		if err != nil || d.after > maxDrain {
			return n, io.EOF // Linux says EIO for a pty that nobody has open any more
		}
		return n, nil
	}
}

// rest reads what is there without waiting. A Read that a busy machine begins only after its deadline has not even
// looked.
func (d *drained) rest(b []byte) (n int, err error) {
	_ = d.f.SetReadDeadline(time.Time{})
	d.set = time.Time{}
	raw, err := d.f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Read(func(fd uintptr) bool {
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			n, err = unix.Read(int(fd), b)
		}
		return true
	}); failed != nil {
		err = failed
	}
	if n = max(n, 0); n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// readStdout hands over what the process says, until its Exit.
func (p *Process) readStdout(stderr <-chan *tail) {
	defer close(p.done)
	out := &drained{f: p.stdout, exited: p.exited, drain: drain}
	var e Exit
	var turn Result // of a command
	if e.Command = p.spec.isCommand(); e.Command {
		turn, e.Output, e.Spoke = p.readCommand(out)
	} else {
		var spent spending
		e.Spoke, spent = p.readLines(newLines(out, maxLine), p.take)
		e.CostUSD, e.InputTokens, e.OutputTokens = spent.cost, spent.input, spent.output
		e.CacheRead, e.CacheCreation = spent.cacheRead, spent.cacheCreation
	}
	words := <-stderr
	<-p.exited
	_ = p.replies.Wait() // none gives an error
	p.stdout.Close()
	if e.Command {
		p.tell(turn)
	}
	e.Stderr = words.text()
	e.Code, e.Signal = p.ended()
	p.tell(e)
}

// readLines hands over what lines of the protocol say, and reports whether there was one, and what was spent since the
// last result.
func (p *Process) readLines(in *lines, take func(Message)) (spoke bool, spent spending) {
	d := decoder{ledger: p.spec.ledger()}
	for {
		data, whole, err := in.next()
		if err != nil {
			return spoke, d.ledger.turn
		}
		if !whole {
			p.log.stdout(data, false)
			take(garbled(data))
			continue
		}
		messages, isJSON := d.decode(data)
		if !isJSON {
			data = bytes.TrimSpace(data)
		}
		if len(data) > 0 {
			p.log.stdout(data, isJSON)
		}
		spoke = spoke || isJSON
		for _, m := range messages {
			take(m)
		}
	}
}

// tell calls the handler.
func (p *Process) tell(m Message) {
	p.handling.Lock()
	defer p.handling.Unlock()
	p.handler(m)
}

// take deals with what is ours and hands over the rest.
func (p *Process) take(m Message) {
	switch m := m.(type) {
	case unanswerable:
		p.refuse(m.Request, fmt.Sprintf("unsupported control request %.60q", m.Subtype))
		return
	case mcpMessage:
		p.receive(m)
		return
	case starting:
		p.reply(func() error { return p.respond(m.Request, briefed(m.Input, p.spec.Briefing)) })
		return
	case calling:
		p.reply(func() error { return p.respond(m.Request, askedFirst(m.Input, p.spec.AskFirst, p.hookAsks.Load())) })
		return
	case Ask:
		how, refuse := byVerdict, func(why string) { p.deny(m.Request, why) }
		if m.Elicits {
			how, refuse = byElicit, func(why string) { p.refuse(m.Request, why) }
		}
		if !p.admit(request{id: m.Request, how: how}, refuse) {
			return
		}
	case StopHook:
		if !p.admit(request{id: m.Request, how: byGate}, func(why string) { p.refuse(m.Request, why) }) {
			return
		}
	case AskCancelled:
		p.waiting.take(func(r request) bool { return r.id == m.Request })
		if p.parking.Load() { // 2.1.200 withdraws a subagent's call at SIGTERM; the person is to answer it all the same
			return
		}
	case replied:
		if m.Request == usageRequest {
			p.spending.answer()
			return
		}
		if m.Error != "" {
			p.tell(Activity{Text: fmt.Sprintf("claude refused %s: %s", m.Request, cut(m.Error, maxShown))})
		}
		return
	case Init:
		p.turn.begin()
		release := ReleaseOf(m.Version)
		p.spending.possible.Store(release.SaysSpending)
		p.hookAsks.Store(release.HookAsks)
	case Result:
		p.turn.end()
	}
	p.tell(m)
}

func (p *Process) readStderr(kept chan<- *tail) {
	in := newLines(&drained{f: p.stderr, exited: p.exited, drain: drain}, maxLine)
	words := &tail{limit: maxTail}
	for {
		data, _, err := in.next()
		if err != nil {
			break
		}
		p.log.stderr(data)
		_, _ = words.Write(data)
		_, _ = words.Write([]byte{'\n'})
		if text := bytes.TrimSpace(data); p.spec.isCommand() && len(text) > 0 {
			p.tell(Activity{Text: shown(text)})
		}
	}
	p.stderr.Close()
	kept <- words
}

package procs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/procs/stream"
)

// drain is how long after the end of a process its streams must be silent to count as read, when something that it
// left behind keeps them open. maxDrain bounds what that may add, in bytes.
const (
	drain    = 100 * time.Millisecond
	maxDrain = 4 << 20
)

// An Output reads a stream of a process to its end: the end of the stream, or silence after the process is gone.
type Output struct {
	Until time.Time // when a Read ends with os.ErrDeadlineExceeded; zero: never

	f      *os.File
	exited <-chan struct{}
	drain  time.Duration // see above
	set    time.Time     // the deadline of f that until has made
	after  int           // bytes read since the exit
}

func (d *Output) Read(b []byte) (int, error) {
	for {
		if d.Until != d.set { // before the look at exited, after which await sets a deadline of its own
			_ = d.f.SetReadDeadline(d.Until)
			d.set = d.Until
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
			if !d.Until.IsZero() && !time.Now().Before(d.Until) {
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
func (d *Output) rest(b []byte) (n int, err error) {
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
func (p *Process) readStdout(stderr <-chan *Tail) {
	out := &Output{f: p.stdout, exited: p.exited, drain: drain}
	e, last := p.launch.Listen(out)
	words := <-stderr
	<-p.exited
	p.stdout.Close()
	last()
	e.Stderr = words.Text()
	e.Code, e.Signal = p.ended()
	p.Tell(e)
}

// Tell hands over a message. It blocks as long as the handler does.
func (p *Process) Tell(m Message) {
	p.handling.Lock()
	defer p.handling.Unlock()
	p.handler(m)
}

func (p *Process) readStderr(kept chan<- *Tail) {
	in := stream.NewLines(&Output{f: p.stderr, exited: p.exited, drain: drain}, stream.MaxLine)
	words := &Tail{Limit: MaxTail}
	for {
		data, _, err := in.Next()
		if err != nil {
			break
		}
		p.log.add("stderr", data, false)
		_, _ = words.Write(data)
		_, _ = words.Write([]byte{'\n'})
		if text := bytes.TrimSpace(data); len(text) > 0 {
			p.launch.Complain(text)
		}
	}
	p.stderr.Close()
	kept <- words
}

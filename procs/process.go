package procs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A Process is a running child. Its methods may be called from any goroutine but that of its handler, unless they say
// otherwise.
type Process struct {
	spec     Spec
	handler  func(Message)
	patience patience

	cmd    *exec.Cmd
	id     identity
	handle *handle
	stdin  *writer
	stdout *os.File // our side of the pty
	stderr *os.File
	log    *lineLog
	turn   *turn

	reaping sync.Mutex
	reaped  bool          // from here on the pid may be somebody else's
	exited  chan struct{} // closed when the process has ended
	done    chan struct{} // closed when Exit has been handed over
}

// Start runs a child and returns once it does. Its first line of input, which sets up the Stop hook, is written
// before. handler is called from one goroutine, one message at a time in the order in which they were printed, Exit
// last and always. It may block: the child is not read meanwhile, and then blocks too. It must not call End.
//
// The error is a StartError if the program cannot be run; then nothing runs and handler is never called.
func Start(spec Spec, handler func(Message)) (*Process, error) {
	if spec.Dir != "" {
		dir, err := filepath.Abs(spec.Dir)
		if err != nil {
			return nil, &StartError{Path: spec.Path, Err: err}
		}
		spec.Dir = dir
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, &StartError{Path: spec.Path, Err: ErrNoDir, Reason: dir}
		}
	}
	p := &Process{
		spec:     spec,
		handler:  handler,
		patience: defaultPatience,
		log:      &lineLog{w: spec.Log, launch: spec.Marker.Launch},
		turn:     newTurn(),
		exited:   make(chan struct{}),
		done:     make(chan struct{}),
	}
	if err := p.exec(); err != nil {
		return nil, err
	}
	stderr := make(chan *tail, 1)
	go p.await()
	go p.readStderr(stderr)
	go p.readStdout(stderr)
	return p, nil
}

// exec starts the process with its three streams.
func (p *Process) exec() (err error) {
	fail := func(err error) error { return &StartError{Path: p.spec.Path, Err: err} }
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range []*os.File{p.stdout, p.stderr} {
				if f != nil {
					f.Close()
				}
			}
			if p.stdin != nil {
				p.stdin.close()
			}
		}
	}()
	ptmx, tty, err := pty.Open()
	if err != nil {
		return fail(fmt.Errorf("open a pty: %w", err))
	}
	theirs = append(theirs, ptmx, tty)
	if p.stdout, err = pollable(ptmx); err != nil {
		return fail(fmt.Errorf("open a pty: %w", err))
	}
	// Before the start, or the first lines would get carriage returns.
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		return fail(fmt.Errorf("make the pty raw: %w", err))
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.stdin, theirs = newWriter(inWrite), append(theirs, inRead)
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.stderr, theirs = errRead, append(theirs, errWrite)
	if err := p.stdin.write(initialize); err != nil { // fits in the pipe
		return fail(err)
	}

	cmd := exec.Command(p.spec.Path, p.spec.args()...)
	cmd.Dir, cmd.Env = p.spec.Dir, p.spec.environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, tty, errWrite
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	p.cmd = cmd

	launched.Lock()
	defer launched.Unlock()
	if err := cmd.Start(); err != nil {
		return startError(p.spec.Path, err)
	}
	launched.pids[cmd.Process.Pid] = true
	// It is not reaped yet, so its pid is still its own; if it cannot be read, neither could anybody compare it.
	p.id = identity{pid: cmd.Process.Pid}
	if known, err := read(p.id.pid); err == nil {
		p.id = known.identity
	}
	if p.handle, err = hold(p.id); err != nil {
		p.handle = &handle{id: p.id}
	}
	return nil
}

// pollable gives another file of the same pty. pty.Open leaves its own in blocking mode, in which a read takes a thread
// for as long as the child is silent, and no deadline.
func pollable(ptmx *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(ptmx.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), ptmx.Name()), nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.id.pid }

// StartTicks is when the kernel says that it began, which with PID makes it unique; see Alive.
func (p *Process) StartTicks() uint64 { return p.id.start }

// LogErr gives the first error of writing to Spec.Log, nil if there was none. It may be called from the handler.
func (p *Process) LogErr() error { return p.log.firstError() }

// await waits for the process to end, and reaps it.
func (p *Process) await() {
	if p.handle.tells() {
		// Not cmd.Wait, which reaps: as long as the process is a zombie its group cannot be somebody else's.
		p.handle.wait(context.Background())
		p.reaping.Lock()
		_ = p.cmd.Wait() // what it says is in ProcessState
	} else {
		_ = p.cmd.Wait()
		p.reaping.Lock()
	}
	p.reaped = true
	p.reaping.Unlock()

	launched.Lock()
	delete(launched.pids, p.id.pid)
	launched.Unlock()
	p.handle.release()

	close(p.exited)
	p.stdin.close()
	// Wake the readers: what the process wrote is there, and nobody else's output is waited for.
	_ = p.stdout.SetReadDeadline(time.Now().Add(drain))
	_ = p.stderr.SetReadDeadline(time.Now().Add(drain))
}

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
	after  int // bytes read since
}

func (d *drained) Read(b []byte) (int, error) {
	for {
		late := false
		select {
		case <-d.exited:
			late = true
			// Where the file takes no deadline, its end is waited for.
			_ = d.f.SetReadDeadline(time.Now().Add(drain))
		default:
		}
		n, err := d.f.Read(b)
		if late {
			d.after += n
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && !late {
			continue // await has just set it
		}
		if err != nil || d.after > maxDrain {
			return n, io.EOF // Linux says EIO for a pty that nobody has open any more
		}
		return n, nil
	}
}

// readStdout hands over what the process says, until its Exit.
func (p *Process) readStdout(stderr <-chan *tail) {
	defer close(p.done)
	in := newLines(&drained{f: p.stdout, exited: p.exited}, maxLine)
	var d decoder
	spoke := false
	for {
		data, whole, err := in.next()
		if err != nil {
			break
		}
		if !whole {
			p.log.stdout(data, false)
			p.handler(garbled(data))
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
			p.take(m)
		}
	}
	words := <-stderr
	<-p.exited
	p.stdout.Close()
	p.handler(p.exit(words, spoke))
}

// take deals with what is ours and hands over the rest.
func (p *Process) take(m Message) {
	switch m := m.(type) {
	case unanswerable:
		// A child that is gone needs no answer.
		_ = p.stdin.write(refusal(m))
		return
	case replied:
		if m.Error != "" {
			p.handler(Activity{Text: fmt.Sprintf("claude refused %s: %s", m.Request, cut(m.Error, maxShown))})
		}
		return
	case Init:
		p.turn.begin()
	case Result:
		p.turn.end()
	}
	p.handler(m)
}

func (p *Process) readStderr(kept chan<- *tail) {
	in := newLines(&drained{f: p.stderr, exited: p.exited}, maxLine)
	words := &tail{limit: maxTail}
	for {
		data, _, err := in.next()
		if err != nil {
			break
		}
		p.log.stderr(data)
		_, _ = words.Write(data)
		_, _ = words.Write([]byte{'\n'})
	}
	p.stderr.Close()
	kept <- words
}

func (p *Process) exit(words *tail, spoke bool) Exit {
	e := Exit{Code: -1, Stderr: string(bytes.ToValidUTF8(words.bytes(), []byte("\uFFFD"))), Spoke: spoke}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = unix.SignalName(status.Signal())
	} else {
		e.Code = p.cmd.ProcessState.ExitCode()
	}
	return e
}

// gone waits for the process to end, up to d or until ctx is done, and tells whether it has.
func (p *Process) gone(ctx context.Context, d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
	case <-limit.C:
	}
	return false
}

package procs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"claude-supervise/procs/pty"
)

// A Process is a running child. Its methods may be called from any goroutine but those of its handler, unless they say
// otherwise.
type Process struct {
	Spec     Spec // as it was started
	Patience Patience
	handler  func(Message)

	cmd    *exec.Cmd
	id     identity
	handle *handle
	stdout *os.File // our side of the pty
	stderr *os.File
	log    *lineLog
	launch Launch
	Talk   // of launch

	handling sync.Mutex // held while the handler is called

	reaping sync.Mutex
	reaped  bool           // from here on the pid may be somebody else's
	exited  chan struct{}  // closed when the process has ended
	group   sync.WaitGroup // of the goroutines that wait for it and read it; over when Exit has been handed over
}

// Start runs a child and returns once it does. Its first line of input, which sets up the Stop hook, is written before;
// the prompt of a Spec.Command may still be on its way. handler is called with one message at a time, those of each of
// the child's streams in the order in which they were printed, Exit last and always. It may block: the child is not
// read meanwhile, and then blocks too. It must not call End.
//
// The error is a StartError if the program cannot be run; then nothing runs and handler is never called.
func Start(agent Agent, spec Spec, handler func(Message)) (*Process, error) {
	if len(spec.Command) > 0 {
		spec.Path = spec.Command[0] // as errors name it
	}
	if spec.Dir != "" {
		dir, err := filepath.Abs(spec.Dir)
		if err != nil {
			return nil, &StartError{Path: spec.Path, Err: err}
		}
		spec.Dir = dir
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, &StartError{Path: spec.Path, Err: errNoDir, Reason: dir}
		}
	}
	p, _ := Unstarted(spec, handler)
	var err error
	if p.launch, err = agent.Launch(p); err != nil {
		return nil, err
	}
	p.Talk, p.cmd, p.launch.Cmd.Dir = p.launch.Exchange, p.launch.Cmd, p.Spec.Dir
	if err := p.exec(); err != nil {
		return nil, err
	}
	stderr := make(chan *Tail, 1)
	p.group.Go(p.await)
	p.group.Go(func() { p.readStderr(stderr) })
	p.group.Go(func() { p.readStdout(stderr) })
	return p, nil
}

// Unstarted returns a process that is not started, as an Agent's Launch is given it, and what has it count as ended.
func Unstarted(spec Spec, handler func(Message)) (p *Process, over func()) {
	p = &Process{
		Spec:     spec,
		Patience: defaultPatience,
		handler:  handler,
		log:      &lineLog{w: spec.Log, launch: spec.Marker.Launch},
		exited:   make(chan struct{}),
	}
	return p, func() { close(p.exited) }
}

// Prepare does what the first start of a process would wait for, once: package os starts one to see whether the kernel
// gives handles of processes. It blocks for a millisecond or two, so it is for while there is something else to do.
func Prepare() { _, _ = os.FindProcess(os.Getpid()) }

// turnToStart is held by who starts a process. Of thousands that are to start at once each would open its files, and
// then wait for the others' exec: for a while that takes more of them than the system lets one process have.
var turnToStart sync.Mutex

// exec starts the process with its three streams.
func (p *Process) exec() (err error) {
	turnToStart.Lock()
	defer turnToStart.Unlock()
	fail := func(err error) error { return &StartError{Path: p.Spec.Path, Err: err} }
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
			p.launch.Close()
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
	if p.launch.Window != nil {
		if err := pty.Setsize(tty, p.launch.Window); err != nil {
			return fail(fmt.Errorf("size the pty: %w", err))
		}
	}
	in, err := p.launch.Open()
	if err != nil {
		return fail(err)
	}
	theirs = append(theirs, in)
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.stderr, theirs = errRead, append(theirs, errWrite)

	cmd := p.cmd
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, tty, errWrite
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}

	launched.Lock()
	defer launched.Unlock()
	taken := p.Spec.Marker.tag().pass()
	err = cmd.Start()
	taken()
	if err != nil {
		return StartErrorOf(cmd.Path, p.launch.Hint, err)
	}
	launched.pids[cmd.Process.Pid] = p
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

// pollable returns another file of the same pty. pty.Open leaves its own in blocking mode, in which a read takes a
// thread for as long as the child is silent, and no deadline.
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

// StartTicks is when the kernel says that it began, which with PID makes it unique.
func (p *Process) StartTicks() uint64 { return p.id.start }

// LogErr gives the first error of writing to Spec.Log, nil if there was none. It may be called from the handler.
func (p *Process) LogErr() error { return p.log.firstError() }

// await waits for the process to end, and reaps it.
func (p *Process) await() {
	lookAhead(p.id.start)
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
	if launched.pids[p.id.pid] == p { // and not of a launch that was given its number
		delete(launched.pids, p.id.pid)
	}
	launched.Unlock()
	launchReaped()
	p.handle.release()

	close(p.exited)
	p.launch.Close()
	// Wake the readers: what the process wrote is there, and nobody else's output is waited for.
	_ = p.stdout.SetReadDeadline(time.Now().Add(drain))
	_ = p.stderr.SetReadDeadline(time.Now().Add(drain))
}

// ended returns the exit code, or the name of the signal that ended the process.
func (p *Process) ended() (code int, signal string) {
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -1, unix.SignalName(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode(), ""
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Gone waits for the process to end, up to d or until ctx is done, and reports whether it has.
func (p *Process) Gone(ctx context.Context, d time.Duration) bool {
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

package procs

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"claude-supervise/procs/internal/childtest"
)

// A trick is a way not to be ended.
type trick struct {
	name  string
	clear bool   // without an environment
	apart bool   // in a session of its own
	twice bool   // forked, so that it is an orphan from the start
	play  func() // does not return
}

var tricks = []trick{
	{name: "a double fork", twice: true, play: childtest.Stay},
	{name: "a session of its own", apart: true, play: childtest.Stay},
	{name: "deafness", play: func() { childtest.IgnoreSignals(); childtest.Stay() }},
	{name: "another name", play: func() { rename(); childtest.Stay() }},
	{name: "no environment", clear: true, play: childtest.Stay},
	{name: "all of these", clear: true, apart: true, twice: true,
		play: func() { childtest.IgnoreSignals(); rename(); childtest.Stay() }},
	{name: "a chain of forks", play: func() { chain(false) }},
	{name: "a chain of sessions", apart: true, play: func() { chain(true) }},
	{name: "a chain with all of these", clear: true, apart: true, twice: true, play: func() {
		childtest.IgnoreSignals()
		chain(true)
	}},
	{name: "a bomb of forks", clear: true, play: func() { childtest.IgnoreSignals(); bomb() }},
}

// Should the test fail, each trick is over by itself after so many forks, or so many seconds.
const (
	maxForks = 200_000
	maxStay  = 60
)

// fork is what Go has no function for. Its child has one thread, and may do nothing but system calls.
//
//go:norace
func fork() (pid uintptr, ok bool) {
	pid, _, err := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	return pid, err == 0
}

// chain is a process that forks and exits as fast as it can, as does its child.
//
//go:norace
func chain(apart bool) {
	for range maxForks {
		if pid, ok := fork(); pid != 0 || !ok {
			break
		}
		if apart {
			_, _, _ = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
		}
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}

// bomb doubles until there are 512 processes, each in a session of its own.
//
//go:norace
func bomb() {
	for range 9 {
		if pid, _ := fork(); pid == 0 {
			_, _, _ = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
		}
	}
	limit := unix.Timespec{Sec: maxStay}
	_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}

// rename changes what ps shows.
func rename() {
	for _, name := range []string{"comm", "task/" + strconv.Itoa(os.Getpid()) + "/comm"} {
		if err := os.WriteFile("/proc/self/"+name, []byte("kworker/0:1"), 0); err != nil {
			panic(err)
		}
	}
}

// begin starts a process that plays the trick, and returns at once.
func (tr trick) begin(fifo string) {
	part := "trickster"
	if tr.twice {
		part = "parent of trickster"
	}
	cmd := childtest.Again(part, &syscall.SysProcAttr{Setsid: tr.apart}, os.Environ())
	if tr.clear {
		cmd.Env = []string{}
	}
	cmd.Args = []string{"init", childtest.PartArgument + part, tr.name, fifo}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func trickNamed(name string) trick {
	for _, tr := range tricks {
		if tr.name == name {
			return tr
		}
	}
	panic("no such trick: " + name)
}

func init() {
	parts["trickster"] = func(*childtest.Child) {
		time.AfterFunc(maxStay*time.Second, func() { os.Exit(1) })
		signal.Ignore(syscall.SIGHUP) // which would end what shares the session
		life, err := os.OpenFile(os.Args[3], os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		if _, err := life.WriteString("!"); err != nil {
			panic(err)
		}
		trickNamed(os.Args[2]).play()
	}
	parts["parent of trickster"] = func(*childtest.Child) {
		tr := trickNamed(os.Args[2])
		tr.twice = false
		tr.begin(os.Args[3])
	}
	// hostile has a trick played, and is polite itself.
	parts["hostile"] = func(c *childtest.Child) {
		trickNamed(os.Getenv("TRICK")).begin(os.Getenv("FIFO"))
		parts["polite"](c)
	}
	// hostile command is hostile, and speaks no protocol.
	parts["hostile command"] = func(*childtest.Child) {
		trickNamed(os.Getenv("TRICK")).begin(os.Getenv("FIFO"))
		os.Stdout.WriteString("begun\n")
		childtest.Stay()
	}
	// sweeper has a trick played, and when it is told to, sweeps the launch that it is of itself.
	parts["sweeper"] = func(c *childtest.Child) {
		trickNamed(os.Getenv("TRICK")).begin(os.Getenv("FIFO"))
		for v := c.Read(); v["type"] != "user"; v = c.Read() {
		}
		m, _ := Inside(nil)
		if _, err := Sweep(m); err != nil {
			panic(err)
		}
		c.Text("still here")
	}
	// supervisor supervises a hostile child until it is killed.
	parts["supervisor"] = func(c *childtest.Child) {
		exe, err := os.Executable()
		if err != nil {
			panic(err)
		}
		if err := BecomeSubreaper(); err != nil {
			panic(err)
		}
		_, err = Start(teller{}, Spec{
			Path: exe, SessionID: uuid.NewString(), Extra: []string{childtest.PartVariable + "=hostile"},
			Marker: Marker{Run: "r-test", Agent: os.Getenv("AGENT"), Launch: 1},
		}, func(m Message) {
			if _, ok := m.(Init); ok {
				c.Init()
			}
		})
		if err != nil {
			panic(err)
		}
		childtest.Stay()
	}
}

// A life is a fifo that the player of a trick holds open, and whatever comes of it. So the kernel tells when the last
// of them is gone, by no mark, parent, session or name, and however quick they are.
type life struct {
	t    *testing.T
	path string
	fd   int
}

func newLife(t *testing.T) life {
	t.Helper()
	path := filepath.Join(t.TempDir(), "life")
	noError(t, unix.Mkfifo(path, 0o600))
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	noError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	return life{t, path, fd}
}

// await waits until the trick has begun.
func (l life) await() {
	l.t.Helper()
	if l.poll(hangs)&unix.POLLIN == 0 {
		l.t.Fatal("the trick did not begin")
	}
	if _, err := unix.Read(l.fd, make([]byte, 1)); err != nil {
		l.t.Fatal(err)
	}
}

func (l life) goesOn() bool { return l.poll(0)&unix.POLLHUP == 0 }

func (l life) poll(limit time.Duration) int16 {
	l.t.Helper()
	fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, int(limit/time.Millisecond))
		if err == nil {
			return fds[0].Revents
		}
		if err != unix.EINTR {
			l.t.Fatal(err)
		}
	}
}

func TestNoTrickOutlivesAnEnd(t *testing.T) {
	noError(t, BecomeSubreaper())
	end := func(how Ending) func(r *run) []Survivor {
		return func(r *run) []Survivor { return r.End(context.Background(), how) }
	}
	for _, e := range []struct {
		name  string
		end   func(*run) []Survivor
		named bool
	}{
		{"finish", end(Finish), true},
		{"park", end(Park), false},
		{"stop", end(Stop), false},
		{"kill", end(Kill), false},
		{"after another's kill", func(r *run) []Survivor {
			noError(t, syscall.Kill(r.PID(), syscall.SIGKILL))
			next[Exit](r)
			return r.End(context.Background(), Finish)
		}, true},
	} {
		for _, tr := range tricks {
			t.Run(e.name+"/"+tr.name, func(t *testing.T) {
				s := spec(t, "hostile")
				life := newLife(t)
				s.Extra = append(s.Extra, "TRICK="+tr.name, "FIFO="+life.path)
				r := start(t, s)
				next[Init](r)
				life.await()
				if !life.goesOn() {
					t.Error("the trick was over before the end")
				}
				survivors := e.end(r)
				if life.goesOn() {
					t.Error("it lives")
				}
				if named := len(survivors) > 0; named != e.named && !strings.Contains(tr.name, "chain") {
					t.Errorf("named: %v", survivors)
				}
			})
		}
	}
}

// listened is an Agent that is only heard, as a command is.
type listened struct{}

func (listened) Launch(p *Process) (Launch, error) {
	launch, err := teller{}.Launch(p)
	launch.Group, launch.Exchange = true, heard{launch.Exchange.(*telling)}
	return launch, err
}

type heard struct{ *telling }

func (h heard) Listen(out *Output) (Exit, func()) {
	_, _ = io.Copy(h, out)
	return Exit{Command: true}, func() {}
}

func (h heard) Write(b []byte) (int, error) {
	h.Tell(Raw{Text: string(b)})
	return len(b), nil
}

func TestNoTrickOutlivesTheEndOfACommand(t *testing.T) {
	noError(t, BecomeSubreaper())
	for _, tr := range tricks {
		t.Run(tr.name, func(t *testing.T) {
			s, life := spec(t, "hostile command"), newLife(t)
			s.Extra = append(s.Extra, "TRICK="+tr.name, "FIFO="+life.path)
			r := startAs(t, listened{}, s)
			next[Raw](r)
			life.await()
			if !life.goesOn() {
				t.Error("the trick was over before the end")
			}
			r.End(context.Background(), Park)
			if life.goesOn() {
				t.Error("it lives")
			}
		})
	}
}

func TestNoTrickOutlivesASweepAfterTheSupervisorWasKilled(t *testing.T) {
	for _, tr := range tricks {
		t.Run(tr.name, func(t *testing.T) {
			life := newLife(t)
			m := Marker{Run: "r-test", Agent: "a-" + uuid.NewString(), Launch: 1}
			supervisor := childtest.Again("supervisor", nil, append(os.Environ(), "AGENT="+m.Agent, "TRICK="+tr.name, "FIFO="+life.path))
			said, err := supervisor.StdoutPipe()
			noError(t, err)
			noError(t, supervisor.Start())
			if _, err := said.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			life.await()
			noError(t, supervisor.Process.Kill())
			_ = supervisor.Wait()
			if !life.goesOn() {
				t.Error("nothing is left to be swept")
			}
			s := sweep{marker: m, patience: shortPatience}
			if _, err := s.run(context.Background()); err != nil {
				t.Error(err)
			}
			if life.goesOn() {
				t.Error("it lives")
			}
		})
	}
}

func TestAnEndSparesOtherLaunches(t *testing.T) {
	hostile := func() (*run, life) {
		s, life := spec(t, "hostile"), newLife(t)
		s.Extra = append(s.Extra, "TRICK=all of these", "FIFO="+life.path)
		r := start(t, s)
		life.await()
		return r, life
	}
	one, itsLife := hostile()
	_, othersLife := hostile()
	one.End(context.Background(), Kill)
	if itsLife.goesOn() || !othersLife.goesOn() {
		t.Errorf("lives: %v, the other: %v", itsLife.goesOn(), othersLife.goesOn())
	}
}

func TestASweepFromInsideALaunchEndsTheRestOfIt(t *testing.T) {
	s, life := spec(t, "sweeper"), newLife(t)
	s.Extra = append(s.Extra, "TRICK=a chain with all of these", "FIFO="+life.path)
	r := start(t, s)
	life.await()
	noError(t, r.Send("u", "sweep"))
	if got := next[Text](r).Text; got != "still here" || life.goesOn() {
		t.Errorf("said %q, and the trick goes on: %v", got, life.goesOn())
	}
}

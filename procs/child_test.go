package procs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"claude-supervise/procs/internal/childtest"
	"claude-supervise/procs/stream"
)

func TestMain(m *testing.M) { childtest.Main(m, parts) }

// startTalking starts a command, and returns once it has printed something.
func startTalking(cmd *exec.Cmd) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
}

var parts = map[string]func(*childtest.Child){
	// polite has a turn under way and ends as the CLI does.
	"polite": func(c *childtest.Child) {
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		go func() {
			<-term
			os.Exit(143)
		}()
		c.Init()
		for c.Read() != nil {
		}
	},

	// stubborn silent does not end unless it is killed.
	"stubborn silent": func(*childtest.Child) { childtest.IgnoreSignals(); childtest.Stay() },

	// family starts a process in a session of its own, one that is an orphan, and one without our environment, all
	// deaf to SIGTERM; says their pids, and stays until its input ends.
	"family": func(c *childtest.Child) {
		const relative = `trap '' TERM HUP; echo $$; exec sleep 86400`
		var pids []int
		for _, member := range []*exec.Cmd{
			{Args: []string{"sh", "-c", relative}},
			{Args: []string{"sh", "-c", `sh -c "$0" &`, relative}},
			{Args: []string{"sh", "-c", relative}, Env: []string{"PATH=" + os.Getenv("PATH")}},
		} {
			member.Path, member.SysProcAttr = "/bin/sh", &syscall.SysProcAttr{Setsid: true}
			out, err := member.StdoutPipe()
			if err != nil {
				panic(err)
			}
			if err := member.Start(); err != nil {
				panic(err)
			}
			var pid int
			if _, err := fmt.Fscan(out, &pid); err != nil {
				panic(err)
			}
			pids = append(pids, pid)
			if pid != member.Process.Pid {
				_, _ = member.Process.Wait() // now its child is an orphan
			}
		}
		line, _ := json.Marshal(pids)
		c.Text(string(line))
		for c.Read() != nil {
		}
	},
}

// hangs bounds what a test waits for; it is no measure of anything. A line of 64 MiB took 20 s on a busy machine, under
// the race detector.
const hangs = 5 * time.Minute

// shortPatience is for what does not end by itself.
const shortPatience = 50 * time.Millisecond

// A run is a process under test and what it says.
type run struct {
	*Process
	t    *testing.T
	said chan Message
}

func spec(t *testing.T, part string) Spec {
	t.Helper()
	exe, err := os.Executable()
	noError(t, err)
	return Spec{
		Path:   exe,
		Extra:  []string{childtest.PartVariable + "=" + part},
		Marker: Marker{Run: "r-test", Agent: "a-" + uuid.NewString(), Launch: 1},
	}
}

func start(t *testing.T, s Spec) *run { return startAs(t, teller{}, s) }

func startAs(t *testing.T, agent Agent, s Spec) *run {
	t.Helper()
	r := &run{t: t, said: make(chan Message, 1000)}
	p, err := Start(agent, s, func(m Message) { r.said <- m })
	noError(t, err)
	r.Process = p
	p.Patience.Term = shortPatience
	t.Cleanup(func() { p.End(context.Background(), Kill) })
	return r
}

// next returns the next message of a type and skips others.
func next[M Message](r *run) M {
	r.t.Helper()
	for {
		select {
		case m := <-r.said:
			if m, ok := m.(M); ok {
				return m
			}
			if e, ok := m.(Exit); ok {
				r.t.Fatalf("it ended, and never said a %T: %+v", *new(M), e)
			}
		case <-time.After(hangs):
			r.hung(fmt.Sprintf("it said no %T", *new(M)))
		}
	}
}

// hung fails with what the child's goroutines are at.
func (r *run) hung(why string) {
	r.t.Helper()
	_ = syscall.Kill(r.PID(), syscall.SIGQUIT) // it may have ended
	for {
		select {
		case m := <-r.said:
			if e, ok := m.(Exit); ok {
				r.t.Fatalf("%s\n%s", why, e.Stderr)
			}
		case <-time.After(hangs / 10):
			r.t.Fatal(why)
		}
	}
}

// A teller is an Agent that says an Init and texts in the CLI's form, and takes messages.
type teller struct{}

func (teller) Launch(p *Process) (Launch, error) {
	cmd := exec.Command(p.Spec.Path, p.Spec.Prefix...)
	cmd.Env = p.Spec.Environ(func(env []string) []string { return env })
	return Launch{Cmd: cmd, Exchange: &telling{Process: p}}, nil
}

type telling struct {
	*Process
	in *os.File
}

func (t *telling) Open() (theirs *os.File, err error) {
	theirs, t.in, err = os.Pipe()
	return theirs, err
}

func (t *telling) Listen(out *Output) (e Exit, last func()) {
	for in := stream.NewLines(out, stream.MaxLine); ; {
		line, _, err := in.Next()
		if err != nil {
			return e, func() {}
		}
		var l stream.Line
		e.Spoke = stream.Decode(line, &l) || e.Spoke
		if l.Subtype == "init" {
			t.Tell(Init{})
		}
		for _, b := range l.Message.Content {
			t.Tell(Text{Text: b.Text})
		}
	}
}

func (t *telling) Complain([]byte) {}

func (t *telling) Leave(ctx context.Context, how Ending) {
	if t.Close(); how == Finish {
		t.Gone(ctx, t.Patience.Finish)
	}
}

func (t *telling) Close() {
	if t.in != nil {
		_ = t.in.Close()
	}
}

func (t *telling) Send(uuid, text string, _ ...Image) error {
	return json.NewEncoder(t.in).Encode(map[string]any{"type": "user", "uuid": uuid,
		"message": map[string]any{"content": text}})
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

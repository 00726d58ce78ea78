package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/text"
)

// background is how a supervisor is told the id of its run, and that nobody sits before it.
const background = "CLAUDE_SUPERVISE_BACKGROUND="

// A process is the claude-supervise of one run.
type process struct {
	cmd    *exec.Cmd
	ended  chan struct{}
	code   int
	stderr bytes.Buffer
}

// startSupervisor starts the supervisor of a run. changed is told with each thing that happens in the run: the event as
// `run --json` prints it, which is valid until changed returns; of a long one only the beginning. It ends with this
// process, where the kernel can see to that.
func (h *held) startSupervisor(args []string, stdin string, changed func(event []byte)) (*process, error) {
	p := &process{cmd: exec.Command(h.Program, args...), ended: make(chan struct{})}
	p.cmd.Dir = h.work()
	p.cmd.Env = h.env(background + h.Task.Run)
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stderr = &tail{buffer: &p.stderr}
	p.cmd.SysProcAttr = ofItsOwn()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	ready, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.ExtraFiles = []*os.File{theirs} // it says there that it is under way, which its events say, too
	started := make(chan error)
	// Waited for by ended. It has a thread of its own until the process has ended: the kernel looks at that to see whether
	// we live.
	go func() {
		runtime.LockOSThread()
		err := p.cmd.Start()
		_ = theirs.Close()
		_ = ready.Close()
		started <- err
		if err != nil {
			return
		}
		for lines := bufio.NewReaderSize(out, 64<<10); ; {
			line, more, err := lines.ReadLine()
			if err != nil {
				break
			}
			changed(line)
			for more && err == nil {
				_, more, err = lines.ReadLine()
			}
		}
		err = p.cmd.Wait()
		p.code = p.cmd.ProcessState.ExitCode()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			p.code = exit.Internal
		}
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", h.Program, err)
	}
	return p, nil
}

// maxSaid is how much is told of what a process has said, in bytes.
const maxSaid = 1000

// said returns the last of what the process said on stderr, as one line.
func (p *process) said() string { return lastSaid(p.stderr.String()) }

// lastSaid returns why a program ends, as one line: what it has said last under its name, or its last line. Warnings
// may have come before.
func lastSaid(stderr string) string {
	const name = "claude-supervise: "
	said := "\n" + strings.TrimSpace(stderr)
	if at := strings.LastIndex(said, "\n"+name); at >= 0 {
		said = said[at+len(name)+1:]
	} else {
		said = said[strings.LastIndex(said, "\n")+1:]
	}
	return text.Line(strings.Join(strings.Fields(said), " "), maxSaid)
}

// interrupt has the supervisor end its agents, save, and leave.
func (p *process) interrupt() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// hurry has a supervisor that was interrupted end its agents at once, and save no more. Only a SIGINT says so.
func (p *process) hurry() { _ = p.cmd.Process.Signal(os.Interrupt) }

// kill ends it at once.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// tail keeps the last of what is written.
type tail struct{ buffer *bytes.Buffer }

const maxTail = 8 << 10

// Write keeps it.
func (t *tail) Write(b []byte) (int, error) {
	t.buffer.Write(b)
	if over := t.buffer.Len() - maxTail; over > 0 {
		t.buffer.Next(over)
	}
	return len(b), nil
}

// does runs claude-supervise to its end with the run's state.
func (h *held) does(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, h.Program, args...)
	cmd.Dir, cmd.Env = h.dir, h.env()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	words := lastSaid(said.String())
	var exit *exec.ExitError
	if words == "" || !errors.As(err, &exit) {
		return nil, fmt.Errorf("claude-supervise %s: %w", args[0], err)
	}
	return nil, errors.New(words)
}

// unpacked is what unpack --json prints, as far as it is of use here.
type unpacked struct {
	Withheld []struct {
		What  string `json:"what"`
		Again string `json:"again"` // the flag that grants it
	} `json:"withheld"`
	Snapshot *struct {
		InTurn []string `json:"in_turn"`
	} `json:"snapshot"`
}

// unpack takes the run out of a snapshot. Whatever lies in a file, claude-supervise keeps nothing that it grants; but
// this one was sealed by the fleet, which vouches for it: what a person has granted the run before stays.
func (h *held) unpack(ctx context.Context, file string) (unpacked, error) {
	args := slices.Concat([]string{"unpack", file, "--vouched", "--json", "--cwd", h.work()}, h.Task.Given)
	if claude := slices.Concat(h.Task.Claude, h.Task.Again); len(claude) > 0 {
		args = append(append(args, "--"), claude...)
	}
	var u unpacked
	out, err := h.does(ctx, args...)
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(out, &u)
}

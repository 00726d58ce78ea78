package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/text"
)

// A supervisor in the background is this program once more, in a session of its own so that it outlives the terminal.
// What it says goes to a file in its run's folder. request.BackgroundRun tells it which run it is for; once it
// supervises that, it says so on readyFD, which whoever has started it waits for.
const readyFD = 3

// underWay tells whoever has started this supervisor in the background that it supervises its run now.
func underWay() {
	if !request.InBackground() {
		return
	}
	ready := os.NewFile(readyFD, "ready")
	_, _ = fmt.Fprintln(ready, "under way") // who has gone meanwhile need not know
	_ = ready.Close()
}

// inTheBackground starts this program with these arguments as the supervisor of a run, and waits until it is that. It
// gives the file that it writes to. Where it ends before, the error is a *backgroundError.
func inTheBackground(c client.Client, run string, stdin io.Reader, env []string,
	args ...string) (log string, err error) {
	self, err := programs.Own()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(c.Dirs.RunDir(run), 0o700); err != nil {
		return "", err
	}
	log = filepath.Join(c.Dirs.RunDir(run), "supervisor.out")
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = out.Close() }() // the other has its own
	before, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = ours.Close() }() // only read
	cmd := exec.Command(self, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = stdin, out, out, []*os.File{theirs}
	cmd.Env = append(append(os.Environ(), request.BackgroundRun+"="+run), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = theirs.Close() // the other has its own
	if err != nil {
		return "", err
	}
	if said, _ := bufio.NewReader(ours).ReadString('\n'); said != "" {
		return log, cmd.Process.Release()
	}
	_ = cmd.Wait() // its exit code tells, unless a supervisor in this process has reaped it
	said, err := io.ReadAll(io.NewSectionReader(out, before, maxSaid))
	if err != nil {
		return log, err
	}
	return log, &backgroundError{said: string(said), code: cmd.ProcessState.ExitCode()}
}

// A backgroundError is the end of a supervisor before it had its run.
type backgroundError struct {
	said string
	code int
}

func (e *backgroundError) Error() string {
	return strings.TrimPrefix(strings.TrimSpace(e.said), "claude-supervise: ")
}

// ExitsWith is the exit code of the supervisor.
func (e *backgroundError) ExitsWith() int { return e.code }

// maxSaid bounds what is repeated of what a supervisor said before it ended, in bytes.
const maxSaid = 4 << 10

// detach starts a run in the background, with what was read from stdin and typed for it. Its id goes to stdout, what
// one needs next to stderr.
func detach(o request.Request, asJSON bool) error {
	brief, err := json.Marshal(o.Collected)
	if err != nil {
		return err
	}
	client, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing was written
	run := host.NewRun()
	log, err := inTheBackground(client, run, strings.NewReader(o.Stdin),
		[]string{request.BackgroundBrief + "=" + string(brief)},
		os.Args[1:]...)
	if err != nil {
		return err
	}
	return terminal.Print(func(p *terminal.Printer) error {
		if asJSON {
			return p.JSON(map[string]string{"id": run, "run": run, "output": log})
		}
		p.Notice(fmt.Sprintf("It continues in the background. Commands for it:\n"+
			"  claude-supervise attach %[1]s\n  claude-supervise answer\n  claude-supervise wait %[1]s", run))
		return p.Result(run)
	})
}

// programFor returns this program as agents that work in a folder may run it unasked; "" where it lies in that folder,
// for they may have written it.
func programFor(self, cwd string) string {
	folder, err := filepath.EvalSymlinks(cwd)
	if err != nil || text.Under(self, folder) {
		return ""
	}
	return self
}

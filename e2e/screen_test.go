package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/procs/pty"
)

// A screen is a person at a terminal that one command of the program has to itself.
type screen struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File // the person's side
	more chan struct{}
	gone chan struct{} // the command's side is closed, all was seen

	mu    sync.Mutex
	seen  []byte // but for the wake-up sockets
	read  int    // of seen, by sees
	bells int
}

// screenPatience is how long a test waits for what has to come. It only bounds a failing test.
const screenPatience = time.Minute

// sit starts a command of the program on a terminal of 80 columns, on which questions are asked in lines;
// terminal_test.go has the forms. The environment is the world's, with what is given on top.
func (w *world) sit(env []string, args ...string) *screen {
	w.t.Helper()
	return w.seat(w.Command(args...), env)
}

func (w *world) seat(cmd *exec.Cmd, env []string) *screen {
	w.t.Helper()
	s := &screen{t: w.t, cmd: cmd, more: make(chan struct{}, 1), gone: make(chan struct{})}
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm-256color", "ACCESSIBLE=1", "GORACE=atexit_sleep_ms=0"), env...)
	tty, err := pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 80})
	noError(w.t, err)
	s.tty = closable(w.t, tty)
	go s.watch()
	w.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.tty.Close()
		<-s.gone
	})
	return s
}

// closable returns a terminal that can be closed while somebody reads it.
func closable(t *testing.T, tty *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(tty.Fd()))
	noError(t, err)
	noError(t, syscall.SetNonblock(fd, true))
	noError(t, tty.Close())
	return os.NewFile(uintptr(fd), tty.Name())
}

func (s *screen) watch() {
	defer close(s.gone)
	buffer := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buffer)
		s.mu.Lock()
		s.bells += bytes.Count(buffer[:n], []byte("\a"))
		s.seen = append(s.seen, bytes.ReplaceAll(buffer[:n], []byte("\a"), nil)...)
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// sees waits until the terminal shows what matches after what was seen before, and gives all up to its end.
func (s *screen) sees(pattern string) string {
	s.t.Helper()
	wanted := regexp.MustCompile(pattern)
	limit := time.NewTimer(screenPatience)
	defer limit.Stop()
	for ended := false; ; {
		s.mu.Lock()
		rest := string(s.seen[s.read:])
		at := wanted.FindStringIndex(rest)
		if at != nil {
			s.read += at[1]
		}
		s.mu.Unlock()
		switch {
		case at != nil:
			return rest[:at[1]]
		case ended:
			s.t.Fatalf("it ended without showing %q:\n%s", pattern, rest)
		}
		select {
		case <-s.more:
		case <-s.gone:
			ended = true
		case <-limit.C:
			s.t.Fatalf("%q is not shown:\n%s", pattern, rest)
		}
	}
}

// types presses keys; \r is Enter.
func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// presses presses a key until it is taken: a dialog that has just been drawn takes none yet. What says so must do so at
// once, or the next dialog gets the key, too.
func (s *screen) presses(key, what string, taken func() bool) {
	s.t.Helper()
	var last time.Time
	waitUntil(s.t, what, func() bool {
		if taken() {
			return true
		}
		if time.Since(last) > 5*time.Second {
			s.types(key)
			last = time.Now()
		}
		return false
	})
}

// declines says no to a question of the command's own, should it ask one before it ends.
func (s *screen) declines() {
	s.t.Helper()
	for ended := false; !ended; {
		select {
		case <-s.more:
		case <-s.gone:
			ended = true
		}
		s.mu.Lock()
		asks := bytes.HasSuffix(s.seen, []byte("[y/N] "))
		s.mu.Unlock()
		if asks {
			s.types("\r")
			return
		}
	}
}

// ends waits for the command's end and gives its exit code. All that was shown must be fit for a terminal.
func (s *screen) ends() int {
	s.t.Helper()
	code := s.leaves()
	s.clean()
	return code
}

// leaves is ends where questions are forms, which draw.
func (s *screen) leaves() int {
	s.t.Helper()
	err := s.cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	<-s.gone
	return s.cmd.ProcessState.ExitCode()
}

// exits waits for the command's end with an exit code.
func (s *screen) exits(want int) {
	s.t.Helper()
	if code := s.ends(); code != want {
		s.t.Fatalf("exit %d, want %d\n%s", code, want, s.seen)
	}
}

// leavesWith is exits where questions are forms.
func (s *screen) leavesWith(want int) {
	s.t.Helper()
	if code := s.leaves(); code != want {
		s.t.Fatalf("exit %d, want %d\n%s", code, want, s.seen)
	}
}

// ours are the sequences that the program itself may print on an able terminal: bold, faint, and back; erase the rest
// of the line.
var ours = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\[K`)

// echoed is what the terminal itself shows of a key.
var echoed = regexp.MustCompile(`\^[CD]`)

// rows splits what was shown where a new row begins, or one is drawn anew.
func rows(shown string) []string {
	return regexp.MustCompile(`[\r\n]+`).Split(echoed.ReplaceAllString(ours.ReplaceAllString(shown, ""), ""), -1)
}

// unbroken ends a row that may be wider than the terminal: a command or a path is to be copied, and must not be broken.
var unbroken = regexp.MustCompile(`(claude-supervise resume r-\w+|/\S+)$`)

// clean checks that nothing was shown that a terminal would obey, but for our own few sequences, and that no line of
// prose is wider than 80 columns.
func (s *screen) clean() {
	s.t.Helper()
	text := ours.ReplaceAllString(string(s.seen), "")
	if bad := regexp.MustCompile(
		"[^\r\n\t -~\u00a0-\uffff]|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]").FindString(text); bad != "" {
		s.t.Errorf("%q reached the terminal:\n%q", bad, s.seen)
	}
	for _, row := range rows(string(s.seen)) {
		if width := ansi.StringWidth(row); width > 80 && !unbroken.MatchString(row) {
			s.t.Errorf("a line of %d columns: %s", width, row)
		}
	}
}

// askedFor is what the terminal shows when it waits for an answer.
const askedFor = `(q-[a-z0-9]{6})> $`

// asked waits for the prompt of a question whose text matches, and gives its id.
func (s *screen) asked(question string) string {
	s.t.Helper()
	s.sees(question)
	return regexp.MustCompile(askedFor).FindStringSubmatch(s.sees(askedFor))[1]
}

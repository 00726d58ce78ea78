package e2e

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"claude-supervise/procs/pty"
)

// A picture is what a terminal shows after all that was written to it. Like most terminals it breaks rows that are
// wider than it has become.
type picture struct {
	columns  int
	rows     []string // of ASCII and the ellipsis
	row, col int
}

var sequence = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

// draws takes what is written. What it does not know it shows, so that it is found.
func (p *picture) draws(text string) {
	for len(text) > 0 {
		if m := sequence.FindStringSubmatch(text); m != nil {
			p.obeys(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text[:min(len(text), 8)])[0]
		text = strings.TrimPrefix(text, string(r))
		switch r {
		case '\r':
			p.col = 0
		case '\n':
			p.row++
		default:
			p.puts(r)
		}
	}
}

func (p *picture) obeys(number, command string) {
	n, _ := strconv.Atoi(number) // none is 0
	switch command + number {
	case "K":
		p.at()
		p.rows[p.row] = string(cells(p.rows[p.row], p.col)[:p.col])
	case "J":
		p.at()
		p.rows[p.row] = string(cells(p.rows[p.row], p.col)[:p.col])
		p.rows = p.rows[:p.row+1]
	case "J2":
		p.rows = nil
	case "H":
		p.row, p.col = 0, 0
	case "A" + number:
		p.row = max(p.row-max(n, 1), 0)
	default:
		for _, r := range "<" + number + command + ">" {
			p.puts(r)
		}
	}
}

func (p *picture) puts(r rune) {
	if p.col == p.columns {
		p.row, p.col = p.row+1, 0
	}
	p.at()
	row := cells(p.rows[p.row], p.col+1)
	row[p.col] = r
	p.rows[p.row] = string(row)
	p.col++
}

// at makes the rows down to the cursor's.
func (p *picture) at() {
	for len(p.rows) <= p.row {
		p.rows = append(p.rows, "")
	}
}

// cells returns the cells of a row, at least so many.
func cells(row string, least int) []rune {
	cells := []rune(row)
	for len(cells) < least {
		cells = append(cells, ' ')
	}
	return cells
}

func (p *picture) narrows(columns int) {
	p.at()
	p.columns = columns
	var broken []string
	for i, row := range p.rows {
		if i == p.row {
			p.row = len(broken)
		}
		for cells := []rune(row); len(cells) > columns; cells = []rune(row) {
			broken, row = append(broken, string(cells[:columns])), string(cells[columns:])
		}
		broken = append(broken, row)
	}
	p.rows = broken
}

// A watched is a screen that is drawn in place.
type watched struct {
	*screen
	narrowed map[int]int // how much was seen when the terminal got so many columns
}

func (w *world) watch(args ...string) *watched {
	w.t.Helper()
	return &watched{w.sit(nil, args...), map[int]int{}}
}

// narrow makes the terminal narrower.
func (w *watched) narrow(columns int) {
	w.t.Helper()
	w.mu.Lock()
	w.narrowed[columns] = len(w.seen)
	w.mu.Unlock()
	noError(w.t, pty.Setsize(w.tty, &pty.Winsize{Rows: 40, Cols: uint16(columns)}))
}

func (w *watched) picture() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, text := picture{columns: 80}, string(w.seen)
	for columns, at := range w.narrowed { // one at most
		p.draws(text[:at])
		p.narrows(columns)
		text = text[at:]
	}
	p.draws(text)
	return strings.Join(p.rows, "\n")
}

// shows waits until the whole terminal matches.
func (w *watched) shows(pattern string) {
	w.t.Helper()
	wanted := regexp.MustCompile(`^` + pattern + `$`)
	limit := time.NewTimer(screenPatience)
	defer limit.Stop()
	for ended := false; ; {
		now := w.picture()
		switch {
		case wanted.MatchString(now):
			return
		case ended:
			w.t.Fatalf("it ended with\n%s\nwanted: %s", now, pattern)
		}
		select {
		case <-w.more:
		case <-w.gone:
			ended = true
		case <-limit.C:
			w.t.Fatalf("it shows\n%s\nwanted: %s", now, pattern)
		}
	}
}

// leaves waits for the end, which must find the terminal's mode as it was, and gives the exit code.
func (w *watched) leaves(before *term.State) int {
	w.t.Helper()
	err := w.cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	<-w.gone
	after, err := term.GetState(int(w.tty.Fd()))
	noError(w.t, err)
	if fmt.Sprint(after) != fmt.Sprint(before) {
		w.t.Errorf("the terminal's mode was %v, and is %v", before, after)
	}
	return w.cmd.ProcessState.ExitCode()
}

func (w *watched) mode() *term.State {
	w.t.Helper()
	mode, err := term.GetState(int(w.tty.Fd()))
	noError(w.t, err)
	return mode
}

const (
	listHead = `RUN +STATUS +SINCE +ASKS +COST +NEXT +TASK\n`
	listFoot = `\(q leaves; the runs continue\)\n`
)

func TestWatchedRunsAreDrawnInPlaceOnATerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.watch("ps", "--watch")
	s.shows(`No run is active\. Ended runs: claude-supervise ps -a\n` + listFoot)
	held := w.start("run", "--demo", "ask", "--hold", "forever", "--on-question", "ask")
	s.shows(listHead + `r-\w+ +waiting +\S.*1 .*\n  asks: .* · \S+\n` + listFoot)
	s.narrow(62)
	s.shows(`RUN +STATUS .*\nr-\w+ +waiting .*\n.*\n` + listFoot)
	for _, row := range strings.Split(s.picture(), "\n") {
		if width := ansi.StringWidth(row); width > 62 {
			t.Errorf("a row of %d columns: %s", width, row)
		}
	}
	s.shows(`RUN +STATUS .*\nr-\w+ +waiting +[2-9]s ago .*\n.*\n` + listFoot) // ages grow though nothing changes
	held.kill9()
	s.shows(`RUN +STATUS .*\nr-\w+ +orphaned .*\n(  .*\n)+` + listFoot)
	w.must("stop", w.ps().ID)
	s.shows(`No run is active\. Ended runs: claude-supervise ps -a\n` + listFoot)
}

func TestAKeyOrCtrlCLeavesTheWatchWithSuccess(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"q": "q", "Q": "Q", "Ctrl-C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			w.park()
			s := w.watch("ps", "-w", "--tree")
			// The mode is the terminal's own: it is read on both sides, and was not set before the start.
			person, other, err := pty.Open()
			noError(t, err)
			defer func() { _ = person.Close(); _ = other.Close() }()
			untouched, err := term.GetState(int(other.Fd()))
			noError(t, err)
			s.shows(`RUN, AGENT +STATUS .*\nr-\w+ +parked .*\n  a-\w+ +parked .*\n    asks q-\w+: .*\n` + listFoot)
			s.types("what is no key")
			s.types(key)
			if code := s.leaves(untouched); code != 0 {
				t.Errorf("exit %d", code)
			}
			echo := regexp.MustCompile(`(\^C)?$`).FindString(s.picture())
			if got := strings.TrimSuffix(s.picture(), echo); !strings.HasSuffix(got, "the runs continue)\n") {
				t.Errorf("keys are shown:\n%s", got)
			}
		})
	}
}

func TestWatchedRunsOnADumbTerminalArePrintedWhenTheyChange(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit([]string{"TERM=dumb"}, "ps", "--watch")
	s.sees(`No run is active`)
	w.park()
	s.sees(listHead[:len(listHead)-2] + `\r\nr-\w+ +parked`)
	s.types("\x03")
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if strings.Contains(string(s.seen), "\x1b") {
		t.Errorf("it shows an escape sequence: %q", s.seen)
	}
}

func TestTheLogOnATerminalHoldsNothingThatItWouldObey(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.exits(0, "run", "--demo", w.scenario(hostile), "--answer", "colour=red")
	for _, args := range [][]string{{"logs"}, {"logs", "--raw"}, {"logs", "-f"}, {"logs", "-f", "--raw"}} {
		s := w.watch(append(args, w.ps().ID)...)
		if code := s.leaves(s.mode()); code != 0 {
			t.Errorf("%q exits %d", args, code)
		}
		if bad := regexp.MustCompile(
			"[^\r\n\t -~\u00a0-\uffff]|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]").FindString(
			string(s.seen)); bad != "" {
			t.Errorf("%q: %q reached the terminal:\n%q", args, bad, s.seen)
		}
		if !strings.Contains(string(s.seen), "hidden") {
			t.Errorf("%q shows nothing:\n%s", args, s.seen)
		}
	}
}

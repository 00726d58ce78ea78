package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/machinetest"

	"github.com/charmbracelet/x/ansi"
)

// A pane is a person at a terminal of tmux, with a shell that has job control: what is on the screen is what they see.
type pane struct {
	t      *testing.T
	socket string
	env    []string
	more   chan struct{} // something was written to the screen
}

// sitInTmux opens a terminal of 80 by 24 with a shell in the world's folder.
func (w *world) sitInTmux() *pane {
	w.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		machinetest.Lacks(w.t, "tmux shows what is on the screen: %v", err)
	}
	dir, err := os.MkdirTemp("", "tmux") // the path of a socket may have some hundred bytes only
	noError(w.t, err)
	p := &pane{t: w.t, socket: filepath.Join(dir, "s"), env: w.Env, more: make(chan struct{}, 1)}
	written := filepath.Join(dir, "written")
	noError(w.t, syscall.Mkfifo(written, 0o600))
	reader, err := os.OpenFile(written, os.O_RDWR, 0) // for writing too: it neither blocks nor ends before it is closed
	noError(w.t, err)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for buffer := make([]byte, 1<<16); ; {
			if _, err := reader.Read(buffer); err != nil {
				return
			}
			select {
			case p.more <- struct{}{}:
			default:
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run()
		_ = reader.Close()
		<-watched
		_ = os.RemoveAll(dir)
	})
	// By itself the shell would switch the marks of a paste on and off at each of its prompts.
	inputrc := filepath.Join(dir, "inputrc")
	noError(w.t, os.WriteFile(inputrc, []byte("set enable-bracketed-paste off\n"), 0o600))
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y",
		"24", "-c", w.Cwd, "exec env 'PS1=$ ' INPUTRC="+inputrc+" bash --norc --noprofile")
	p.tmux("set", "-g", "window-size", "manual")
	p.tmux("pipe-pane", "exec cat > "+written)
	p.sees(`\$$`)
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// screen is what is on the screen, without the blanks that fill it up.
func (p *pane) screen() string {
	p.t.Helper()
	return strings.TrimRight(p.tmux("capture-pane", "-p"), "\n")
}

// sees waits until the screen matches, and gives it.
func (p *pane) sees(pattern string) string {
	p.t.Helper()
	wanted := regexp.MustCompile(pattern)
	limit := time.NewTimer(screenPatience)
	defer limit.Stop()
	for {
		screen := p.screen()
		if wanted.MatchString(screen) {
			return screen
		}
		select {
		case <-p.more:
		case <-limit.C:
			p.t.Fatalf("%q is not on the screen:\n%s", pattern, screen)
		}
	}
}

// keys presses keys: their names in tmux, or the text that they write.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// pastes pastes a text as terminals do.
func (p *pane) pastes(text string) {
	p.t.Helper()
	p.tmux("set-buffer", text)
	p.tmux("paste-buffer", "-p", "-r")
}

func (p *pane) resizes(columns, rows string) { p.tmux("resize-window", "-x", columns, "-y", rows) }

// sane checks that the terminal is as a shell wants it.
func (p *pane) sane(prompts string) {
	p.t.Helper()
	p.keys("stty -a | grep -cwE -- '-(icanon|echo|icrnl|isig|iexten)'", "Enter")
	p.sees(`iexten\)'\n0\n\$$`)
	if flags := p.tmux("display-message", "-p", "#{cursor_flag}"); flags != "1\n" {
		p.t.Errorf("%s: the cursor is hidden", prompts)
	}
}

const formed = `
name: formed
about: questions of every sort on an able terminal
prompt: Set it up.
turns:
  - when: "## YOUR TASK"
    replies:
      - text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          questions:
            - question_id: Q1
              header: Login
              text: Which way of login?
              context: The API has none.
              options:
                - label: JWT
                  description: a signed token
                - label: Sessions
                  description: an id that the server looks up
            - question_id: Q2
              text: Which of them as well?
              multi_select: true
              options: [metrics, traces, profiles]
            - question_id: Q3
              text: What does the banner say?
            - question_id: Q4
              text: Shall it start?
              validate: yes_no
            - question_id: Q5
              text: And when?
          [/CLARIFICATION_NEEDED]
expect: {status: interrupted, exit_code: 130}
`

// Everything in one session: what comes after a form matters as much as the form.
func TestFormsOnAnAbleTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p := w.sitInTmux()
	p.keys("claude-supervise run --demo "+w.scenario(formed), "Enter")

	screen := p.sees(`(^|\n)\? Login · question 1 of 5\n\[q-.*\n\nWhich way of login\?\n(.*\n)+❯ 1\) JWT\n(.*\n)+.*\? help$`)
	id := regexp.MustCompile(`q-[a-z0-9]{6}`)
	asked := func(screen string) string { ids := id.FindAllString(screen, -1); return ids[len(ids)-1] }
	first := asked(screen)
	p.keys("Down")
	p.sees(`❯ 2\) Sessions`)
	p.keys("C-z")
	p.sees(`(?s)Stopped .*\n\$$`)
	p.sane("after Ctrl-Z")
	p.keys("fg", "Enter")
	p.sees(`fg\n(.*\n)+❯ 2\) Sessions(.*\n)+.*\? help$`)
	p.resizes("40", "10")
	for row := range strings.SplitSeq(
		p.sees(`(?s)^\? Login · question 1 of 5\n.*Which way of login\?\n.*❯ 2\) Sessions\n.*Tab own words · \? help$`), "\n") {
		if ansi.StringWidth(row) > 40 {
			t.Errorf("wider than 40: %s", row)
		}
	}
	p.resizes("80", "24")
	if screen := p.sees(`\n↑↓ Enter choose · type to filter · Tab own words · \? help$`); strings.Count(screen,
		"Which way of login?") != 1 {
		t.Errorf("a picture is left behind:\n%s", screen)
	}
	for range 2 { // what stood on the first rows is above a lower one
		p.resizes("80", "8")
		p.sees(`(?s)\A\? Login.*\? help$`)
		p.resizes("80", "24")
		p.sees(`(?s)\? Login.*an id that the server looks up\n.*\? help$`)
	}
	if all := p.tmux("capture-pane", "-p", "-S", "-"); strings.Count(all, "Which way of login?") != 1 {
		t.Errorf("a picture is kept above the screen:\n%s", all)
	}
	p.keys("jw")
	p.sees(`filter: jw *\n❯ 1\) JWT`)
	p.keys("Enter")
	p.sees(first + `\] Which way of login\?\n  Answered: JWT\n`)

	p.sees(`Which of them as well\?(.*\n)+❯ \[ \] 1\) metrics(.*\n)+.*\? help$`)
	p.keys("Space", "Down", "Down", "Space")
	p.sees(`\[x\] 1\) metrics\n  \[ \] 2\) traces\n❯ \[x\] 3\) profiles`)
	p.keys("Enter")
	p.sees(`Answered: metrics, profiles\n`)

	third := asked(p.sees(`question 3 of 5(.*\n)+❯(.*\n)+.*\? help$`))
	p.pastes("one\ntwo\nthree")
	p.sees(`❯ one\n  two\n  three`)
	p.keys("Enter")

	// Answered elsewhere while one types.
	screen = p.sees(`Shall it start\?(.*\n)+❯ 1\) yes(.*\n)+.*\? help$`)
	if q := parse[questionView](t, w.must("show", third, "--json")); q.Answer == nil || *q.Answer != "one\ntwo\nthree" {
		t.Errorf("the paste is kept as %v", q.Answer)
	}
	p.keys("maybe")
	p.sees(`filter: maybe`)
	w.must("answer", asked(screen), "yes")
	if screen := p.sees(`Shall it start\?\n  Answered by .*claude-supervise answer.*: yes\n`); strings.Contains(screen,
		"filter: maybe") {
		t.Errorf("the form is left behind:\n%s", screen)
	}

	// Ended from outside while a form is open.
	p.sees(`And when\?(.*\n)+❯(.*\n)+.*\? help$`)
	p.keys("half an answ")
	p.sees("❯ half an answ")
	noError(t, syscall.Kill(w.ps().SupervisorPID, syscall.SIGTERM))
	p.sees(`with q-\w+ open; everything is saved(.*\n)+To continue, run: claude-supervise resume r-\w+\n\$$`)
	p.sane("after a SIGTERM")
	p.keys("echo here; cat", "Enter")
	p.sees(`\nhere$`)
	p.pastes("pasted") // and what a paste is marked with is not asked for any more
	p.sees(`\nhere\npasted$`)
}

// The start is not slowed by a terminal that answers nothing: nothing is asked of it.
func TestAnAbleTerminalIsAskedNothing(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := w.sit([]string{"ACCESSIBLE="}, "run", "--demo", "ask")
	s.sees(`\? help`)
	s.types("1\r")
	s.sees("Answered: JWT")
	err := s.cmd.Wait()
	<-s.gone
	if err != nil {
		t.Fatalf("%v\n%s", err, s.seen)
	}
	// Erase, go up, show and hide the cursor, mark pastes, a title and a mark: a terminal replies to none of them.
	known := regexp.MustCompile(`\x1b\]0;[a-z? -]*\x1b\\|\x1b\]9;4;[0-9;]*\x1b\\|\x1b\[2[23];2t|\x1b\[[0-9;]*[mKJA]|\x1b\[\?(25|2004)[hl]`)
	if rest := known.ReplaceAllString(string(s.seen), ""); strings.Contains(rest, "\x1b") {
		t.Errorf("%q", rest)
	}
}

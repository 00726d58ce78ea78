package e2e

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// A block is one of the README's fenced sessions: commands, each with what is seen after it.
type block struct {
	tty      bool
	commands []string
	outputs  []string
}

// Every session that the README shows is played, in one home, in its order, and must look as printed there, but for
// ids, folders and times.
func TestTheReadmesSessionsAreTrue(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := sessions(string(text))
	if len(blocks) < 4 {
		t.Fatalf("the README has %d sessions", len(blocks))
	}
	w := newWorld(t)
	if w.cwd, err = os.MkdirTemp("/tmp", "web"); err != nil { // short, or the lines wrap elsewhere
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(w.cwd) })
	ids := map[string]string{} // the README's ids to those of this machine
	for _, b := range blocks {
		for i, command := range b.commands {
			for shown, real := range ids {
				command = strings.ReplaceAll(command, shown, real)
			}
			seen := w.session(command, b.tty, typed(b.outputs[i]))
			learn(ids, b.outputs[i], seen)
			if diff := cmp.Diff(normal(b.outputs[i]), normal(seen)); diff != "" {
				t.Errorf("$ %s\n(-README +seen)\n%s", command, diff)
			}
		}
	}
}

func sessions(readme string) []block {
	var all []block
	for _, m := range regexp.MustCompile("(?s)```console( tty)?\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		b := block{tty: m[1] != ""}
		for line := range strings.Lines(m[2]) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				b.commands, b.outputs = append(b.commands, strings.TrimSpace(command)), append(b.outputs, "")
				continue
			}
			b.outputs[len(b.outputs)-1] += line
		}
		all = append(all, b)
	}
	return all
}

var prompt = regexp.MustCompile(`(?m)^q-[a-z0-9]{6}> (.*)$`)

// typed gives what the person types in a session.
func typed(output string) []string {
	var lines []string
	for _, m := range prompt.FindAllStringSubmatch(output, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// session runs a command as a person's shell would, and gives what the screen shows.
func (w *world) session(command string, tty bool, typed []string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", command+" 2>&1")
	cmd.Dir, cmd.Env = w.cwd, w.env
	if !tty {
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			w.t.Fatal(err)
		}
		return string(out)
	}
	cmd = exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = w.cwd, w.env
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 45, Cols: 80})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = screen.Close() }()
	var seen strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := screen.Read(buffer)
		seen.Write(buffer[:n])
		if len(typed) > 0 && regexp.MustCompile(`q-[a-z0-9]{6}> $`).MatchString(seen.String()) {
			if _, err := io.WriteString(screen, typed[0]+"\n"); err != nil {
				w.t.Fatal(err)
			}
			typed = typed[1:]
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	return strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

var anyID = regexp.MustCompile(`\b(r-[a-z0-9]{8}|q-[a-z0-9]{6}|a-[0-9A-Za-z]{12})\b`)

// learn pairs the ids of a shown output with those of a seen one, in their order.
func learn(ids map[string]string, shown, seen string) {
	real := anyID.FindAllString(seen, -1)
	for i, id := range anyID.FindAllString(shown, -1) {
		if i < len(real) && id[:2] == real[i][:2] {
			ids[id] = real[i]
		}
	}
}

// normal takes out what differs from run to run.
func normal(output string) string {
	output = anyID.ReplaceAllString(output, "ID")
	output = regexp.MustCompile(`/\S+/`).ReplaceAllString(output, "/DIR/")
	output = regexp.MustCompile(`· /\S+ ·`).ReplaceAllString(output, "· /DIR ·")
	output = regexp.MustCompile(`just now|\d+s ago`).ReplaceAllString(output, "AGO")
	output = regexp.MustCompile(` +`).ReplaceAllString(output, " ")
	return strings.TrimSpace(output)
}

// The README's first screen says what it is, with a session in it.
func TestTheReadmesFirstScreenShowsASession(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if screen := strings.Join(lines[:45], "\n"); !strings.Contains(screen, "$ claude-supervise run --demo ask") || !strings.Contains(screen, "succeeded") {
		t.Error("no whole session in the first 45 lines")
	}
}

// The commands that the README shows without their output work, too.
func TestTheReadmesPlainCommandsWork(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, m := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(string(text), -1) {
		command, _, _ := strings.Cut(m[1], "  #")
		command = strings.TrimSpace(command)
		ran++
		t.Run(command, func(t *testing.T) {
			switch {
			case command == "make test":
				// This test is part of it.
			case strings.HasPrefix(command, "git clone URL-OF-THIS-REPOSITORY "), strings.HasPrefix(command, "cd "):
				// What follows is run in the repository that is here.
			case strings.HasPrefix(command, "go "):
				w := newWorld(t)
				w.cwd = repository
				w.env = append(os.Environ(), append(w.env, "PATH="+os.Getenv("PATH"), "GOBIN="+t.TempDir(), "HOME="+os.Getenv("HOME"),
					"XDG_STATE_HOME="+t.TempDir())...)
				shell := exec.Command("sh", "-c", command)
				shell.Env, shell.Dir = w.env, t.TempDir()
				if strings.Contains(command, "./cmd") {
					shell.Dir = repository
				}
				if out, err := shell.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				_ = os.Remove(filepath.Join(repository, "auth.txt")) // what the demo makes where it stands
			case strings.HasPrefix(command, "claude-supervise run "):
				s := load(t, "permission")
				w := newWorld(t).real(s, nil)
				if seen := w.session(command, false, nil); !strings.Contains(seen, s.Expect.Summary) {
					t.Fatalf("it shows:\n%s", seen)
				}
			default:
				t.Fatal("no test knows how to run it")
			}
		})
	}
	if ran < 6 {
		t.Fatalf("the README shows %d plain commands", ran)
	}
}

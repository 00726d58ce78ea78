package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/procs/pty"
)

// pages returns the README and the topics of help, by their paths from the top of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../cmd/claude-supervise/topics/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("the topics are %q (%v)", paths, err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../README.md") {
		text, err := os.ReadFile(path)
		noError(t, err)
		texts[strings.TrimPrefix(path, "../")] = string(text)
	}
	return texts
}

// A block is one of a page's fenced sessions: commands, each with what is seen after it. What follows "console"
// says where: on a terminal (tty), on another machine (elsewhere), or else in a pipe. Any other fenced block with a
// second word is the file of that name, which the sessions after it use.
type block struct {
	where    string
	commands []string
	outputs  []string

	file, text string
}

// Every session that a page shows is played, those of a page in one home, in their order. It must look as printed
// there, but for ids, folders and times.
func TestTheSessionsOfThePagesAreTrue(t *testing.T) {
	t.Parallel()
	played := 0
	for page, text := range pages(t) {
		blocks := sessions(text)
		if len(blocks) == 0 {
			continue
		}
		played += len(blocks)
		folder := "/tmp/" + string(rune('A'+played)) // the page's own, and as short
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			here, elsewhere := newWorld(t), newWorld(t)
			here.Cwd, elsewhere.Cwd = shortFolder(t, "web"), shortFolder(t, "clone")
			here.demosIn(folder)
			ids := map[string]string{} // the page's ids to those of this machine
			for _, b := range blocks {
				w := here
				if b.where == "elsewhere" {
					w = elsewhere
					carryPacked(t, here.Cwd, elsewhere.Home)
				}
				w.plays(b, ids, strings.NewReplacer(here.Cwd, "/home/you/web", elsewhere.Cwd, "/home/you/clone"))
			}
		})
	}
	if played < 16 {
		t.Errorf("the pages have %d sessions and files", played)
	}
}

// plays plays a session and holds what is seen against what is shown. ids are those of the page, to those of this
// machine; names gives the page's names of folders.
func (w *world) plays(b block, ids map[string]string, names *strings.Replacer) {
	w.t.Helper()
	if b.file != "" {
		w.put(b.file, b.text)
	}
	for i, command := range b.commands {
		for shown, real := range ids {
			command = strings.ReplaceAll(command, shown, real)
		}
		want, seen := normal(b.outputs[i]), ""
		for tries := 0; tries == 0 || normal(seen) != want && looks(command) && tries < untilTries; tries++ {
			seen = names.Replace(w.session(command, b.where == "tty", typed(b.outputs[i])))
		}
		learn(ids, b.outputs[i], seen)
		if diff := cmp.Diff(want, normal(seen)); diff != "" {
			w.t.Errorf("$ %s\n(-page +seen)\n%s", command, diff)
		}
	}
}

// demosIn has demos make their folders in a short path that begins so, for the same reason as shortFolder.
func (w *world) demosIn(path string) {
	folder := fmt.Sprint(path, os.Getpid())
	noError(w.t, os.Mkdir(folder, 0o700))
	w.t.Cleanup(func() { _ = os.RemoveAll(folder) })
	w.Env = append(w.Env, "TMPDIR="+folder)
}

var demoFolder = regexp.MustCompile(`/tmp/\S*supervise-demo-\d+`)

// looks reports whether a command only looks: what it shows may be a moment away, where a run goes on in the
// background.
func looks(command string) bool {
	return slices.ContainsFunc([]string{"claude-supervise ps", "ls ", "tail "}, func(begin string) bool {
		return strings.HasPrefix(command, begin)
	})
}

// shortFolder makes a folder with a short path, or the lines wrap elsewhere than on the page.
func shortFolder(t *testing.T, name string) string {
	dir, err := os.MkdirTemp("/tmp", name)
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// carryPacked copies the packed runs of one folder to another, as scp would.
func carryPacked(t *testing.T, from, to string) {
	files, err := filepath.Glob(filepath.Join(from, "*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is packed before a session elsewhere (%v)", err)
	}
	for _, file := range files {
		copyFile(t, file, filepath.Join(to, filepath.Base(file)))
	}
}

func sessions(readme string) []block {
	var all []block
	for _, m := range regexp.MustCompile("(?s)```(\\w+) *(\\S*)\n(.*?)```").FindAllStringSubmatch(readme, -1) {
		if m[1] != "console" {
			if m[2] != "" {
				all = append(all, block{file: m[2], text: m[3]})
			}
			continue
		}
		b := block{where: m[2]}
		for line := range strings.Lines(m[3]) {
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

// typed returns what the person types in a session.
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
	cmd := exec.Command("sh", "-c", "exec 2>&1; "+command)
	cmd.Dir, cmd.Env = w.Cwd, w.Env
	if !tty {
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			w.t.Fatal(err)
		}
		return string(out)
	}
	cmd = exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = w.Cwd, w.Env
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 45, Cols: 80})
	noError(w.t, err)
	defer func() { _ = screen.Close() }()
	var seen strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := screen.Read(buffer)
		seen.WriteString(strings.ReplaceAll(string(buffer[:n]), "\a", "")) // the bell is heard, before or after a prompt
		if len(typed) > 0 && regexp.MustCompile(`q-[a-z0-9]{6}> $`).MatchString(seen.String()) {
			if _, err := io.WriteString(screen, typed[0]+"\n"); err != nil {
				w.t.Fatal(err)
			}
			typed = typed[1:]
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) {
			break
		}
		noError(w.t, err)
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
	output = demoFolder.ReplaceAllString(output, "/DEMO")
	output = regexp.MustCompile(`/\S+/`).ReplaceAllString(output, "/DIR/")
	output = regexp.MustCompile(`· /\S+ ·`).ReplaceAllString(output, "· /DIR ·")
	output = regexp.MustCompile(`just now|\d+[sm] ago`).ReplaceAllString(output, "AGO")
	output = regexp.MustCompile(`\d+ KiB|\(\d+ lines\)`).ReplaceAllString(output, "SIZE")
	output = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`).ReplaceAllString(output, "TIME")
	output = regexp.MustCompile(`\((\d+[smhd] ?)+,\s<?\$[\d.]+\)`).ReplaceAllString(output, "(TOOK)")
	output = regexp.MustCompile(`\| \d+s \|`).ReplaceAllString(output, "| TOOK |")
	output = regexp.MustCompile(`pts/\d+`).ReplaceAllString(output, "pts/N")
	output = regexp.MustCompile(`  \d{2,}  `).ReplaceAllString(output, "  PID  ")
	// by the folder's name
	output = regexp.MustCompile(`lines, \d+ bytes\)`).ReplaceAllString(output, "lines, SIZE bytes)")
	// a cell, by the widths of the others
	output = regexp.MustCompile(`\S+( \S+)* ?…( \+\d+| \(\+\d+ bytes\))?`).ReplaceAllString(output, "CUT…")
	output = regexp.MustCompile(` +`).ReplaceAllString(output, " ")
	return strings.TrimSpace(output)
}

// The README's first screen says what it is, with a session in it.
func TestTheReadmesFirstScreenShowsASession(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	noError(t, err)
	lines := strings.Split(string(text), "\n")
	if screen := strings.Join(lines[:45], "\n"); !strings.Contains(screen,
		"$ claude-supervise run --demo subagent-asks") || !strings.Contains(screen, "succeeded") {
		t.Error("no whole session in the first 45 lines")
	}
}

// The commands that the pages show without their output work, too.
func TestThePlainCommandsOfThePagesWork(t *testing.T) {
	t.Parallel()
	repository, err := filepath.Abs("..")
	noError(t, err)
	var commands []string
	for _, text := range pages(t) {
		commands = append(commands, plainCommands(text)...)
	}
	slices.Sort(commands)
	commands = slices.Compact(commands)
	for _, command := range sample.Part(t.Name(), commands, 9) {
		t.Run(command, func(t *testing.T) {
			switch {
			case command == "claude-supervise board":
				p := newWorld(t).sitInTmux()
				p.keys(command, "Enter")
				p.sees("No run is active")
				p.keys("q")
				p.sees(`board\n\$$`)
			case strings.HasPrefix(command, "go "):
				w := newWorld(t)
				w.Cwd = repository
				w.Env = append(os.Environ(),
					append(w.Env, "PATH="+os.Getenv("PATH"), "GOBIN="+t.TempDir(), "HOME="+os.Getenv("HOME"),
						"XDG_STATE_HOME="+t.TempDir())...)
				shell := exec.Command("sh", "-c", command)
				shell.Env, shell.Dir = w.Env, t.TempDir()
				if strings.Contains(command, "./cmd") {
					shell.Dir = repository
				}
				if out, err := shell.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			case command == "claude-supervise doctor":
				w := newWorld(t).real(load(t, "permission"), nil)
				if seen := w.session(command, false, nil); strings.Contains(seen, "BAD") || !strings.Contains(seen, "ok   claude") {
					t.Errorf("it shows:\n%s", seen)
				}
			case strings.HasPrefix(command, "claude-supervise run --detach --notify \"ntfy "):
				tellsItsEnd(t, command)
			case strings.HasPrefix(command, "claude-supervise answer q-7kq2mx "):
				answersADelegation(t, command)
			case strings.HasPrefix(command, "claude-supervise resume r-6mmto5w0 --allow "):
				resumesWith(t, command)
			case command == runsWithSnapshots:
				goesOnFromASnapshot(t)
			case command == unpacksASnapshot, command == resumesASnapshot:
				// They are parts of that.
			case strings.HasPrefix(command, "claude mcp add "):
				hasOurServer(t, command)
			case strings.HasPrefix(command, "claude-supervise init --sessions"):
				newWorld(t).must(append(strings.Fields(command)[1:], "--yes")...)
			case strings.HasPrefix(command, "claude-supervise serve "):
				servesAsShown(t, command)
			case strings.HasPrefix(command, "curl "):
				asksThePage(t, command)
			case strings.HasPrefix(command, "claude-supervise fleet "), strings.HasPrefix(command, "temporal operator "):
				// TestTheCommandsOfTheTopicAreTaken of claude-supervise-fleet, another module, is about them.
			case strings.HasPrefix(command, "claude-supervise run --each "):
				doesEach(t, command)
			case strings.HasPrefix(command, "claude-supervise run --demo "):
				w := newWorld(t)
				if seen := w.session(command, false, nil); !regexp.MustCompile(` succeeded \(\d+s, \S+\)\n$`).MatchString(seen) {
					t.Fatalf("it shows:\n%s", seen)
				}
			case strings.HasPrefix(command, "claude-supervise run "):
				s := isDoneAtOnce("all is well")
				if strings.Contains(command, "--permission-mode acceptEdits") {
					s = load(t, "permission")
				}
				w := newWorld(t).real(s, nil)
				if seen := w.session(command, false, nil); !strings.Contains(seen, s.Expect.Summary) {
					t.Fatalf("it shows:\n%s", seen)
				}
			default:
				t.Fatal("no test knows how to run it")
			}
		})
	}
	if len(commands) < 20 {
		t.Fatalf("the pages show %d plain commands", len(commands))
	}
}

// plainCommands returns the commands that a page shows indented, without their output.
func plainCommands(page string) []string {
	page = strings.ReplaceAll(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, ""), "\\\n      ", "")
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(page, -1) {
		command, _, _ := strings.Cut(m[1], "  #")
		all = append(all, strings.TrimSpace(command))
	}
	return all
}

// isDoneAtOnce is an agent that asks nothing and is done.
func isDoneAtOnce(summary string) examples.Scenario {
	return examples.Scenario{Prompt: "Do it.", Expect: examples.Expect{Summary: summary},
		Turns: []examples.Turn{{When: "## YOUR TASK", Replies: []examples.Reply{{
			Text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\nstatus: success\nsummary: " + summary + "\n[/COMPLETION_REPORT]",
		}}}}}
}

// answersADelegation runs a command that decides a delegation, and sees that the agent is told what was decided.
func answersADelegation(t *testing.T, command string) {
	w := newWorld(t)
	w.run("run", "--demo", "delegate-block", "--hold", "0", "--on-question", "park", "--quiet")
	open := w.questions()
	if len(open) != 1 {
		t.Fatalf("the questions are %+v", open)
	}
	seen := w.session(strings.Replace(command, "q-7kq2mx", open[0].ID, 1), false, nil)
	want := " answered: approve Port only the parser\n"
	if strings.Contains(command, " deny ") {
		want = " answered: deny too early instead: list it in the report\n"
	}
	if !strings.Contains(seen, want) {
		t.Errorf("it shows:\n%s", seen)
	}
}

// doesEach runs a command that makes a pool of the files that git lists in docs.
func doesEach(t *testing.T, command string) {
	report := isDoneAtOnce("it is mended").Turns
	w := newWorld(t).real(examples.Scenario{Prompt: "Proofread.",
		Turns: report, Children: []examples.Child{{Task: "Proofread", Turns: report}}}, nil)
	w.Env = append(w.Env, "PATH="+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	w.put("docs/first.md", "")
	w.put("docs/second.md", "")
	if seen := w.session("git init --quiet && git add docs && "+command+" --quiet", false, nil); !regexp.MustCompile(
		`(?m)^a-\w{12} +succeeded +docs/first\.md +it is mended\na-\w{12} +succeeded +docs/second\.md +it is mended\n2 ` +
			`succeeded\n`,
	).MatchString(seen) {
		t.Errorf("it shows:\n%s", seen)
	}
}

// tellsItsEnd runs a command that lets a run go on in the background with task.txt, and have its end told by ntfy.
func tellsItsEnd(t *testing.T, command string) {
	s := isDoneAtOnce("all is well")
	w := newWorld(t).real(s, nil)
	bin, told := t.TempDir(), filepath.Join(t.TempDir(), "told")
	if err := errors.Join(
		syscall.Mkfifo(told, 0o600),
		os.WriteFile(filepath.Join(w.Cwd, "task.txt"), []byte(s.Prompt), 0o600),
		os.WriteFile(filepath.Join(bin, "ntfy"), []byte("#!/bin/sh\nexec cat >"+told+"\n"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "PATH="+bin+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	seen := w.session(command, false, nil)
	run := anyID.FindString(seen)
	if run == "" {
		t.Fatalf("it shows:\n%s", seen)
	}
	heard := make(chan []byte)
	go func() {
		text, _ := os.ReadFile(told) // from when ntfy opens the other end; without it there is no text
		heard <- text
	}()
	w.must("wait", run, "--timeout", "1m")
	text := <-heard
	left := parse[struct {
		Type, Run, Status string
		ExitCode          int `json:"exit_code"`
	}](t, string(text))
	if left.Type != "run_done" || left.Run != run || left.Status != "succeeded" || left.ExitCode != 0 {
		t.Errorf("ntfy is told %s", text)
	}
}

// What the pages and CONTRIBUTING.md say of make is in the Makefile, and the files and topics that they name are there.
func TestTheMakeTargetsFilesAndTopicsThatAreNamedExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../Makefile")
	noError(t, err)
	texts := pages(t)
	contributing, err := os.ReadFile("../CONTRIBUTING.md")
	noError(t, err)
	texts["CONTRIBUTING.md"] = string(contributing)
	named := 0
	for page, text := range texts {
		for _, m := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllStringSubmatch(text, -1) {
			named++
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s: there is no make %s", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile("[`(]((?:cmd|supervisor|procs|signals|checkpoints|examples|e2e)/[a-z0-9_./-]+)[`)]").
			FindAllStringSubmatch(text, -1) {
			named++
			if _, err := os.Stat("../" + m[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, m := range regexp.MustCompile(`claude-supervise help\s([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			named++
			if texts["cmd/claude-supervise/topics/"+m[1]+".md"] == "" {
				t.Errorf("%s: there is no topic %s", page, m[1])
			}
		}
		if page == "README.md" && len(strings.Split(text, "\n")) > 201 {
			t.Error("the README is longer than 200 lines: the rest belongs into topics")
		}
	}
	if named < 80 {
		t.Errorf("the pages name %d targets, files and topics", named)
	}
}

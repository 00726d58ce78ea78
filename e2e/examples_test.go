package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/examples"
)

// toCopy gives the examples that have a folder of their own.
func toCopy(t *testing.T) []string {
	return slices.DeleteFunc(examples.Names(), func(name string) bool { return load(t, name).Task == nil })
}

// What the page of the examples shows is true: its sessions look as printed, its commands do what it says, and it tells
// of every example.
func TestTheExamplesPageIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/README.md")
	noError(t, err)
	page := string(text)
	w := newWorld(t)
	w.Cwd = shortFolder(t, "web")
	w.demosIn("/tmp/x")
	for _, b := range sessions(page) {
		w.plays(b, map[string]string{}, strings.NewReplacer(w.Cwd, "/home/you/web"))
	}
	folder, err := filepath.Abs("../examples")
	noError(t, err)
	play := newWorld(t)
	bin := t.TempDir() // a claude that plays the example whose task file the page copies
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' stand-in mutation-testing \"$@\"\n", program)
	noError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o700))
	play.Env = append(play.Env, "PATH="+bin+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	noError(t, os.Symlink(folder, filepath.Join(play.Cwd, "examples")))
	commands := plainCommands(page)
	for _, command := range commands {
		name, isDemo := strings.CutPrefix(command, "claude-supervise run --demo ")
		asks := strings.Contains(command, " -f ") && !strings.Contains(command, " --answer ")
		seen := play.session(command, asks, []string{"1"})
		if strings.HasPrefix(command, "cp ") {
			if seen != "" {
				t.Errorf("$ %s\n%s", command, seen)
			}
			continue
		}
		if !isDemo {
			name = "mutation-testing"
		}
		if !succeeded.MatchString(seen) || !strings.Contains(seen, load(t, name).Expect.Summary) {
			t.Errorf("$ %s\n%s", command, seen)
		}
	}
	_, index, _ := strings.Cut(page, "| what you want |")
	index, _, _ = strings.Cut(index, "\n\n")
	for _, name := range toCopy(t) {
		if !strings.Contains(index, "`"+name+"`") {
			t.Errorf("nothing that one may want leads to %s", name)
		}
		if !strings.Contains(page, "| `"+name+"` |") || !slices.Contains(commands, "claude-supervise run --demo "+name) {
			t.Errorf("the page does not tell of %s", name)
		}
	}
}

// succeeded is how a run says at its end that all went well.
var succeeded = regexp.MustCompile(`(?m)^r-\w{8} succeeded \(.*\)$`)

// A person who copies a task file finds nothing missing in it: it goes as far as its first question, or to its end if
// it has none.
func TestEveryExamplesTaskPassesTheCheckBeforeLaunch(t *testing.T) {
	t.Parallel()
	for _, name := range toCopy(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := load(t, name)
			code, _, stderr := w.run("run", "-f", w.taskFile(s), "--check", "require", "--demo", name,
				"--on-question", "fail", "--quiet")
			want := s.Expect.ExitCode
			if len(s.Answers) > 0 {
				want = 1
			}
			if code != want || strings.Contains(stderr, "question") != (len(s.Answers) > 0) {
				t.Errorf("it exits %d:\n%s", code, stderr)
			}
		})
	}
}

// The review's script takes a quick answer while it still waits, in both of the ways that a person has: by writing the
// answer file, and by the command that does. Nothing is escalated.
func TestTheReviewTakesAQuickAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w *world, id string){
		"by file": func(w *world, id string) {
			noError(w.t, os.WriteFile(filepath.Join(w.Home, ".claude/answers", id+".txt"), []byte("merge\n"), 0o600))
		},
		"by command": func(w *world, id string) { w.must("answer", id, "merge") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, "document-update-review")
			w := newWorld(t).standIn(s)
			asleep, wake := w.quickSleep()
			run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "ask")...)
			asleep()
			run.until("question") // the run's own from when it is seen
			open := w.questions()
			if len(open) != 1 || open[0].Run == "" ||
				open[0].Question != "Review found content overlap. How should we proceed?" {
				t.Fatalf("the questions are %+v", open)
			}
			asked, err := filepath.Glob(filepath.Join(w.Home, ".claude/questions/pending/*.json"))
			if err != nil || len(asked) != 1 {
				t.Fatalf("%q (%v) are asked by files", asked, err)
			}
			answer(w, open[0].ID)
			waitFor(t, filepath.Join(w.Home, ".claude/answers", strings.TrimSuffix(filepath.Base(asked[0]), ".json")+".txt"))
			wake()
			if code := run.wait(); code != s.Expect.ExitCode {
				t.Errorf("it exits %d with the events %s:\n%s", code, run.types(), run.stderr)
			}
			got, err := os.ReadFile(filepath.Join(w.Cwd, "TESTING.md"))
			if err != nil || string(got) != s.Expect.Files["TESTING.md"] {
				t.Errorf("TESTING.md holds %q (%v)", got, err)
			}
			if launches := w.ps().Agents[0].Launches; launches != 1 {
				t.Errorf("it took %d launches", launches)
			}
			if left, _ := filepath.Glob(filepath.Join(w.Home, ".claude/*/*.txt")); len(left)+len(w.questions()) > 0 {
				t.Errorf("%q and %+v are left", left, w.questions())
			}
		})
	}
}

// quickSleep lets the script of the review wait as long as in its document, but for its sleep: asleep blocks until it
// sleeps, wake ends that.
func (w *world) quickSleep() (asleep, wake func()) {
	w.t.Helper()
	bin := w.t.TempDir()
	begun, over := filepath.Join(bin, "begun"), filepath.Join(bin, "over")
	script := fmt.Sprintf("#!/bin/sh\necho > '%s'; read line < '%s'\n", begun, over)
	if err := errors.Join(
		syscall.Mkfifo(begun, 0o600), syscall.Mkfifo(over, 0o600),
		os.WriteFile(filepath.Join(bin, "sleep"), []byte(script), 0o700),
	); err != nil {
		w.t.Fatal(err)
	}
	w.Env = append(w.Env, "MAX_QUICK_WAIT=300", "PATH="+bin+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	asleep = func() {
		if _, err := os.ReadFile(begun); err != nil {
			w.t.Fatal(err)
		}
	}
	return asleep, func() {
		noError(w.t, os.WriteFile(over, []byte("\n"), 0o600))
	}
}

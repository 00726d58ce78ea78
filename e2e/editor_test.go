package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// anEditor says that it is open, and does with the file what a line typed into it says.
const anEditor = `#!/bin/sh
f=$2
stat -c 'the file is %a, in %a' "$f" > "$1"; stat -c %a "${f%/*}" >> "$1"; cat "$f" >> "$1"
echo; echo EDITING
trap 'echo back' CONT
for life in first second; do while read -r line; do
	case $line in
	write*) { echo "${line#write }"; cat "$f"; } > "$f.new"; mv "$f.new" "$f" ;;
	empty) : > "$f" ;;
	fail) exit 3 ;;
	die) stty raw -echo; kill -9 $$ ;;
	quit) exit 0 ;;
	esac
	echo "did $line"
done; done
`

// edits opens a terminal on which the editor is anEditor, and starts a command there. What the editor finds is in the file
// seen.
func (w *world) edits(command string) (p *pane, seen string) {
	w.t.Helper()
	dir := w.t.TempDir()
	editor := filepath.Join(dir, "edit")
	noError(w.t, os.WriteFile(editor, []byte(anEditor), 0o700))
	seen = filepath.Join(dir, "seen")
	p = w.sitInTmux()
	p.keys("VISUAL='"+editor+" "+seen+"' claude-supervise "+command, "Enter")
	return p, seen
}

// tidied checks that no folder of an editor is left.
func (w *world) tidied(run string) {
	w.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(w.stateFolder(), "runs", run, "draft.edit*")); len(left) > 0 {
		w.t.Errorf("left behind: %s", left)
	}
}

func TestAnAnswerIsWrittenInTheEditor(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p, seen := w.edits("run --cwd . --demo ask")
	p.sees(`\? help$`)
	p.keys("?")
	p.sees(`Ctrl-G +writes it in your editor, edit`)
	p.keys("x")
	p.sees(`\? help$`)
	q := w.questions()[0]
	p.keys("a magic", "C-g")
	p.sees(`EDITING$`)
	data, err := os.ReadFile(seen)
	noError(t, err)
	found := string(data)
	for _, want := range []string{"the file is 600,", "\n700\na magic\n\n# ---", "\n# Which way of login should the service use?", "\n# 1) JWT\n"} {
		if !strings.Contains(found, want) {
			t.Errorf("the file lacks %q:\n%s", want, found)
		}
	}
	p.keys("C-z") // the editor's, and so the whole program's
	p.sees(`(?s)Stopped .*\n\$$`)
	p.keys("fg", "Enter")
	p.sees(`back$`)
	p.keys("write two lines: # no comment", "Enter")
	p.sees(`did write two lines: # no comment`)
	p.keys("quit", "Enter")
	p.sees(`❯ two lines: # no comment\n  a magic\n(.*\n)+.*\? help$`)
	if open := w.questions(); len(open) != 1 {
		t.Fatalf("it was sent by itself: %v", open)
	}
	w.tidied(q.Run)

	for what, says := range map[string]string{"fail": `failed \(exit 3\)`, "empty\nquit": "nothing was left in the file",
		"die": `failed \(exit 137\)`, "^C": `failed \(`} {
		p.keys("C-g")
		p.sees(`EDITING$`)
		for line := range strings.SplitSeq(what, "\n") {
			if line == "^C" { // the editor's alone: the run goes on
				p.keys("C-c")
			} else {
				p.keys(line, "Enter")
			}
		}
		p.sees(`❯ two lines: # no comment\n  a magic\n(.*\n)*Not edited: .*` + says + `(.*\n)+.*\? help$`)
		w.tidied(q.Run)
	}

	p.keys("C-g")
	p.sees(`EDITING$`)
	p.keys("write three", "Enter", "quit", "Enter")
	p.sees(`❯ three\n  two lines`)
	p.sees(`\? help$`)
	p.keys("Enter")
	p.sees(`\n\$$`)
	p.sane("after an answer from the editor")
	q = parse[questionView](t, w.must("show", q.ID, "--json"))
	if q.Answer == nil || *q.Answer != "three\ntwo lines: # no comment\na magic" {
		t.Errorf("the answer is %v", q.Answer)
	}
}

func TestTheEditorEndsWithItsRun(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p, _ := w.edits("run --cwd . --demo ask")
	p.sees(`\? help$`)
	q := w.questions()[0]
	p.keys("C-g")
	p.sees(`EDITING$`)
	w.must("answer", q.ID, "JWT")
	p.sees(`\n\$$`) // the run has ended, and the editor with it
	p.sane("after the run has ended under the editor")
	w.tidied(q.Run)
	w.written("auth.txt", "login by JWT\n")
}

func TestWhatWasSavedInTheEditorIsKeptWhenTheRunIsEnded(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p, _ := w.edits("run --cwd . --demo ask")
	p.sees(`\? help$`)
	q := w.questions()[0]
	p.keys("C-g")
	p.sees(`EDITING$`)
	p.keys("write by mail", "Enter")
	p.sees(`did write by mail`)
	noError(t, syscall.Kill(w.ps().SupervisorPID, syscall.SIGTERM))
	p.sees(`(?s)Not sent: by mail.*To continue, run: claude-supervise resume r-\w+\n\$$`)
	p.sane("after a SIGTERM")
	w.tidied(q.Run)
}

func TestALineOpensTheEditor(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p, _ := w.edits("run --cwd . --demo ask --plain")
	p.sees(`q-\w+>$`)
	q := w.questions()[0]
	p.keys("?", "Enter")
	p.sees(`/edit +write it in your editor, edit(.*\n)+q-\w+>$`)
	p.keys("/edit", "Enter")
	p.sees(`EDITING$`)
	p.keys("write by mail", "Enter", "quit", "Enter")
	p.sees(`You wrote: by mail \(/draft sends it, /edit goes on\)\nq-\w+>$`)
	p.keys("/edit", "Enter")
	p.sees(`goes on\)(.*\n)+EDITING$`)
	p.keys("quit", "Enter")
	p.sees(`EDITING(.*\n)+You wrote: by mail .*\nq-\w+>$`)
	p.keys("/draft", "Enter")
	p.sees(`\n\$$`)
	w.written("auth.txt", "login by by mail\n")
	w.tidied(q.Run)
}

func TestTheBoardOpensTheEditor(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	p, _ := w.edits("board")
	p.sees(question)
	p.keys("Enter")
	p.sees(`Tab own words(.*\n)*.*\? help`)
	p.keys("C-g")
	p.sees(`EDITING$`)
	p.keys("write by mail", "Enter", "quit", "Enter")
	p.sees(`❯ by mail(.*\n)+.*\? help`)
	w.tidied(run)
	p.keys("Enter")
	p.sees(`is answered`)
	p.keys("q")
	p.sees(`\n\$$`)
	p.sane("after the board")
	if q := parse[questionView](t, w.must("show", question, "--json")); q.Answer == nil || *q.Answer != "by mail" {
		t.Errorf("the answer is %v", q.Answer)
	}
}

package rules

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// This file holds the rules engine against bash itself: where it says that rules cover a command, bash runs nothing but
// the programs that they name, and writes nothing. Commands are put together from the pieces below and never from
// anything else, so that one that is covered by mistake does no harm: it finds no other program than those of the test.

// programs are what the commands may find, each a script. One that runs its arguments does so here, too.
var programs = map[string]string{
	"ok": "", "ok2": "", "evil": "", "env": `"$@"`, "xargs": `"$@"`, "timeout": `shift; "$@"`,
	"find": `while [ $# -gt 0 ]; do case $1 in -exec) shift; "$@"; break ;; esac; shift; done`,
}

// pieces of commands. What begins with evil, or holds it where the shell evaluates something, is covered by no rule
// below.
var (
	names = []string{"ok", "ok", "ok2", "echo", "test", "[", "printf", "read", "unset", "let",
		"export", "declare", "typeset", "readonly",
		"local", "mapfile", "readarray", "getopts", "wait", "trap", "eval", "source", ".", "exec",
		"command", "builtin", "env", "xargs", "find",
		"timeout", "enable", "hash", "alias", "set", "shopt", "compgen", "complete", "jobs", "true",
		":", "cd", "type", "coproc", "time", "!", "[["}
	arguments = []string{"a", "b=1", "'c d'", `"e f"`, "-v", "-p", "-R", "-t", "-a", "-n", "-x",
		"-C", "-F", "-exec", "1", "0", "x", "=", "-eq", "]", "]]", ";",
		"evil", "'evil'", `"evil"`, "'a[$(evil)]'", `"a[\$(evil)]"`, "a[$(evil)]", "'x=a[$(evil)]'",
		"a['$(evil)']", "$(evil)", "`evil`", `"$(evil)"`, "'$(evil)'", "'`evil`'", "<(evil)",
		"'evil; evil'", "EXIT", "DEBUG", "'%s'", "-v 'a[$(evil)]'", `\evil`, "$'evil'", "{evil,x}",
		"~", "*", "--", "-", "'", `"`, "\\", "${x:=$(evil)}", "$((a[$(evil)]))", "'$((a[$(evil)]))'"}
	joints = []string{"", "", "", "", " && ", " || ", "; ", "\n", " | ", " & ", " # ", " 2>&1 ",
		" >/dev/null ", " > f ", " >> f ", " >| f ", " &> f ", " <> f ", " < f ",
		" <<E\n$(evil)\nE\n", " <<'E'\nevil\nE\n", " <<< $(evil) ", " {v}>f ", "\\\n", ";evil ",
		"&&evil ", "\nevil ", " (", ") ", " { ", "; } ", "if ", "; then ", "; fi "}
	whole = []string{"[[ -v 'a[$(evil)]' ]]", "[[ 'a[$(evil)]' -eq 1 ]]", "((a[$(evil)]))", "((a=1))",
		"let 'a[$(evil)]=1'", "printf -v 'a[$(evil)]' x", "test -v 'a[$(evil)]'",
		"[ -v 'a[$(evil)]' ]", "unset 'a[$(evil)]'", "read 'a[$(evil)]' <<< x", "wait -n -p 'a[$(evil)]'",
		"mapfile -C evil -c 1 x <<< x", "trap evil EXIT", "x=$(evil)", "a[$(evil)]=1",
		"export 'a=$(evil)'", "compgen -C evil", "compgen -W '$(evil)'", "getopts a 'x[$(evil)]' -a",
		"declare 'a[$(evil)]=1'", "typeset -i 'x=a[$(evil)]'", "for i in $(evil); do ok; done",
		"ok <<E\n$(evil)\nE\n", "ok() { evil; }; ok", "alias ok=evil; ok", "ok {evil} >f", "test -o a -a -v 'a[$(evil)]'",
		"test ! -v 'a[$(evil)]'", "printf '-v' 'a[$(evil)]' x", `printf "-va[\$(evil)]" x`}
)

// covering are the rules that the commands are held against, together.
func covering() []Rule {
	var rules []Rule
	for _, name := range append(names, "evil2") {
		rules = append(rules, Rule{"Bash", name + " *"})
	}
	return append(rules, Rule{"Bash", "ok"}, Rule{"Bash", "ok a"})
}

// commandOf puts a command together as the bytes say.
func commandOf(choices []byte) string {
	var b strings.Builder
	pick := func(from []string) string {
		if len(choices) == 0 {
			return ""
		}
		piece := from[int(choices[0])%len(from)]
		choices = choices[1:]
		return piece
	}
	for len(choices) > 0 {
		if choices[0]%16 == 0 {
			choices = choices[1:]
			b.WriteString(pick(whole))
		} else {
			b.WriteString(pick(names))
			for n := len(pick([]string{"", "x", "xx", "xxx"})); n > 0; n-- {
				b.WriteString(" " + pick(arguments))
			}
		}
		b.WriteString(pick(joints))
	}
	return b.String()
}

// A sandbox is where bash runs commands.
type sandbox struct{ bin, work, log string }

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	if _, err := exec.LookPath("/bin/bash"); err != nil {
		t.Fatal("the rules are about bash, which is not here: install it")
	}
	dir := t.TempDir()
	s := sandbox{filepath.Join(dir, "bin"), filepath.Join(dir, "work"), filepath.Join(dir, "log")}
	for _, d := range []string{s.bin, s.work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, does := range programs {
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\necho "+name+" >>'"+s.log+"'\n"+does+"\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run returns the programs that a command runs, and the files that it leaves.
func (s sandbox) run(t testing.TB, command string) (ran, files []string) {
	t.Helper()
	_ = os.Remove(s.log) // of the command before
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "/bin/bash", "--norc", "--noprofile", "-c", command)
	bash.Dir, bash.Env, bash.WaitDelay = s.work, []string{"PATH=" + s.bin, "HOME=" + s.work}, time.Second
	_ = bash.Run() // whatever it ends with
	log, err := os.ReadFile(s.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.work)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
		if err := os.RemoveAll(filepath.Join(s.work, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for name := range bytes.FieldsSeq(log) {
		ran = append(ran, string(name))
	}
	return ran, files
}

// agrees holds the engine against bash for one command, and reports whether it is covered.
func (s sandbox) agrees(t testing.TB, command string) bool {
	t.Helper()
	if !commandCovered(covering(), literally.Replace(strings.TrimSpace(command))) {
		return false
	}
	if ran, files := s.run(t, command); slices.Contains(ran, "evil") || len(files) > 0 {
		t.Errorf("%q is covered, and runs %v and writes %v", command, ran, files)
	}
	return true
}

// A sample of FuzzRulesAgainstBash, with its seed. What bash takes for code is among it by design and not by chance.
func TestRulesCoverNothingThatBashRunsBesides(t *testing.T) {
	s := newSandbox(t)
	for _, command := range whole {
		s.agrees(t, command)
	}
	random := rand.New(rand.NewPCG(12, 9))
	covered := 0
	for range 6000 {
		choices := make([]byte, 1+random.IntN(9))
		for i := range choices {
			choices[i] = byte(random.Uint32())
		}
		if s.agrees(t, commandOf(choices)) {
			covered++
		}
	}
	t.Logf("%d commands were covered and run", covered)
	if covered < 100 {
		t.Errorf("only %d commands were covered: the sample shows little", covered)
	}
}

func FuzzRulesAgainstBash(f *testing.F) {
	for i := range whole {
		f.Add([]byte{0, byte(i)})
	}
	f.Add([]byte{1, 0, 1, 0, 1})
	s := newSandbox(f)
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 40 {
			return
		}
		s.agrees(t, commandOf(choices))
	})
}

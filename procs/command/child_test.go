package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"claude-supervise/procs"
)

// partVariable has this binary play the part of that name: it is the command, too.
const partVariable = "COMMAND_TEST_CHILD"

func TestMain(m *testing.M) {
	if part, ok := parts[os.Getenv(partVariable)]; ok {
		part()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var parts = map[string]func(){
	// facts tells what it was started as.
	"facts": func() {
		columns, _, err := term.GetSize(1)
		dir, _ := os.Getwd()
		line, _ := json.Marshal(map[string]any{"terminal": err == nil && !term.IsTerminal(0) && !term.IsTerminal(2),
			"args": os.Args[1:], "env": os.Environ(), "dir": dir, "columns": columns})
		fmt.Println(string(line))
	},
	// print gives out a file.
	"print": func() {
		data, err := os.ReadFile(os.Args[1])
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(data)
	},
	// input tells how much it has read, slowly, and how it ended.
	"input": func() {
		in, n, newlines := bufio.NewReader(os.Stdin), 0, 0
		for {
			b, err := in.ReadByte()
			if err != nil {
				fmt.Printf("%d bytes, %d lines, %v\n", n, newlines, err)
				return
			}
			n++
			if b == '\n' {
				newlines++
			}
		}
	},
	// flood prints 64 MiB, numbered.
	"flood": func() {
		line := strings.Repeat("x", floodLine-11)
		var b []byte
		for i := range floodLines {
			b = fmt.Appendf(b[:0], "%09d %s\n", i, line)
			os.Stdout.Write(b)
		}
	},
	// holder ends and leaves a process behind that keeps its streams open.
	"holder": func() {
		exe, _ := os.Executable()
		cmd := exec.Command(exe)
		cmd.Env, cmd.SysProcAttr = append(os.Environ(), partVariable+"=deaf"), &syscall.SysProcAttr{Setsid: true}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	},
	"deaf": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		time.Sleep(24 * time.Hour)
	},
}

// hangs bounds what a test waits for; it is no measure of anything.
const hangs = 5 * time.Minute

// A run is a command under test and what it says.
type run struct {
	*procs.Process
	t    *testing.T
	said chan procs.Message
}

func start(t *testing.T, s procs.Spec) *run {
	t.Helper()
	r := &run{t: t, said: make(chan procs.Message, 1000)}
	var err error
	if r.Process, err = procs.Start(Agent{}, s, func(m procs.Message) { r.said <- m }); err != nil {
		t.Fatal(err)
	}
	r.Patience.Term = 50 * time.Millisecond // for what does not end by itself
	t.Cleanup(func() { r.End(context.Background(), procs.Kill) })
	return r
}

// next returns the next message of a type and skips others.
func next[M procs.Message](r *run) M {
	r.t.Helper()
	for {
		m := r.one()
		if m, ok := m.(M); ok {
			return m
		}
		if e, ok := m.(procs.Exit); ok {
			r.t.Fatalf("it ended, and never said a %T: %+v", *new(M), e)
		}
	}
}

// rest returns all messages up to and with Exit.
func (r *run) rest() (all []procs.Message) {
	r.t.Helper()
	for {
		all = append(all, r.one())
		if _, ok := all[len(all)-1].(procs.Exit); ok {
			return all
		}
	}
}

func (r *run) one() procs.Message {
	r.t.Helper()
	select {
	case m := <-r.said:
		return m
	case <-time.After(hangs):
		r.t.Fatal("it says nothing")
		return nil
	}
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

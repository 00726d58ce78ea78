package terminal

import (
	"context"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// takesMessages has the prompt take messages, and gives them.
func (d *testTerminal) takesMessages() <-chan string {
	said := make(chan string, 16)
	d.prompter.Messages(func(_ context.Context, text string) { said <- text })
	return said
}

func (d *testTerminal) says(said <-chan string, want string) {
	d.t.Helper()
	select {
	case got := <-said:
		if got != want {
			d.t.Errorf("it says %q, want %q", got, want)
		}
	case <-time.After(patience):
		d.t.Fatalf("%q is not said", want)
	}
}

// nothingTyped checks that nothing is left of what was typed, which a shell would read.
func (d *testTerminal) nothingTyped() {
	d.t.Helper()
	mode, err := unix.IoctlGetTermios(int(d.tty.Fd()), getMode)
	if err != nil {
		d.t.Fatal(err)
	}
	mode.Lflag &^= unix.ICANON // half a line counts, too
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 0, 0
	if err := unix.IoctlSetTermios(int(d.tty.Fd()), setMode, mode); err != nil {
		d.t.Fatal(err)
	}
	var left [64]byte
	if n, _ := unix.Read(int(d.tty.Fd()), left[:]); n > 0 {
		d.t.Errorf("%q is left for the shell", left[:n])
	}
}

func TestKeysWhileNothingIsAskedAreAMessage(t *testing.T) {
	d := enterAble(t)
	said := d.takesMessages()
	for d.modes().Lflag&unix.ICANON != 0 { // until it reads keys
		runtime.Gosched()
	}
	d.types("use the ")
	d.sees("> use the ")
	d.printer.Progress("a step was done")
	d.sees("a step was done\r\n") // is shown above the line
	d.types("database\r")
	d.says(said, "use the database")

	d.types("a half")
	d.sees("> a half")
	d.prompter.Set([]Question{question("q-1", "PostgreSQL", "SQLite")})
	d.sees(formFoot)
	d.types(down + "\r") // which is an answer, and no part of the message
	d.answered(submitted{ID: "q-1", Answer: "SQLite"})
	d.sees("> a half")
	d.types(" more\r")
	d.says(said, "a half more")

	d.types("never sent")
	d.sees("> never sent")
	d.leave()
	d.sees("Not sent: never sent")
	d.nothingTyped()
}

func TestLinesWhileNothingIsAskedAreAMessage(t *testing.T) {
	d := enterRaw(t, nil)
	said := d.takesMessages()
	d.types("use the database\n")
	d.says(said, "use the database")
	d.prompter.Set([]Question{question("q-1", "PostgreSQL", "SQLite")})
	d.sees("q-1> ")
	d.types("2\n")
	d.answered(submitted{ID: "q-1", Answer: "SQLite"})
	d.types("\x04")
	d.sees("Nothing more is asked here until you press Enter.")
	d.prompter.Set([]Question{question("q-2", "PostgreSQL", "SQLite")})
	d.sees("What about q-2?")
	d.types("1\n") // it may be meant for the question, and is neither an answer nor a message
	d.sees("q-2> ")
	d.types("half a line")
	d.sees("half a line")
	d.leave()
	d.nothingTyped()
	if len(said) > 0 {
		t.Errorf("it says %q", <-said)
	}
}

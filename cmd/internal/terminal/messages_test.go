package terminal

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// takesMessages has the prompt take messages, and gives them.
func (d *testTerminal) takesMessages() <-chan string {
	said := make(chan string, 16)
	d.prompter.Messages(Addressee{Run: "r-1"}, func(_ context.Context, text string) { said <- text })
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

func TestAMessageIsEditedPastedAndHintedAt(t *testing.T) {
	d := enterAble(t)
	said := d.takesMessages()
	d.prompter.Hint("running · type a message")
	d.sees("running · type a message") // before anything is typed
	d.sees("> ")
	d.types("twp\x7fo\r")
	d.says(said, "two")
	d.types(paste("three\nlines\nof a paste"))
	d.sees("of a paste")
	d.types("\r")
	d.says(said, "three\nlines\nof a paste")
	d.types(toSay + "one\r")
	d.says(said, "one")
	d.leave()
	d.nothingTyped()
	mustClose(t, d.printer)
	if _, err := d.tty.WriteString("the shell's"); err != nil {
		t.Fatal(err)
	}
	d.sees("the shell's")
	mustBalance(t, d.everything())
}

func TestLinesWhileNothingIsAskedAreAMessage(t *testing.T) {
	d := enterRaw(t, nil)
	said := d.takesMessages()
	d.types("use the database\n")
	d.says(said, "use the database")
	d.types("two\nlines\n") // at once: a paste
	d.says(said, "two\nlines")
	d.types(strings.Repeat("x", 5000) + "\n")
	d.sees("nothing was sent")
	d.prompter.Set([]Question{question("q-1", "PostgreSQL", "SQLite")})
	d.sees("q-1> ")
	d.types("/say use another\n") // answers nothing
	d.says(said, "use another")
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

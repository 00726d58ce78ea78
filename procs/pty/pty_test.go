package pty

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
)

// Each terminal that is opened is the other end of its own, though stacks move meanwhile: of those of creack/pty one in
// hundreds is another one then.
func TestBothEndsAreOfOneTerminal(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for range rounds {
			var all sync.WaitGroup
			for of := range 8 {
				all.Go(func() {
					for i := range 10 {
						grow(400) // it is too large from here on
						if err := speaks(fmt.Sprintf("%d of %d", i, of)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		}
	}()
	for {
		select {
		case <-ended:
			return
		default:
			runtime.GC() // which makes stacks smaller
		}
	}
}

// grow has the stack grow.
func grow(n int) (sum byte) {
	var frame [200]byte
	if n > 0 {
		frame[n%200] = grow(n - 1)
	}
	return frame[n/3]
}

func speaks(line string) error {
	person, tty, err := Open()
	if err != nil {
		return err
	}
	defer func() { _, _ = person.Close(), tty.Close() }()
	if _, err := fmt.Fprintln(tty, line); err != nil {
		return err
	}
	got := make([]byte, len(line)+2)
	if _, err := io.ReadFull(person, got); err != nil || string(got) != line+"\r\n" {
		return fmt.Errorf("%q is read as %q (%w)", line, got, err)
	}
	return nil
}

func TestACommandHasATerminalOfItsSize(t *testing.T) {
	tty, err := StartWithSize(exec.Command("stty", "size"), &Winsize{Rows: 7, Cols: 33})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tty.Close() }()
	got := make([]byte, len("7 33\r\n"))
	if _, err := io.ReadFull(tty, got); err != nil || string(got) != "7 33\r\n" {
		t.Errorf("it has %q, %v", got, err)
	}
	if _, err := StartWithSize(exec.Command(os.DevNull), &Winsize{Rows: 7, Cols: 33}); err == nil {
		t.Error("what is no program starts")
	}
}

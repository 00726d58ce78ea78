package terminal

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// Page writes text to out: through a pager where out is a terminal and the text is longer than it, as it stands
// elsewhere. As with git the pager is $PAGER (default: less), run by the shell; PAGER=cat and an empty PAGER mean none,
// and so does a dumb terminal. LESS is FRX, and LESSCHARSET utf-8,
// as our texts are in any locale, where they are not set. Page blocks until the person leaves the pager. An error
// is one of out.
func Page(out *os.File, text string, lookup func(string) (string, bool)) error {
	text = Clean(text)
	if command := pager(lookup); command != "" && longerThan(out, text) && runPager(out, text, command) {
		return nil
	}
	_, err := io.WriteString(out, text)
	return err
}

// pager returns the command of the pager, "" for none.
func pager(lookup func(string) (string, bool)) string {
	command, set := lookup("PAGER")
	switch kind, _ := lookup("TERM"); {
	case kind == "" || kind == "dumb", command == "cat":
		return ""
	case !set:
		return "less"
	}
	return command
}

func longerThan(out *os.File, text string) bool {
	if !IsTerminal(out) {
		return false
	}
	_, rows, err := term.GetSize(int(out.Fd()))
	return err == nil && strings.Count(text, "\n") >= rows // a row is the prompt's
}

// runPager reports whether the pager was there; what else goes wrong it tells the person itself.
func runPager(out *os.File, text, command string) bool {
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), out, os.Stderr
	// what the person has set comes later, and counts
	cmd.Env = append([]string{"LESS=FRX", "LV=-c", "LESSCHARSET=utf-8"}, os.Environ()...)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // Ctrl-C is for the pager
	defer signal.Stop(interrupts)
	var exit *exec.ExitError
	err := cmd.Run()
	const notExecutable, notFound = 126, 127 // what sh says
	return err == nil || errors.As(err, &exit) && exit.ExitCode() != notExecutable && exit.ExitCode() != notFound
}

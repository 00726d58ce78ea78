package terminal

import (
	"os"
	"strings"
)

// Confirmed asks on the terminal and waits for the reply. Anything but a yes is a no, the end of input too.
func Confirmed(question string) bool {
	reply, _ := AskLine(os.Stdin, os.Stderr, question, " [y/N] ") // no reply is a no
	switch strings.ToLower(reply) {
	case "y", "yes":
		return true
	}
	return false
}

// Attended reports whether there is a person to ask: one that can type, and sees what is asked.
func Attended() bool { return IsTerminal(os.Stdin) && IsTerminal(os.Stderr) }

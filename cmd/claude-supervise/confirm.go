package main

import (
	"os"
	"strings"

	"claude-supervise/cmd/internal/terminal"
)

// confirmed asks on the terminal and waits for the reply. Anything but a yes is a no, the end of input too.
func confirmed(question string) bool {
	reply, _ := terminal.AskLine(os.Stdin, os.Stderr, question, " [y/N] ") // no reply is a no
	switch strings.ToLower(reply) {
	case "y", "yes":
		return true
	}
	return false
}

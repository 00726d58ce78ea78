package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// confirmed asks on the terminal and waits for the reply. Anything but a yes is a no, the end of input too.
func confirmed(question string) bool {
	fmt.Fprint(os.Stderr, question+" [y/N] ")
	reply, _ := bufio.NewReader(os.Stdin).ReadString('\n') // a terminal gives one line at a time: nothing is read ahead
	switch strings.ToLower(strings.TrimSpace(reply)) {
	case "y", "yes":
		return true
	}
	return false
}

// Package exit is the exit codes of the program, and which of them the end of an agent is.
package exit

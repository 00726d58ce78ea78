package procs

import (
	"regexp"
	"sync"
)

// Lazily compiles an expression when it is first used: the start of every command would wait for it.
func Lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

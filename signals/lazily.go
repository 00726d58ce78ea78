package signals

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first used: the start of every command would wait for it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

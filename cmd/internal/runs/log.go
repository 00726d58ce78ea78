package runs

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
)

var blockBegins = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([A-Z][A-Z_]+)\]$`) })

// LogText is an entry of a log as a person reads it on a terminal of so many columns: wrapped between words, each block
// of the protocols in a line. On none, width 0, it stays as it is.
func LogText(width int, entry string) string {
	if width <= 0 {
		return entry
	}
	var out []string
	lines := strings.Split(terminal.Clean(entry), "\n")
	for i := 0; i < len(lines); i++ {
		name := blockBegins().FindStringSubmatch(strings.TrimSpace(lines[i]))
		if end := blockEnd(lines[i+1:], name); end >= 0 {
			out = append(out, fmt.Sprintf("%s … (%d lines; --json has them)", strings.TrimSpace(lines[i]), end))
			i += end + 1
			continue
		}
		out = append(out, lines[i])
	}
	return ansi.Wrap(strings.Join(out, "\n"), width, "")
}

// blockEnd returns how many lines stand before the end of the block that was begun; -1 where none is, or it is left
// open.
func blockEnd(lines, name []string) int {
	for i, line := range lines {
		if name != nil && strings.TrimSpace(line) == "[/"+name[1]+"]" {
			return i
		}
	}
	return -1
}

package terminal

import "strings"

// Raw writes a line of a file to stdout byte for byte, with its newline if it has one. On a terminal, characters that
// it would obey or hide are written as \u escapes: a line of JSON stays the same JSON, and every line ends. Blocking
// and errors are those of Result.
func (p *Printer) Raw(line []byte) error {
	text := string(line)
	if p.out.terminal != nil {
		text = escapeHidden(strings.TrimSuffix(text, "\n")) + "\n"
	}
	return p.result(text)
}

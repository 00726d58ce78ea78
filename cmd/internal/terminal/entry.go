package terminal

import "strings"

const quotes = `"""`

// An entry gathers lines until they make up one answer:
//
//	one line                 that line
//	ends in a backslash      the next line belongs to it
//	begins with """          all up to the line that ends in """
//	came with others at once (a paste) all of them, and what follows, up to an empty line on its own
//
// So no line of a paste is ever taken for the answer to the next question. The zero value is ready.
type entry struct {
	lines []string
	size  int
	mode  entryMode
}

type entryMode int

const (
	single entryMode = iota
	continued
	quoted
	pasted
)

// begun reports whether lines were gathered that are not an answer yet.
func (e *entry) begun() bool { return e.mode != single }

// add takes lines that arrived together and reports whether they complete the answer, which is then given and
// forgotten.
func (e *entry) add(batch []string) (text string, done bool) {
	if e.mode == single {
		for len(batch) > 1 && strings.TrimSpace(batch[0]) == "" {
			batch = batch[1:]
		}
		switch first := strings.TrimLeft(batch[0], " \t"); {
		case strings.HasPrefix(first, quotes):
			e.mode = quoted
		case len(batch) > 1:
			e.mode = pasted
		case strings.HasSuffix(first, `\`):
			e.mode = continued
		default:
			return batch[0], true
		}
	} else if e.mode == pasted && len(batch) == 1 && strings.TrimSpace(batch[0]) == "" {
		return e.finish(), true
	}
	for i, line := range batch {
		e.size += len(line) + 1
		e.lines = append(e.lines, line)
		switch {
		case e.mode == quoted && e.closes(line):
			// What stands behind the closing quotes came with them; it is no answer to anything.
			return e.finish(), true
		case e.mode == continued && !strings.HasSuffix(line, `\`):
			if i < len(batch)-1 {
				e.mode = pasted
				continue
			}
			return e.finish(), true
		case e.mode == continued:
			e.lines[len(e.lines)-1] = strings.TrimSuffix(line, `\`)
		}
	}
	return "", false
}

func (e *entry) closes(line string) bool {
	line = strings.TrimSpace(line)
	if len(e.lines) == 1 {
		line = strings.TrimPrefix(line, quotes)
	}
	return strings.HasSuffix(line, quotes)
}

func (e *entry) finish() string {
	text := strings.Join(e.lines, "\n")
	*e = entry{}
	return text
}

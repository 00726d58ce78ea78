package procs

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds on what is taken from a child, in bytes.
const (
	maxLine   = 64 << 20 // a line of output; what is longer is skipped
	maxShown  = 4 << 10  // of a line that is not understood, as Garbled shows it
	maxResult = 64 << 10 // the text of a ToolResult
	maxTail   = 8 << 10  // what Exit keeps of stderr
)

// A lines splits a stream into lines and bounds them.
type lines struct {
	in    *bufio.Reader
	limit int
	long  []byte // collects a line that does not fit in the reader's buffer
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{in: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// next gives the next line without its newline; the bytes are good until the call after. A line over the limit is
// read to its end, and its beginning given with whole false. The last line needs no newline. After that the error is
// the stream's.
func (l *lines) next() (line []byte, whole bool, err error) {
	if cap(l.long) > 1<<20 {
		l.long = nil // one huge line must not cost its memory for the rest of the child's life
	}
	l.long = l.long[:0]
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part = part[:n-1]
		}
		switch {
		case !whole:
		case len(l.long)+len(part) > l.limit:
			whole = false
			l.long = append(l.long, part...)[:min(l.limit, maxShown)]
		case err == nil && len(l.long) == 0:
			return part, true, nil
		default:
			l.long = append(l.long, part...)
		}
		switch {
		case err == nil:
			return l.long, whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(l.long) > 0:
			return l.long, whole, nil // the error comes again with the next call
		default:
			return nil, true, err
		}
	}
}

// A tail is a writer that keeps the last bytes written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.limit):]...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte { return t.kept }

func (t *tail) text() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }

// cut bounds a text to n bytes, at a rune's edge, and says so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "\n[… the rest was cut]"
}

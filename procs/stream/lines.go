package stream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Bounds on lines, in bytes.
const (
	MaxLine      = 64 << 20 // one that is read at all
	maxBeginning = 4 << 10  // what is kept of one that is longer
)

// A Lines splits a stream into lines and bounds them.
type Lines struct {
	in    *bufio.Reader
	limit int
	long  []byte // collects a line that does not fit in the reader's buffer
	read  int64
	end   int64
}

// NewLines splits r; a line is at most limit bytes long.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{in: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// Next returns the next line without its newline; the bytes are good until the call after. A line over the limit is
// read to its end, and its beginning given with whole false. The last line needs no newline. After that the error is
// the stream's.
func (l *Lines) Next() (line []byte, whole bool, err error) {
	if cap(l.long) > 1<<20 {
		l.long = nil // one huge line must not cost its memory for the rest of the child's life
	}
	l.long = l.long[:0]
	whole = true
	for {
		part, err := l.in.ReadSlice('\n')
		l.read += int64(len(part))
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part, l.end = part[:n-1], l.read
		}
		switch {
		case !whole:
		case len(l.long)+len(part) > l.limit:
			whole = false
			l.long = append(l.long, part...)[:min(l.limit, maxBeginning)]
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

// End returns where in the stream, in bytes, the last line that Next has returned with its newline ends, behind that.
func (l *Lines) End() int64 { return l.end }

// Clean returns a line without what terminals and wrappers put around JSON: white space, escape sequences and other
// control characters. It may share its memory.
func Clean(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 { // never inside JSON, where it would be escaped
		return bytes.TrimSpace(line)
	}
	return bytes.TrimFunc([]byte(ansi.Strip(string(line))), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
}

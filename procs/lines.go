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
	MaxShown = 4 << 10 // of a line that is not understood, as Garbled shows it
	MaxTail  = 8 << 10 // what Exit keeps of stderr

	MaxLine   = 64 << 20 // a line of output; what is longer is skipped
	MaxResult = 64 << 10 // the text of a ToolResult
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
			l.long = append(l.long, part...)[:min(l.limit, MaxShown)]
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

// A Tail is a writer that keeps the last bytes written to it.
type Tail struct {
	Limit int // of them
	kept  []byte
}

// Write implements io.Writer. It gives no error.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.Limit):]...)
	if over := len(t.kept) - t.Limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// Text returns them, as UTF-8.
func (t *Tail) Text() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }

// Cut bounds a text to n bytes, at a rune's edge, and says so.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "\n[… the rest was cut]"
}

// Shown returns the beginning of a line that is no JSON, in at most MaxShown bytes of UTF-8.
func Shown(data []byte) string {
	return Cut(strings.ToValidUTF8(string(data[:min(len(data), MaxShown)]), "\uFFFD"), MaxShown)
}

// maxReason bounds a reason, in bytes.
const maxReason = 300

// CutLine returns the first line of a text, in at most maxReason bytes.
func CutLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}

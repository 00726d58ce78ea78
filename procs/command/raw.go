package command

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"claude-supervise/procs/stream"
)

// Bounds on the output of a command that does not speak the stream protocol.
const (
	maxRaw   = 32 << 10 // bytes of one Raw
	maxFirst = 1 << 20  // bytes of a first line that is looked at as a line of the protocol; system/init lists all tools
	// lull is how long the beginning of a line is kept for its end. A question that waits for an answer, or a progress
	// bar, has none. firstLull is that of a first line that may be one of the protocol, and is not to be mistaken.
	lull      = 200 * time.Millisecond
	firstLull = 5 * time.Second
)

// headLine reads so much of a command's output as reports whether it speaks the stream protocol: its first line with
// the newline if that begins as an object, else nothing. It waits for the newline, up to maxFirst and firstLull. until
// is as for readRaw.
func headLine(in *bufio.Reader, until *time.Time) (head []byte) {
	if start, err := in.Peek(1); err != nil || start[0] != '{' {
		return nil // an error comes again with the next read
	}
	*until = time.Now().Add(firstLull)
	defer func() { *until = time.Time{} }()
	for {
		part, err := in.ReadSlice('\n')
		head = append(head, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(head) > maxFirst {
			return head
		}
	}
}

// speaksStream reports whether a line is one that `claude --output-format stream-json` begins with.
func speaksStream(first []byte) bool {
	var l stream.Line
	if !stream.Decode(first, &l) {
		return false
	}
	switch l.Type {
	case "system", "result":
		return l.Subtype != ""
	case "assistant", "user":
		return l.Message.Content != nil
	}
	return false
}

// readRaw gives what a command prints, as it comes: whole lines at once, and the beginning of a line if its end does
// not follow within a lull, or the line is longer than maxRaw. No rune is split, and what is no UTF-8 is replaced;
// nothing else is changed. until is when a read is to end with os.ErrDeadlineExceeded, zero for never.
func readRaw(in io.Reader, until *time.Time, each func(text string)) {
	buf := make([]byte, maxRaw)
	kept := 0
	for {
		n, err := in.Read(buf[kept:])
		kept += n
		late := errors.Is(err, os.ErrDeadlineExceeded)
		end := kept
		switch {
		case late:
			end = wholeRunes(buf[:kept])
		case err == nil:
			end = bytes.LastIndexByte(buf[:kept], '\n') + 1
			if end == 0 && kept == len(buf) {
				end = wholeRunes(buf)
			}
		}
		if end > 0 {
			each(strings.ToValidUTF8(string(buf[:end]), "\uFFFD"))
			kept = copy(buf, buf[end:kept])
		}
		switch {
		case err != nil && !late:
			return
		case late, kept == 0:
			*until = time.Time{}
		case end > 0, until.IsZero():
			*until = time.Now().Add(lull)
		}
	}
}

// wholeRunes is the length of b without a rune at its end of which bytes are missing.
func wholeRunes(b []byte) int {
	for n := len(b) - 1; n >= max(0, len(b)-utf8.UTFMax); n-- {
		if utf8.RuneStart(b[n]) {
			if !utf8.FullRune(b[n:]) {
				return n
			}
			break
		}
	}
	return len(b)
}

package stream

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// split returns all lines of a stream, a line that was cut in angle brackets, and where the last with a newline ends.
func split(r io.Reader, limit int) (all []string, end int64, err error) {
	in := NewLines(r, limit)
	for {
		line, whole, err := in.Next()
		switch {
		case err != nil:
			return all, in.End(), err
		case whole:
			all = append(all, string(line))
		default:
			all = append(all, "<"+string(line)+">")
		}
	}
}

func TestLinesAreSplitAndBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000) // over the reader's buffer
	for _, c := range []struct {
		name, in string
		limit    int
		want     []string
	}{
		{"nothing", "", 10, nil},
		{"lines", "a\n\nb\n", 10, []string{"a", "", "b"}},
		{"no last newline", "a\nb", 10, []string{"a", "b"}},
		{"exactly the limit", "0123456789\n", 10, []string{"0123456789"}},
		{"over the limit", "0123456789a\nb\n", 10, []string{"<0123456789>", "b"}},
		{"over the limit at the end", "0123456789a", 10, []string{"<0123456789>"}},
		{"over the buffer", long + "\nb\n", 1 << 20, []string{long, "b"}},
		{"over both", long + "\nb\n", 50_000, []string{"<" + long[:maxBeginning] + ">", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "in halves": iotest.HalfReader(strings.NewReader(c.in)),
				"with the error": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, end, err := split(r, c.limit)
				if whole := int64(strings.LastIndex(c.in, "\n") + 1); !slices.Equal(got, c.want) || end != whole || !errors.Is(err, io.EOF) {
					t.Errorf("%s: %d lines, to %d of %d, %v", name, len(got), end, whole, err)
				}
			}
		})
	}
}

func TestAHugeLineDoesNotKeepItsMemory(t *testing.T) {
	in := NewLines(strings.NewReader(strings.Repeat("x", 4<<20)+"\nb\n"), 8<<20)
	for range 2 {
		if _, _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(in.long) > 1<<20 {
		t.Errorf("%d bytes are kept", cap(in.long))
	}
}

func TestWhatATerminalPutsAroundALineIsTakenAway(t *testing.T) {
	for line, want := range map[string]string{
		" {\"a\":\"\u00e4\"}\r\n": "{\"a\":\"\u00e4\"}", "\x1b[2K\x1b[1m{}\x1b[0m\x07\r": "{}", "\x1b[2K \t": "", "\n": "", "\x07{}": "\x07{}",
	} {
		if got := string(Clean([]byte(line))); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Line returns the first line of a text as VisibleLine does, in at most that many bytes, and then how much there is
// besides:
//
//	npm test… (+1 line, 10 bytes)
//
// White space around the text is left out. The sizes are those of the text itself.
func Line(s string, most int) string {
	s = strings.Trim(s, " \t\n")
	end := strings.IndexByte(s, '\n')
	if end < 0 {
		end = len(s)
	}
	end = min(end, most) // a byte is never written in less than one
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	first := VisibleLine(s[:end])
	for len(first) > most && end > 0 {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		end -= size
		first = VisibleLine(s[:end])
	}
	return first + More(s[end:])
}

// More says how much a text is that is left out: "… (+3 lines, 214 bytes)"; "" for none.
func More(left string) string { return more(strings.Count(left, "\n"), len(left)) }

func more(lines, bytes int) string {
	switch {
	case bytes == 0:
		return ""
	case lines == 0:
		return fmt.Sprintf("… (+%s)", Plural(bytes, "byte", "bytes"))
	}
	return fmt.Sprintf("… (+%s, %s)", Plural(lines, "line", "lines"), Plural(bytes, "byte", "bytes"))
}

// moreAtEnd is what More writes, where it ends a line but for a few characters.
var moreAtEnd = Lazily(`… \(\+(?:(\d{1,9}) lines?, )?(\d{1,9}) bytes?\)([^(]?)$`)

// Gist is a line as Line has made it, without how much it leaves out: for where nothing is decided by it.
func Gist(s string) string { return moreAtEnd().ReplaceAllString(s, "…$3") }

// Cut is the gist of a line, cut to a width in terminal cells.
func Cut(s string, width int) string { return ansi.Truncate(Gist(s), width, "…") }

// Width below which Fit says only a number, and below which only that something is missing, in terminal cells.
const (
	roomForWords  = 44
	roomForNumber = 14
)

// Fit cuts a line to a width in terminal cells, and says how many bytes are missing then, with those that Line has left
// out before: in words, on a narrow column as a number, and on a very narrow one by the ellipsis alone.
func Fit(s string, width int) string {
	if ansi.StringWidth(s) <= width {
		return s
	}
	lines, bytes, end := 0, 0, ""
	if at := moreAtEnd().FindStringSubmatchIndex(s); at != nil {
		if at[2] >= 0 {
			lines, _ = strconv.Atoi(s[at[2]:at[3]])
		}
		bytes, _ = strconv.Atoi(s[at[4]:at[5]])
		s, end = s[:at[0]], s[at[6]:at[7]]
	}
	whole := len(s)
	s = ansi.Truncate(s, width, "") // which reads all of it, and is not to be done for every room
	for room := width; room > 0 && width >= roomForNumber; room-- {
		kept := ansi.Truncate(s, room, "")
		left := bytes + whole - len(kept)
		tail := more(lines, left) + end
		if width < roomForWords {
			tail = fmt.Sprintf("… +%d", left)
		}
		if ansi.StringWidth(kept+tail) <= width {
			return kept + tail
		}
	}
	return ansi.Truncate(s, max(width-1, 0), "") + ansi.Truncate("…", width, "")
}

const (
	// MaxPreview bounds what of a call a person is shown, in bytes. Nobody judges more in a prompt (about 1,500 lines),
	// and what is not shown cannot be allowed: a call over it can only be refused, and the agent is told to make smaller
	// ones.
	MaxPreview = 60 << 10
	// MaxRestated bounds what of a call its own agent is told again, in bytes.
	MaxRestated = 16 << 10
)

// Truncate returns at most n bytes of a text, and breaks no rune.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// End returns at most the last n bytes of a text, and breaks no rune.
func End(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for s = s[len(s)-n:]; s != "" && !utf8.RuneStart(s[0]); {
		s = s[1:]
	}
	return s
}

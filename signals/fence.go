package signals

import (
	"slices"
	"strings"
)

// A fence is an open code fence of Markdown (CommonMark 0.31, 4.5). Its zero value is no fence.
type fence struct {
	char  byte
	width int
	data  bool // it names no language, or one in which a signal may stand
}

// dataLanguages are the languages of a fence in which a signal counts: they hold text or data, not code.
var dataLanguages = []string{"", "yaml", "yml", "json", "text", "txt", "md", "markdown"}

// A turning is what a line does to the fence around it.
type turning int

const (
	keeps turning = iota
	opensFence
	closesFence
)

// feed passes one trimmed line and says what it did. Indentation is not looked at: agents indent fences in lists by
// any amount.
func (f *fence) feed(line string) turning {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return keeps
	}
	c := line[0]
	width := len(line) - len(strings.TrimLeft(line, string(c)))
	info := strings.TrimSpace(line[width:])
	switch {
	case width < 3 || c == '`' && strings.IndexByte(info, '`') >= 0:
		return keeps
	case f.width == 0:
		language, _, _ := strings.Cut(info, " ")
		*f = fence{char: c, width: width, data: slices.Contains(dataLanguages, strings.ToLower(language))}
		return opensFence
	case c == f.char && width >= f.width && info == "":
		*f = fence{}
		return closesFence
	}
	return keeps
}

// admits reports whether a marker on a line inside (or, for the zero value, outside) the fence counts.
func (f fence) admits() bool { return f.width == 0 || f.data }

// isFence reports whether a trimmed line opens or closes some fence.
func isFence(line string) bool { return new(fence).feed(line) == opensFence }

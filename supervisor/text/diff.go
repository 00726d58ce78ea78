package text

import (
	"iter"
	"strconv"
	"strings"
)

// A DiffLine is what a line of a unified diff is.
type DiffLine int

// What a line can be.
const (
	Beside   DiffLine = iota // of no hunk: what stands before, between and behind diffs; or unchanged
	DiffFile                 // names a file
	DiffHunk                 // begins a hunk
	Added
	Removed
)

// hunk is the first line of one, with how many lines it has of the file before and after.
var hunk = Lazily(`^@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@`)

// DiffLines returns the lines of a text with unified diffs in it, and what each is. A hunk says how many lines it has:
// what begins with "--- " among them is a line that was removed, and no file; what begins with "- " elsewhere is none.
func DiffLines(text string) iter.Seq2[DiffLine, string] {
	return func(yield func(DiffLine, string) bool) {
		before, after := 0, 0
		for line := range strings.SplitSeq(text, "\n") {
			is := Beside
			switch inside := before > 0 || after > 0; {
			case inside && strings.HasPrefix(line, "+"):
				is, after = Added, after-1
			case inside && strings.HasPrefix(line, "-"):
				is, before = Removed, before-1
			case inside && strings.HasPrefix(line, " "):
				before, after = before-1, after-1
			case inside: // "\ No newline at end of file"
			case hunk().MatchString(line):
				counts := hunk().FindStringSubmatch(line)
				is, before, after = DiffHunk, linesOf(counts[1]), linesOf(counts[2])
			case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "diff "):
				is = DiffFile
			}
			if !yield(is, line) {
				return
			}
		}
	}
}

// linesOf is how many lines a hunk has by a number in its first line. None stands for one.
func linesOf(count string) int {
	if count == "" {
		return 1
	}
	n, _ := strconv.Atoi(count)
	return n
}

// FirstLines returns at most n bytes of a text, in whole lines if it has one that fits, and breaks no rune.
func FirstLines(s string, n int) string {
	kept := Truncate(s, n)
	if end := strings.LastIndexByte(kept, '\n'); len(kept) < len(s) && end >= 0 {
		return kept[:end+1]
	}
	return kept
}

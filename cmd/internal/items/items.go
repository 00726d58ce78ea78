// Package items finds what the tasks of a pool are about: files that fit a pattern, lines of a file, what a command
// prints. It keeps below the folder it is given, whatever links lie there, and bounds what it reads. The only program
// it runs is the person's own.
package items

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxItems is how many items there may be.
const maxItems = 10_000

// maxText bounds the text that items are read from, in bytes.
const maxText = 16 << 20

// maxItem bounds one item, in bytes: it is a name or a line, not the material.
const maxItem = 64 << 10

func tooMany(most int) error { return fmt.Errorf("there are more than %d items", most) }

// Lines returns the lines of a text but for empty ones, without the white space around them. A text with a NUL in it
// holds items that end in one, whole: names of files with line ends in them, as `find -print0` prints them.
func Lines(from io.Reader) ([]string, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxText+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxText:
		return nil, fmt.Errorf("it is larger than %d MiB; put the material in files and name them", maxText>>20)
	case !utf8.Valid(text):
		return nil, errors.New("it is not UTF-8 text")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	end, whole := "\n", bytes.IndexByte(text, 0) >= 0
	if whole {
		end = "\x00"
	}
	var items []string
	for item := range strings.SplitSeq(string(text), end) {
		if !whole {
			item = strings.TrimSpace(item)
		}
		switch {
		case item == "":
		case len(items) == maxItems:
			return nil, tooMany(maxItems)
		case len(item) > maxItem:
			return nil, fmt.Errorf("item %d is larger than %d KiB; put the material in files and name them",
				len(items)+1, maxItem>>10)
		default:
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return nil, errors.New("it is empty: there is nothing to do")
	}
	return items, nil
}

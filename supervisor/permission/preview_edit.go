package permission

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

	"claude-supervise/supervisor"
)

// This file makes of a text what Edit and Write of claude make of it, as was measured on 2.1.7, 2.1.100, 2.1.200,
// 2.1.329 and 2.1.332. Where these differ, or the call leaves open what is written, the error says so.
//
// claude reads a file as UTF-8, or as UTF-16 if it begins with FF FE, takes \r\n for \n, and replaces. It writes \r\n
// for each \n if there were more \r\n than other \n in the first 4,096 characters. It cuts blanks off the ends of lines
// before it asks. Where it does not find a text it tries others: with straight quotes for curly ones, and with \u00e9
// for é; what it writes then depends on the release. 2.1.7 alone gives a new file the ends of lines that the files
// around it have; that is not shown.

// A fileText is a file as claude reads it.
type fileText struct {
	raw   string // all of it, as text
	lines string // with \n for \r\n: what an edit is about
	crlf  bool   // an edit ends all lines with \r\n
	odd   string // why it is not certain what an edit makes of it, or Write of its encoding; "" if it is
}

// after returns what a call makes of the file.
func (f fileText) after(tool string, isNew bool, in map[string]json.RawMessage) (string, error) {
	switch tool {
	case "Write":
		content, err := stringIn(in, "content")
		switch {
		case err != nil:
			return "", err
		case len(content) > maxCompared:
			return "", errTooMuch
		case isNew:
			return content, nil
		}
		return content, f.unlessOdd()
	case "Edit":
		return f.edited(in, isNew)
	}
	return "", fmt.Errorf("no release that claude-supervise knows has the tool %s", tool)
}

var (
	errTooMuch = errors.New("it is too much to be compared")
	errUneven  = errors.New("its lines end in different ways")
)

// unlessOdd is an error if releases differ in what Write keeps of the file.
func (f fileText) unlessOdd() error {
	switch {
	case f.odd != "":
		return errors.New(f.odd)
	case strings.HasPrefix(f.raw, bom):
		return errors.New("the file begins with a byte order mark, which some releases keep")
	case f.crlf:
		return errors.New(`the file's lines end with \r\n, which some releases keep`)
	}
	return nil
}

const bom = "\ufeff"

// edited returns what Edit makes of the file.
func (f fileText) edited(in map[string]json.RawMessage, isNew bool) (string, error) {
	was, err := stringIn(in, "old_string")
	if err != nil {
		return "", err
	}
	now, err := stringIn(in, "new_string")
	if err != nil {
		return "", err
	}
	all := false
	if in["replace_all"] != nil && json.Unmarshal(in["replace_all"], &all) != nil {
		return "", errors.New("its replace_all is neither true nor false")
	}
	switch {
	case isNew && was == "" && len(now) <= maxCompared:
		return now, nil
	case isNew && was != "":
		return "", errors.New("there is no such file")
	case f.odd != "":
		return "", errors.New(f.odd)
	case strings.HasPrefix(was, bom) || strings.HasPrefix(now, bom):
		return "", errors.New("it begins with a byte order mark, which some releases add to and others do not")
	case strings.ContainsRune(was+now, utf8.RuneError):
		return "", errors.New("it has characters that are none")
	}
	after, err := f.replaced(was, now, all)
	switch {
	case err != nil:
		return "", err
	case len(after) > maxCompared:
		return "", errTooMuch
	case strings.TrimPrefix(after, bom) == "" && strings.HasPrefix(f.raw, bom):
		return "", errors.New("nothing is left but a byte order mark, which some releases keep")
	case !f.crlf:
		return after, nil
	case strings.Contains(after, "\r\n"):
		return "", errUneven // older releases write \r\r\n
	}
	return strings.ReplaceAll(after, "\n", "\r\n"), nil
}

// replaced returns the text with was replaced by now.
func (f fileText) replaced(was, now string, all bool) (string, error) {
	if was == "" {
		if strings.Trim(f.lines, " \t\n\v\f\r") != "" {
			return "", errors.New("the file is not empty, and nothing is said of what is to be replaced")
		}
		return now, nil
	}
	n := strings.Count(f.lines, was)
	switch {
	case n == 0 && strings.Contains(straight.Replace(f.lines), straight.Replace(was)):
		return "", errors.New(
			"the file has it with other quotes, which claude takes for the same, and may write other quotes than these")
	case n == 0:
		return "", errors.New("the file does not hold what is to be replaced, in the form that stands here")
	case n > 1 && !all:
		return "", errors.New("the file holds what is to be replaced more than once")
	case len(f.lines)+n*len(now) > 4*maxCompared:
		return "", errTooMuch
	}
	if now == "" && !strings.HasSuffix(was, "\n") && strings.Contains(f.lines, was+"\n") {
		was += "\n" // a line is removed whole, also where that is not the only occurrence
	}
	if !all {
		n = 1
	}
	return strings.Replace(f.lines, was, now, n), nil
}

// straight makes curly quotes straight, as claude does to find a text.
var straight = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)

// stringIn returns a member of an input that has to be a text.
func stringIn(in map[string]json.RawMessage, name string) (string, error) {
	var s *string
	if json.Unmarshal(in[name], &s) != nil || s == nil {
		return "", fmt.Errorf("its %s is no text", name)
	}
	return *s, nil
}

var errNotText = errors.New("the file is not text")

// readFile reads the file that a call names.
func readFile(t target) (fileText, error) {
	if t.Real == "" {
		return fileText{}, errors.New("its links lead nowhere")
	}
	data, err := readRegular(t.Real, maxCompared)
	if err != nil {
		return fileText{}, err
	}
	return asRead(data)
}

// asRead returns a file as claude reads it.
func asRead(data []byte) (fileText, error) {
	f := fileText{raw: string(data)}
	wide := len(data) >= 2 && data[0] == 0xff && data[1] == 0xfe
	if wide {
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(data[2*i:])
		}
		f.raw = string(utf16.Decode(units))
		if len(data)%2 == 1 || strings.ContainsRune(f.raw, utf8.RuneError) {
			return fileText{}, errNotText
		}
		f.odd = "the file is UTF-16"
	} else if !utf8.Valid(data) {
		return fileText{}, errNotText
	}
	f.lines = strings.ReplaceAll(f.raw, "\r\n", "\n")
	inBytes, inUnits := endsCRLF(f.raw[:min(len(f.raw), lineSample)]), endsCRLF(firstUnits(f.raw, lineSample))
	f.crlf = inBytes
	switch {
	case inBytes != inUnits, f.crlf && strings.Contains(f.lines, "\r\n"):
		f.odd = errUneven.Error()
	case wide && f.lines == f.raw:
		f.odd = "" // only of its ends of lines releases have different views
	}
	return f, nil
}

// lineSample is how much of a file decides which ends of lines it has: bytes, or UTF-16 units in newer releases.
const lineSample = 4096

// firstUnits returns the beginning of a text that is so many UTF-16 units long.
func firstUnits(s string, most int) string {
	for i, r := range s {
		if most -= utf16.RuneLen(r); most < 0 {
			return s[:i]
		}
	}
	return s
}

// endsCRLF reports whether more lines of a text end with \r\n than with \n alone.
func endsCRLF(s string) bool {
	crlf := strings.Count(s, "\r\n")
	return crlf > strings.Count(s, "\n")-crlf
}

// readText reads a file of text in UTF-8.
func readText(path string, most int64) (string, error) {
	data, err := readRegular(path, most)
	if err == nil && !utf8.Valid(data) {
		err = errNotText
	}
	if err != nil {
		return "", err
	}
	return string(data), nil
}

// readRegular reads a file. What is no regular file is not opened in a way that would wait for it.
func readRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if of := new(fs.PathError); errors.As(err, &of) {
		return nil, of.Err
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, supervisor.ErrNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > most:
		return nil, fmt.Errorf("the file is larger than %d KiB", most>>10)
	}
	return data, nil
}

package filedrop

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file is how answer files are read that people have written in other encodings than UTF-8: UTF-16, as PowerShell
// and Notepad write it, and Latin-1. Only what is certain is read: a person's answer is never guessed.

// inUTF8 returns the text of an answer file in UTF-8, or as it is where its first line is that already, or is in no
// encoding that is certain.
func inUTF8(text []byte) []byte {
	if order := orderOfUTF16(text); order != nil {
		units := make([]uint16, len(text)/2)
		for i := range units {
			units[i] = order.Uint16(text[2*i:])
		}
		decoded := []byte(string(utf16.Decode(units)))
		line := firstLine(decoded)
		half := len(text)%2 != 0 && len(line) == len(decoded) // of its last unit: it is being written, or none
		if half || bytes.ContainsRune(line, utf8.RuneError) {
			return text
		}
		return decoded
	}
	line := firstLine(text)
	ends := len(line) < len(text)
	if utf8.Valid(line) || !ends && maybeHalf(line) || !isLatin1(line) {
		return text
	}
	return []byte(fromLatin1(text))
}

// maybeHalf reports whether a line may be one in UTF-8 or UTF-16 of which the last character is half written.
func maybeHalf(line []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if !utf8.FullRune(line[len(line)-n:]) {
			return true
		}
	}
	return len(line) == 1 // of a mark
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// orderOfUTF16 returns the byte order of a text in UTF-16: one that its mark names, or in whose first line every second
// byte is NUL, and no other. It is nil for any other text.
func orderOfUTF16(text []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	line := firstLine(text)
	if len(line) < 2 {
		return nil
	}
	ends := len(line) < len(text) // then the newline is the first byte of its unit, or the second one
	little, big := !ends || len(line)%2 == 0, !ends || len(line)%2 == 1
	for i, b := range line {
		little = little && (b == 0) == (i%2 == 1)
		big = big && (b == 0) == (i%2 == 0)
	}
	switch {
	case little:
		return binary.LittleEndian
	case big:
		return binary.BigEndian
	}
	return nil
}

func fromLatin1(text []byte) string {
	runes := make([]rune, len(text))
	for i, b := range text {
		runes[i] = rune(b)
	}
	return string(runes)
}

// isLatin1 reports whether a line that is not UTF-8 reads well as Latin-1. What could be Cyrillic, Greek or Chinese
// does not, where words have no plain letter, nor what could be of a DOS code page, where letters are controls and
// symbols.
func isLatin1(line []byte) bool {
	all := []rune(strings.TrimSpace(fromLatin1(line)))
	letter := func(r rune) bool { return unicode.IsLetter(r) && (r < utf8.RuneSelf || r >= 'À') }
	for i, r := range all {
		switch {
		case unicode.IsControl(r) && r != '\t':
			return false
		case r >= utf8.RuneSelf && !letter(r) && (i > 0 && letter(all[i-1]) || i+1 < len(all) && letter(all[i+1])):
			return false
		}
	}
	for _, word := range strings.FieldsFunc(string(all), func(r rune) bool { return !letter(r) }) {
		plain := strings.ContainsFunc(word, func(r rune) bool { return r < utf8.RuneSelf })
		if !plain && utf8.RuneCountInString(word) > 1 {
			return false
		}
	}
	return true
}

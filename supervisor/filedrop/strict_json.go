package filedrop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"claude-supervise/checkpoints/files"
)

// What a question file may hold at most: levels of nesting, and the characters of a number.
const (
	questionDepth  = 32
	questionNumber = 64
)

// checkObject says what is wrong with a text that ought to be one JSON object, strictly: encoding/json would take the
// last of two members of one name, and replace what is not UTF-8.
func checkObject(text []byte) error {
	if trimmed := bytes.TrimSpace(text); len(trimmed) == 0 {
		return errors.New("it is empty")
	} else if trimmed[0] != '{' {
		return errors.New("it is not a JSON object, which begins with {")
	}
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return placed(text, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return checkValue(d, questionDepth)
}

// placed names the line instead of the offset.
func placed(text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	at := min(int(syntax.Offset), len(text))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:at], []byte("\n")), err)
}

// checkValue reads the next value of a text whose syntax is right.
func checkValue(d *json.Decoder, depth int) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case string:
		return checkText(t)
	case json.Number:
		return checkNumber(t)
	case json.Delim:
		if depth == 0 {
			return fmt.Errorf("it nests more than %d deep", questionDepth)
		}
		if err := checkMembers(d, t == '{', depth-1); err != nil {
			return err
		}
		_, err = d.Token() // the closing one
	}
	return err
}

func checkMembers(d *json.Decoder, named bool, depth int) error {
	seen := map[string]bool{}
	for d.More() {
		if named {
			token, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := token.(string)
			if seen[name] {
				return fmt.Errorf("the member %q is there twice", files.Shorten(name))
			}
			seen[name] = true
			if err := checkText(name); err != nil {
				return err
			}
		}
		if err := checkValue(d, depth); err != nil {
			return err
		}
	}
	return nil
}

func checkText(text string) error {
	if strings.ContainsRune(text, 0) {
		return errors.New("it holds a NUL character")
	}
	return nil
}

func checkNumber(n json.Number) error {
	if f, err := n.Float64(); err != nil || math.IsInf(f, 0) || len(n) > questionNumber {
		return fmt.Errorf("the number %s is too large", files.Shorten(n.String()))
	}
	return nil
}

package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// MaxMembers bounds how many members an object may have.
const MaxMembers = 100_000

// Object reads a JSON object whose members all have different names.
func Object(text []byte) (map[string]json.RawMessage, error) {
	read := json.NewDecoder(bytes.NewReader(text))
	if start, err := read.Token(); err != nil {
		return nil, cut(err)
	} else if start != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	members := map[string]json.RawMessage{}
	for read.More() {
		name, err := read.Token()
		if err != nil {
			return nil, cut(err)
		}
		key := name.(string) // the decoder takes nothing else there
		if _, twice := members[key]; twice {
			return nil, fmt.Errorf("two members are called %q", Shorten(key))
		}
		if len(members) == MaxMembers {
			return nil, fmt.Errorf("an object has more than %d members", MaxMembers)
		}
		var value json.RawMessage
		if err := read.Decode(&value); err != nil {
			return nil, cut(err)
		}
		members[key] = value
	}
	if _, err := read.Token(); err != nil { // the other brace
		return nil, cut(err)
	}
	if _, err := read.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows after its end")
	}
	return members, nil
}

// cut says in plain words that a text ended too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends in the middle, as if half written")
	}
	return err
}

// PlainJSON encodes without turning < > & into escapes: people read these files. It does not indent: an agent's deeply
// nested value would grow with the square of its depth.
func PlainJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// An ObjectWriter writes the members of one object.
type ObjectWriter struct {
	of      string // what it is, for errors
	members []string
	left    map[string]json.RawMessage // those that have not been written
	err     error
}

// NewObject begins an object, with the members that it has of others; of is its name in errors.
func NewObject(of string, other map[string]json.RawMessage) *ObjectWriter {
	return &ObjectWriter{of: of, left: maps.Clone(other)}
}

// A Member is one of an object.
type Member struct {
	Name  string
	Value any
}

// Put writes a member; where it is not set the other one of its name, or else none, unless that is empty.
func (w *ObjectWriter) Put(name string, value any, none string) {
	if v := reflect.ValueOf(value); v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		if other, present := w.left[name]; present {
			value = other
		} else if none == "" {
			return
		} else {
			value = json.RawMessage(none)
		}
	}
	delete(w.left, name)
	w.write(name, value)
}

func (w *ObjectWriter) write(name string, value any) {
	encoded, isJSON := value.(json.RawMessage) // as it was written, white space and all
	if !isJSON {
		var err error
		if encoded, err = PlainJSON(value); err != nil {
			w.err = errors.Join(w.err, fmt.Errorf("encode %q of %s: %w", Shorten(name), w.of, err))
		}
	} else if !json.Valid(encoded) {
		w.err = errors.Join(w.err, fmt.Errorf("encode %q of %s: not JSON", Shorten(name), w.of))
	}
	quoted, err := PlainJSON(name)
	w.err = errors.Join(w.err, err)
	w.members = append(w.members, string(quoted)+": "+string(encoded))
}

// End returns the object, with a space before each member and an end after the last one.
func (w *ObjectWriter) End(space, end string, added []Member) ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(w.left)) {
		w.write(name, w.left[name])
	}
	for _, a := range added {
		w.write(a.Name, a.Value)
	}
	return []byte("{" + space + strings.Join(w.members, ","+space) + end + "}" + end), w.err
}

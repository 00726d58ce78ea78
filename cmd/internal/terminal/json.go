package terminal

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// JSON encodes v as encoding/json does, but each struct with all of its fields, omitempty or not, and a list that is
// nil as []: a program finds the same keys whether there is a value or not.
func JSON(v any) ([]byte, error) {
	var out bytes.Buffer
	err := encodeJSON(&out, reflect.ValueOf(v))
	return out.Bytes(), err
}

func encodeJSON(out *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		out.WriteString("null")
		return nil
	}
	_, own := v.Interface().(json.Marshaler)
	_, text := v.Interface().(encoding.TextMarshaler)
	switch kind := v.Kind(); {
	case own || text:
	case (kind == reflect.Pointer || kind == reflect.Interface) && !v.IsNil():
		return encodeJSON(out, v.Elem())
	case kind == reflect.Struct:
		out.WriteByte('{')
		err := encodeFields(out, v)
		out.WriteByte('}')
		return err
	case kind == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		out.WriteByte('[')
		for i := range v.Len() {
			comma(out)
			if err := encodeJSON(out, v.Index(i)); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case kind == reflect.Map && v.Type().Key().Kind() == reflect.String:
		values := map[string]reflect.Value{}
		for key, value := range v.Seq2() {
			values[key.String()] = value
		}
		out.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if err := encodeMember(out, key, values[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v.Interface()); err != nil {
		return fmt.Errorf("encoding JSON: %w", err)
	}
	out.Write(bytes.TrimRight(plain.Bytes(), "\n"))
	return nil
}

// encodeFields writes the members that a struct's fields are, those of embedded structs among them.
func encodeFields(out *bytes.Buffer, v reflect.Value) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var err error
		switch {
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			err = encodeFields(out, v.Field(i))
		case !field.IsExported(), name == "-":
		case name == "":
			err = encodeMember(out, field.Name, v.Field(i))
		default:
			err = encodeMember(out, name, v.Field(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func encodeMember(out *bytes.Buffer, name string, v reflect.Value) error {
	comma(out)
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	out.Write(append(key, ':'))
	return encodeJSON(out, v)
}

// comma separates what follows from a member or an element before it.
func comma(out *bytes.Buffer) {
	if last := out.Bytes()[out.Len()-1]; last != '{' && last != '[' {
		out.WriteByte(',')
	}
}

package text

import (
	"encoding/json"
	"testing"
)

func TestWhatCannotBeDecodedIsSaidWithoutTheNamesOfTypes(t *testing.T) {
	for doc, want := range map[string]string{
		`7`:               "it is a JSON number",
		`{"in":{"a":[]}}`: "its in.a is a JSON array",
		`{`:               "unexpected end of JSON input",
	} {
		var v struct {
			In struct {
				A string `json:"a"`
			} `json:"in"`
		}
		if got := Misread(json.Unmarshal([]byte(doc), &v)); got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

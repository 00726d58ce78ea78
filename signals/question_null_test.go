package signals

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// null and ~ are values that an agent may well offer: for a column, or a setting.
func TestAnOptionMayBeNull(t *testing.T) {
	for text, want := range map[string]string{
		"[keep, null, ~]":                         "keep null ~",
		"[Null, 'null', \"~\"]":                   "Null null ~",
		"- label: null\n- label: ~\n- label: a":   "null ~ a",
		"- {label: null, description: no value}":  "null",
		"{A: null, B: zero}":                      "null zero",
		"- {label:, value: x, description: none}": "x",
	} {
		var doc yaml.Node
		noError(t, yaml.Unmarshal([]byte(text), &doc))
		got := ""
		for _, o := range readOptions(doc.Content[0]) {
			got += " " + o.Label
		}
		if got != " "+want {
			t.Errorf("%s offers%s, want %s", text, got, want)
		}
	}
}

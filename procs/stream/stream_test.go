package stream

import (
	"reflect"
	"testing"
)

func TestAMemberOfAnotherTypeIsUnknown(t *testing.T) {
	for data, want := range map[string]bool{
		`{"type":3,"uuid":"u","message":{"content":[{"type":"text","text":{}},{"type":"text","text":"said"}]}}`: true,
		`["uuid"]`:        true,
		`{"uuid":"u"`:     false,
		`no protocol: {}`: false,
		``:                false,
	} {
		var l Line
		if got := Decode([]byte(data), &l); got != want {
			t.Errorf("%s is JSON: %v", data, got)
		}
		if l.UUID == "u" && l.Message.Content.Text() != "\nsaid" {
			t.Errorf("of %s is read %+v", data, l)
		}
	}
}

func TestContentIsATextOrBlocks(t *testing.T) {
	for data, want := range map[string][]string{
		`"plain"`: {"plain"},
		`[]`:      nil,
		`[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]`:                       {"a", "b"},
		`[{"type":"tool_result","content":"r"},{"type":"tool_use","text":"not this"}]`:                   {"r"},
		`[{"type":"tool_result","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]`:     {"x", "y"},
		`[{"type":"tool_result"},{"type":"tool_result","content":null},{"type":"text","text":"\u00e9"}]`: {"é"},
	} {
		var c Content
		if err := c.UnmarshalJSON([]byte(data)); err != nil {
			t.Errorf("%s: %v", data, err)
		} else if got := c.Texts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the texts are %q, not %q", data, got, want)
		}
	}
	for _, data := range []string{`3`, `{"type":"text"}`, `["a"]`, `"cut`, ``} {
		var c Content
		if err := c.UnmarshalJSON([]byte(data)); err == nil {
			t.Errorf("%s is taken for content: %v", data, c)
		}
	}
}

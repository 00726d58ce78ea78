package terminal

import (
	"encoding/json"
	"testing"
	"time"
)

func TestJSONHasAllFieldsOfAStruct(t *testing.T) {
	type inner struct {
		A string   `json:"a,omitempty"`
		B []string `json:"b,omitempty"`
	}
	type Embedded struct {
		C *int `json:"c,omitempty"`
	}
	v := struct {
		Embedded
		D    *inner           `json:"d,omitempty"`
		E    []inner          `json:"e"`
		F    map[string]inner `json:"f"`
		G    time.Time        `json:"g"`
		H    json.RawMessage  `json:"h,omitempty"`
		I    any              `json:"i"`
		Skip int              `json:"-"`
		own  int
	}{E: []inner{{A: "<,{"}, {}}, F: map[string]inner{"y": {}, "x": {B: []string{"b"}}}, I: inner{}, own: 1}
	got, err := JSON(v)
	want := `{"c":null,"d":null,"e":[{"a":"<,{","b":[]},{"a":"","b":[]}],"f":{"x":{"a":"","b":["b"]},"y":{"a":"","b":[]}},` +
		`"g":"0001-01-01T00:00:00Z","h":null,"i":{"a":"","b":[]}}`
	if err != nil || string(got) != want || v.own != 1 {
		t.Errorf("it is %s (%v), want %s", got, err, want)
	}
	if got, err := JSON(nil); err != nil || string(got) != "null" {
		t.Errorf("nothing is %s, %v", got, err)
	}
	if _, err := JSON(struct{ C chan int }{make(chan int)}); err == nil {
		t.Error("what cannot be encoded is")
	}
}

package pack

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
)

// A field that is new in a record is in every pack file from then on: whoever adds it decides what it is trusted for.
func TestEveryFieldOfAPackFileIsDecidedAbout(t *testing.T) {
	text, err := os.ReadFile("pack_trust.go")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"data": true, "form": true, "narrow": true, "anew": true, "sifted": true, "here": true}
	decided := map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(strings.TrimPrefix(line, "//"))
		if !strings.HasPrefix(line, "//\t") || len(words) < 3 || !known[words[1]] {
			continue
		}
		for _, field := range words[2:] {
			name := words[0] + "." + field
			if decided[name] != "" {
				t.Errorf("%s is decided about twice", name)
			}
			decided[name] = words[1]
		}
	}
	there := map[string]bool{}
	fieldsOf(reflect.TypeFor[manifest](), there)
	fieldsOf(reflect.TypeFor[checkpoints.Exported](), there)
	fieldsOf(reflect.TypeFor[conf.Config](), there)
	for _, phase := range []checkpoints.LaunchPhase{
		checkpoints.LaunchTurnOwed, checkpoints.LaunchTurnDue, checkpoints.LaunchSurveyed,
	} {
		writtenOf(t, checkpoints.Launch{Phase: phase}, there)
	}
	for name := range there {
		if decided[name] == "" {
			t.Errorf("%s may come in a pack file: decide in pack_trust.go what it is trusted for, and do it in the file of "+
				"its concern, from supervisor/pack.go", name)
		}
	}
	for name := range decided {
		if !there[name] {
			t.Errorf("%s is decided about and in no pack file", name)
		}
	}
	if len(there) < 250 {
		t.Errorf("only %d fields were found", len(there))
	}
}

func fieldsOf(of reflect.Type, found map[string]bool) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, of.Kind()) {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.HasPrefix(of.PkgPath(), "claude-supervise/") {
		return
	}
	for _, f := range reflect.VisibleFields(of) { // those of embedded records are written as its own
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue // it is written as other fields, see writtenOf
		}
		if found[of.Name()+"."+name] {
			return
		}
		found[of.Name()+"."+name] = true
		fieldsOf(f.Type, found)
	}
}

// writtenOf finds the fields that a record writes by itself.
func writtenOf(t *testing.T, record any, found map[string]bool) {
	t.Helper()
	var fields map[string]json.RawMessage
	if doc, err := json.Marshal(record); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(doc, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		found[reflect.TypeOf(record).Name()+"."+name] = true
	}
}

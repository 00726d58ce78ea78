package procs

import (
	"strings"
	"testing"
)

func TestAMarkerIsOnAnEnvironmentOnlyAsAWhole(t *testing.T) {
	m := Marker{Run: "r-1", Agent: "a-1", Launch: 2}
	on := strings.Join(append([]string{"A=1"}, m.env()...), "\x00") + "\x00"
	if !m.on(on) {
		t.Error("it is not on its own")
	}
	for _, other := range []Marker{{"r-2", "a-1", 2}, {"r-1", "a-2", 2}, {"r-1", "a-1", 22}, {"r-1", "a-1", 1}} {
		if other.on(on) {
			t.Errorf("%v is on it", other)
		}
	}
	if m.on("X"+on[max(strings.Index(on, EnvRun), 0):]) || m.on("") {
		t.Error("it is on an environment that only looks alike")
	}
}

package examples

import (
	"slices"
	"testing"
)

func TestEachScenarioIsInOneGroup(t *testing.T) {
	var all []string
	for _, g := range Groups() {
		all = append(all, g.Names...)
	}
	if first := all[0]; first != "tour" {
		t.Errorf("they begin with %s", first)
	}
	slices.Sort(all)
	if names := Names(); !slices.Equal(all, names) {
		t.Errorf("the groups have\n%q, there are\n%q", all, names)
	}
}

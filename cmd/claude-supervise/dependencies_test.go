package main

import (
	"os/exec"
	"strings"
	"testing"
)

// What runs a fleet is a program of its own: nothing that this one imports, however far away, brings it along.
func TestTheProgramCarriesNothingOfAFleet(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("go lists %d packages", len(packages))
	}
	for _, p := range packages {
		for _, foreign := range []string{"go.temporal.io/", "gocloud.dev", "google.golang.org/grpc", "filippo.io/age"} {
			if strings.HasPrefix(p, foreign) {
				t.Errorf("it has %s", p)
			}
		}
	}
}

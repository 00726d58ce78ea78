package dev

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// A part of the server that has no port logs that, and goes on: without the port it would end in a goroutine of its own,
// with a traceback.
func TestWhatTheServerCannotGoOnWithoutIsSaid(t *testing.T) {
	said := ""
	var l log.Logger = lastLogger{log.NewNoopLogger(), func(words string) { said = words }}
	log.With(l, tag.NewStringTag("service", "history")).Fatal("Failed to start gRPC listener",
		tag.Error(errors.New("address already in use")), tag.Address("127.0.0.1:7233"))
	if want := "Failed to start gRPC listener: address already in use: 127.0.0.1:7233"; said != want {
		t.Errorf("it says %q, not %q", said, want)
	}
}

func TestTheStateOfTheServerIsItsUsers(t *testing.T) {
	old := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(old, []byte("state"), 0o644); err != nil { //nolint:gosec // as sqlite has made it
		t.Fatal(err)
	}
	for _, file := range []string{old, filepath.Join(t.TempDir(), "new")} {
		if err := own(file); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", file, info.Mode(), err)
		}
	}
	if content, err := os.ReadFile(old); err != nil || string(content) != "state" {
		t.Errorf("what was in it is %q, %v", content, err)
	}
}

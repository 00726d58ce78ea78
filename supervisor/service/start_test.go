package service

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestAKeyStandsForOneRequest(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	one, other := Start{Key: "k", Prompt: "one"}, Start{Key: "k", Prompt: "other"}
	var refusal *Refusal
	for range 2 {
		if err := one.Claim(folder); err != nil {
			t.Errorf("the same request is refused: %v", err)
		}
	}
	if !errors.As(other.Claim(folder), &refusal) {
		t.Error("another request has the run of the first")
	}
	Release(folder)
	if err := other.Claim(folder); err != nil {
		t.Errorf("the key of what was not started is not free: %v", err)
	}
}

package capability

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestACapabilityGivesTheAnswersOfItsButtonsAndNothingElseDoes(t *testing.T) {
	dir := t.TempDir()
	one, err := New(dir, "q-123456", []string{"JWT", "Sessions"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(dir, "q-123456", []string{"deny"}) // told a second time, after a crash
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(dir, "q-abcdef", []string{"yes"})
	if err != nil {
		t.Fatal(err)
	}
	for capability, want := range map[string][]string{one: {"JWT", "Sessions"}, again: {"deny"}, other: {"yes"}} {
		if got, err := Answers(dir, capability); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s gives %v (%v)", capability, got, err)
		}
	}
	_, secret, _ := strings.Cut(other, ".")
	for _, forged := range []string{"", ".", "q-123456", "q-123456.", "q-123456." + secret, one + "x", one[:len(one)-1],
		"../q-123456", "q-999999." + secret, strings.ToLower(one)} {
		if got, err := Answers(dir, forged); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q gives %v (%v)", forged, got, err)
		}
	}
	path := filepath.Join(dir, "q-123456.buttons")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	kept, err := os.ReadFile(path)
	_, secret, _ = strings.Cut(one, ".")
	if err != nil || strings.Contains(string(kept), secret) {
		t.Errorf("kept is %s (%v)", kept, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Answers(dir, one); err == nil {
		t.Error("a file that others could read was read")
	}
}

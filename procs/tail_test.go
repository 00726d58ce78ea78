package procs

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestATailKeepsTheLastBytes(t *testing.T) {
	kept := &Tail{Limit: 10}
	var all strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		part := strings.Repeat(string(rune('a'+random.IntN(26))), random.IntN(25))
		_, _ = kept.Write([]byte(part))
		all.WriteString(part)
		want := all.String()
		if got := string(kept.kept); got != want[max(0, len(want)-10):] {
			t.Fatalf("got %q of %q", got, want)
		}
	}
}

func TestATextIsCutAtARunesEdge(t *testing.T) {
	for n := range 12 {
		got := Cut("äöü€", n)
		if !utf8.ValidString(got) {
			t.Errorf("at %d: %q", n, got)
		}
		if whole := got == "äöü€"; whole != (n >= len("äöü€")) {
			t.Errorf("at %d: %q", n, got)
		}
	}
}

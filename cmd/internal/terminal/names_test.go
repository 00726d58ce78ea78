package terminal

import (
	"bytes"
	"testing"
)

func TestEachOfThoseWhoSpeakSideBySideHasAColour(t *testing.T) {
	p := newPrinter(stream{&bytes.Buffer{}, nil}, stream{&bytes.Buffer{}, nil}, false, true, true)
	defer mustClose(t, p)
	p.Names("a-1", "root")
	p.Names("a-2", "fix: auth")
	p.Names("a-2", "fix: billing") // called otherwise since another is there
	cyan, magenta := func(s string) string { return "\x1b[36m" + s + "\x1b[m" }, func(s string) string { return "\x1b[35m" + s + "\x1b[m" }
	for text, want := range map[string]string{
		"root: I look":                        cyan("root") + ": I look",
		"fix: auth: I look: there":            magenta("fix: auth") + ": I look: there",
		"14:02:07 fix: billing: I look":       "14:02:07 " + magenta("fix: billing") + ": I look",
		"2026-01-11 14:02:07 root: I look":    "2026-01-11 14:02:07 " + cyan("root") + ": I look",
		"14:02:07 -- ! root: it is slow":      "14:02:07 -- ! " + cyan("root") + ": it is slow",
		"! root: it is slow":                  "! " + cyan("root") + ": it is slow",
		"somebody: root: I look":              "somebody: root: I look",
		"the root: of evil\nroot: is money":   "the root: of evil\nroot: is money",
		"agent a-1 started, for root: a task": "agent a-1 started, for root: a task",
	} {
		if got := p.named(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	plain := newPrinter(stream{&bytes.Buffer{}, nil}, stream{&bytes.Buffer{}, nil}, false, true, false)
	defer mustClose(t, plain)
	plain.Names("a-1", "root")
	if got := plain.named("root: I look"); got != "root: I look" {
		t.Errorf("without colours it is %q", got)
	}
}

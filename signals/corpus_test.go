package signals

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Texts that speak of signals, or look like some, and are none. A signal heard in one of them would stop an agent, or
// end its run, for nothing.
func TestTalkIsNoSignal(t *testing.T) {
	read, wrong := 0, 0
	for path, text := range texts(t) {
		if !strings.HasPrefix(path, "testdata/talk/") {
			continue
		}
		read++
		for _, s := range Scan(text, me) {
			if !s.Foreign {
				wrong++
				t.Errorf("%s: heard %v", path, heard([]Signal{s}))
			}
		}
	}
	t.Logf("%d false signals in %d texts", wrong, read)
	if read < 60 {
		t.Errorf("only %d texts", read)
	}
}

// Signals as models write them when they do not quite follow the form. Each is heard once, and read as what stands
// beside it.
func TestVariantsAreHeard(t *testing.T) {
	read, missed := 0, 0
	for path, text := range texts(t) {
		if !strings.HasPrefix(path, "testdata/variants/") {
			continue
		}
		read++
		t.Run(filepath.Base(path), func(t *testing.T) {
			sigs := Scan(text, me)
			if len(sigs) != 1 || sigs[0].Foreign {
				missed++
				t.Fatalf("heard %v", heard(sigs))
			}
			golden(t, strings.TrimSuffix(path, ".txt")+".want", summary(sigs[0]))
			if t.Failed() {
				missed++
			}
		})
	}
	t.Logf("%d of %d variants missed or misread", missed, read)
	if read < 60 {
		t.Errorf("only %d variants", read)
	}
}

// summary writes what was read of a signal, one fact a line.
func summary(s Signal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s\n", s.Kind, strings.ReplaceAll(strings.ReplaceAll("<"+s.AgentID+">", "<"+me+">", "the agent"), "<>", "nobody"))
	for _, f := range s.Fields {
		fmt.Fprintf(&b, "  %s = %q\n", f.Name, f.Value)
	}
	for _, q := range s.Questions {
		fmt.Fprintf(&b, "  %s? %q\n", q.ID, q.Text)
		for _, m := range []Field{{"header", q.Header}, {"context", q.Context}, {"validate", q.Validate}} {
			if m.Value != "" {
				fmt.Fprintf(&b, "    %s = %q\n", m.Name, m.Value)
			}
		}
		for _, o := range q.Options {
			fmt.Fprintf(&b, "    - %q %q\n", o.Label, o.Description)
		}
		if q.MultiSelect {
			b.WriteString("    several\n")
		}
		if q.Optional {
			b.WriteString("    optional\n")
		}
	}
	for _, p := range s.Problems {
		if p.Code != "missing_field" { // most variants are short
			fmt.Fprintf(&b, "  line %d %s\n", p.Line, p.Code)
		}
	}
	return b.String()
}

package commandline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACommandLineIsSplitAsAShellWouldAndRunByNone(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"TOPIC": "builds today"}[name] }
	for line, want := range map[string][]string{
		`/bin/sh`:                       {"/bin/sh"},
		`sh -c 'read it; echo "$it"'`:   {"/bin/sh", "-c", `read it; echo "$it"`},
		`/bin/echo {} "run: {}"`:        {"/bin/echo", "{}", "run: {}"},
		`/bin/echo "$TOPIC" \$TOPIC *`:  {"/bin/echo", "builds today", "$TOPIC", "*"},
		`/bin/echo "two words" 'a"b' c`: {"/bin/echo", "two words", `a"b`, "c"},
	} {
		got, err := Parse(line, getenv)
		if len(got) > 0 && strings.HasSuffix(got[0], "/sh") {
			got[0] = "/bin/sh" // wherever it is
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", line, err, diff)
		}
	}
	for line, problem := range map[string]string{
		``: "names no program", `  `: "names no program", `sh -c "open`: "cannot be split", `sh $(id)`: "cannot be split",
		"sh `id`": "cannot be split", `no-such-program --now`: "not found", `/etc/passwd`: "permission denied",
	} {
		if got, err := Parse(line, getenv); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
}

// What is for a program of another machine is split as well, and refused for the same faults but that this one lacks it.
func TestACommandOfAnotherMachineNeedsNoProgramHere(t *testing.T) {
	got, err := Split(`no-such-program --now "$WHAT" {}`, func(string) string { return "a b" })
	if diff := cmp.Diff([]string{"no-such-program", "--now", "a b", "{}"}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, line := range []string{``, `sh -c "open`, `sh $(id)`} {
		if got, err := Split(line, func(string) string { return "" }); err == nil {
			t.Errorf("%s: %q", line, got)
		}
	}
}

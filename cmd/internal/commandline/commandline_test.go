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

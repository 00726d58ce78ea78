package procs

import (
	"strings"
	"testing"
)

func TestFlagsThatALaunchSetsItselfAreReserved(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, ""},
		{[]string{"--model", "opus", "--allowedTools", "Bash,Read"}, ""},
		{[]string{"--model", "opus", "--resume", "x"}, "--resume"},
		{[]string{"--output-format=text"}, "--output-format"},
		{[]string{"-c"}, "-c"},
	} {
		if got := Reserved(c.flags); got != c.want {
			t.Errorf("Reserved(%q) = %q, want %q", c.flags, got, c.want)
		}
	}
}

func TestFlagsThatNameProgramsAreTakenOutWithTheirValues(t *testing.T) {
	for given, want := range map[string]string{
		"--model opus --mcp-config a.json b.json --verbose": "--model opus --verbose",
		"--settings={} --permission-mode acceptEdits":       "--permission-mode acceptEdits",
		"--allowedTools Bash Write --plugin-dir x":          "--allowedTools Bash Write",
		"": "",
	} {
		kept, dropped := WithoutPrograms(strings.Fields(given))
		if got := strings.Join(kept, " "); got != want || len(kept)+len(dropped) != len(strings.Fields(given)) {
			t.Errorf("of %q stays %q and goes %q", given, kept, dropped)
		}
	}
}

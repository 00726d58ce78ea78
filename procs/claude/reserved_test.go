package claude

import (
	"slices"
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
		{[]string{"--permission-prompts", "none"}, "--permission-prompts"},
		{[]string{"--bare"}, "--bare"},
		{[]string{"--permission-mode", "plan"}, ""},
		{[]string{"--model", "opus", "--permission-mode", "dontAsk"}, "--permission-mode dontAsk"},
		{[]string{"--permission-mode=dontAsk"}, "--permission-mode dontAsk"},
	} {
		if got, why := Reserved(c.flags); got != c.want || (why == "") != (c.want == "") {
			t.Errorf("Reserved(%q) = %q, want %q", c.flags, got, c.want)
		}
	}
}

func TestOnlyHarmlessFlagsAreTakenFromAnybody(t *testing.T) {
	for given, want := range map[string]string{
		"--model opus --mcp-config a.json b.json --verbose":     "--model=opus --verbose",
		"--settings={} --permission-mode acceptEdits":           "",
		"--permission-mode plan --effort=high":                  "--permission-mode=plan --effort=high",
		"--permission-mode=bypassPermissions":                   "",
		"--allowedTools Bash Write --plugin-dir x":              "",
		"--allowed-tools=Bash --add-dir / --agents {}":          "",
		"--disallowedTools Bash(rm:*) Write":                    "--disallowedTools=Bash(rm:*) --disallowedTools=Write",
		"--dangerously-skip-permissions":                        "",
		"--model --dangerously-skip-permissions":                "",
		"--model=--dangerously-skip-permissions":                "",
		"--model opus --dangerously-skip-permissions --verbose": "--model=opus --verbose",
		"--verbose do-this":                                     "",
		"do-this --model opus":                                  "--model=opus",
		"--model opus sonnet":                                   "",
		"--mod opus -d --unknown x":                             "",
		"--max-budget-usd 1000000 --max-turns=9":                "",
		"":                                                      "",
	} {
		kept, dropped := HarmlessFlags(strings.Fields(given))
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("of %q stays %q and goes %q", given, kept, dropped)
		}
		if again, none := HarmlessFlags(kept); strings.Join(again, " ") != want || len(none) > 0 {
			t.Errorf("what stays of %q is %q the second time, and %q goes", given, again, none)
		}
	}
}

func TestFlagsOfTheSameNameAreReplaced(t *testing.T) {
	got := ReplaceFlags([]string{"--model=opus", "--allowedTools", "Bash", "Write", "--verbose"},
		[]string{"--allowedTools", "Read"})
	if want := "--model=opus --verbose --allowedTools Read"; strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}

func TestNothingButPlanModeIsTakenAway(t *testing.T) {
	got := WithoutPlanMode([]string{"--a", "--permission-mode=plan", "--permission-mode", "default", "--permission-mode", "plan"})
	if want := []string{"--a", "--permission-mode", "default"}; !slices.Equal(got, want) {
		t.Errorf("left are %q", got)
	}
}

package procs

import "testing"

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

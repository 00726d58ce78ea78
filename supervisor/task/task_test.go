package task

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATaskIsOneTextWithItsPartsUnderHeadings(t *testing.T) {
	whole := Brief{
		Context:         "The service is in ./api.\nIt has no accounts.\n",
		Goals:           []string{"people can log in", "and out,\nof course"},
		SuccessCriteria: []string{"the tests pass"}, Deliverables: []string{"auth.go", "docs/auth.md: why"},
	}
	const want = `Add a login.

## CONTEXT

The service is in ./api.
It has no accounts.

## GOALS

- people can log in
- and out,
  of course

## SUCCESS CRITERIA

Your report says of each, under metrics_achieved and in these words, how it was met.

- the tests pass

## DELIVERABLES

They are looked for on disk when you report.

- auth.go
- docs/auth.md: why`
	if diff := cmp.Diff(want, whole.Compose("Add a login.\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := (Brief{Goals: []string{"x"}}).Compose("Do it"); got != "Do it\n\n## GOALS\n\n- x" {
		t.Errorf("with goals alone the agent reads %q", got)
	}
	if got := (Brief{}).Compose("  Write\n\na poem  "); got != "  Write\n\na poem  " {
		t.Errorf("a prompt alone was changed to %q", got)
	}
}

func TestAModelIsANameAndNoFlag(t *testing.T) {
	for _, name := range []string{"opus", "claude-opus-4-1[1m]",
		"us.anthropic.claude-v1:0", "arn:aws:bedrock:eu/profile@2"} {
		if err := CheckModel(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "-p", "--model", "opus plan", "opus\n", "$(id)", "a;b"} {
		if CheckModel(name) == nil {
			t.Errorf("%q is taken for a model", name)
		}
	}
}

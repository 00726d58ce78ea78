package checkpoints

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACheckpointOfAnyFormIsToldInMarkdown(t *testing.T) {
	for name, want := range map[string]string{
		"script_checkpoint.json": `**Workflow:** workflow_1760884320

**Current step:** auth_method_selection

**Completed steps:**

- analyze_requirements
- design_system

**Pending steps:**

- implement_auth
- add_tests

**Next:** implement_selected_auth_method

**Context:** Need auth method choice to continue implementation`,
		"agent-pause-state.json": `**Agent:** domain-agent

**Written:** 2026-02-04T10:30:00Z

**Progress:** Analyzed email validation patterns

**To be decided:** Which validation pattern?

**Question:** Found two email validation approaches. Which should be standard?

**Options:**

- Strict RFC 5322
- Lenient
- Keep both

**Files:**

- src/auth/mod.rs
- src/signup/mod.rs`,
		"mutation-agent.md": `mutation-agent Checkpoint

**Agent:** mutation-agent

**Written:** 2026-02-04T10:30:00Z

**Task:** Mutation testing for auth module

**Progress:** Testing complete, 97% mutation score achieved.

**Next:** Handle 3 surviving mutants - need user decision on approach.

**To be decided:** Should I create individual fix tasks for each surviving mutant or just report?

**Context:**

Three specific mutants survived:
1. Line 45: Boundary condition in token expiry
2. Line 78: Error message text change (no behavior impact)
3. Line 103: Default timeout value change

**Files:**

- src/auth.rs
- tests/auth_test.rs`,
	} {
		if diff := cmp.Diff(want, parsed(t, ofDocument(t, name)).Text()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatNoFormKnowsIsToldToo(t *testing.T) {
	answer := "oauth"
	for _, c := range []*Checkpoint{
		{
			UserAnswer: &answer, Files: map[string]string{"b": "/b", "a": "/a"},
			StateVariables: map[string]json.RawMessage{"round": json.RawMessage(`3`)},
			Other:          map[string]json.RawMessage{"mood": json.RawMessage(`"good"`), "steps": json.RawMessage(`[{"n":1}]`)},
			Question: &Pending{
				Options: []Option{{Label: "A", Description: "fast"}, {Label: "B"}},
				Other:   map[string]json.RawMessage{"why": json.RawMessage(`"cost"`)},
			},
		},
	} {
		text := c.Text()
		for _, want := range []string{
			"**The person's answer:** oauth", "- a: /a\n- b: /b", "**round:** 3", "**mood:** good", `**steps:** [{"n":1}]`,
			"- A: fast\n- B\n", "**why:** cost",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in:\n%s", want, text)
			}
		}
	}
}

func TestALargeCheckpointIsToldInBoundsWithWhatCountsFirst(t *testing.T) {
	c := &Checkpoint{
		Progress: strings.Repeat("ü", 1<<20), NextAction: "write the tests", Context: strings.Repeat("x ", 1<<20),
		Preamble: strings.Repeat("y ", 1<<20), Decision: strings.Repeat("z ", 1<<20),
	}
	for n := range 1000 {
		c.CompletedSteps = append(c.CompletedSteps, fmt.Sprint("step ", n))
		c.Sections = append(c.Sections, Section{fmt.Sprint("part ", n), strings.Repeat("p", 1000)})
	}
	text := c.Text()
	if len(text) > maxText+len(cutMark) || !strings.HasSuffix(text, cutMark) {
		t.Errorf("%d bytes, ending %q", len(text), text[len(text)-20:])
	}
	for _, want := range []string{"900 more before these", "- step 999\n", "**Next:** write the tests", "üü […]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "step 899\n") {
		t.Error("an early step took the place of a late one")
	}
}

func TestNothingThatActsOnATerminalIsTold(t *testing.T) {
	c := &Checkpoint{
		Title: "\x1b]0;owned\a", Context: "a\x1b[2Jb\rc\td\ne\u009b", CompletedSteps: []string{"one\ntwo\x00"},
		Other: map[string]json.RawMessage{"x\x1b": json.RawMessage(`"\u001b[31m"`)},
	}
	want := "]0;owned\n\n**Completed steps:**\n\n- one\n  two\n\n**Context:**\n\na[2Jbc\td\ne\n\n**x:** [31m"
	if diff := cmp.Diff(want, c.Text()); diff != "" {
		t.Error(diff)
	}
}

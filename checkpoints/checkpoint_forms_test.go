package checkpoints

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// ofDocument is a checkpoint as one of the documents prints it.
func ofDocument(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "forms", name))
	noError(t, err)
	return string(text)
}

func parsed(t *testing.T, text string) *Checkpoint {
	t.Helper()
	c, err := parseCheckpoint([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

func encoded(t *testing.T, c *Checkpoint) string {
	t.Helper()
	text, err := c.encode()
	noError(t, err)
	return string(text)
}

func TestTheCheckpointsOfTheDocumentsAreRead(t *testing.T) {
	for name, want := range map[string]*Checkpoint{
		"checkpoint.json": {
			Form: FormHybrid, WorkflowID: "unique_identifier", WorkflowType: "document_update_review", CurrentStep: "step_name",
			CompletedSteps: []string{"step1", "step2"}, PendingSteps: []string{"step4", "step5"},
			Files:          map[string]string{"key": "/absolute/path/to/file"},
			StateVariables: map[string]json.RawMessage{"any": json.RawMessage(`"workflow-specific state"`)},
			Context:        "Human-readable context about where workflow is", NextAction: "What to do after user responds",
		},
		"script_checkpoint.json": {
			Form: FormHybrid, WorkflowID: "workflow_1760884320", CurrentStep: "auth_method_selection",
			CompletedSteps: []string{"analyze_requirements", "design_system"},
			PendingSteps:   []string{"implement_auth", "add_tests"},
			Context:        "Need auth method choice to continue implementation", NextAction: "implement_selected_auth_method",
		},
		"agent-pause-state.json": {
			Form: FormSkill, Agent: "domain-agent", Timestamp: "2026-02-04T10:30:00Z",
			Progress: "Analyzed email validation patterns",
			FileList: []string{"src/auth/mod.rs", "src/signup/mod.rs"}, Decision: "Which validation pattern?",
			Question: &Pending{
				Text:    "Found two email validation approaches. Which should be standard?",
				Options: []Option{{Label: "Strict RFC 5322"}, {Label: "Lenient"}, {Label: "Keep both"}},
			},
		},
		"mutation-agent.md": {
			Form: FormMarkdown, Title: "mutation-agent Checkpoint", Timestamp: "2026-02-04T10:30:00Z",
			Task: "Mutation testing for auth module", Agent: "mutation-agent",
			Progress: "Testing complete, 97% mutation score achieved.", FileList: []string{"src/auth.rs", "tests/auth_test.rs"},
			NextAction: "Handle 3 surviving mutants - need user decision on approach.",
			Decision:   "Should I create individual fix tasks for each surviving mutant or just report?",
			Context: "Three specific mutants survived:\n1. Line 45: Boundary condition in token expiry\n" +
				"2. Line 78: Error message text change (no behavior impact)\n3. Line 103: Default timeout value change",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := ofDocument(t, name)
			got := parsed(t, text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(want, parsed(t, encoded(t, got)), cmpopts.EquateEmpty()); diff != "" {
				t.Error("written and read again:", diff)
			}
		})
	}
}

func TestAMarkdownCheckpointOfTheDocumentIsWrittenAsItWas(t *testing.T) {
	text := ofDocument(t, "mutation-agent.md")
	if diff := cmp.Diff(text, encoded(t, parsed(t, text))); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAnAgentAddedToASkillsCheckpointIsKept(t *testing.T) {
	c := parsed(t,
		`{"question": {"hint": "see <docs>", "options": [{"label": "A", "description": "fast"}, "B"], "text": "Which?"},
		"files": {"a": 1}, "progress": "half", "next_action": "go on"}`)
	want := `{
  "agent": "",
  "timestamp": "",
  "progress": "half",
  "files": {"a": 1},
  "decision": "",
  "question": {"text":"Which?","options":[{"label":"A","description":"fast"},"B"],"hint":"see <docs>"},
  "next_action": "go on"
}
`
	if diff := cmp.Diff(want, encoded(t, c)); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsOfAnotherFormAreKeptAsTheyAre(t *testing.T) {
	for _, options := range []string{`"A, B"`, `[1]`, `[["A"]]`, `[{"label":"A","cost":2}]`, `{"A":"fast"}`} {
		c := parsed(t, `{"progress":"p","question":{"text":"Which?","options":`+options+`}}`)
		if got := string(c.Question.Other["options"]); got != options || c.Question.Options != nil {
			t.Errorf("%s became %s and %v", options, got, c.Question.Options)
		}
	}
}

func TestAMarkdownCheckpointIsReadHoweverAnAgentWritesIt(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Checkpoint
	}{
		"lines of Windows, and a byte order mark": {
			"\ufeff# a Checkpoint\r\n\r\n**Task**: build\r\n\r\n## next step\r\n\r\nWrite it.\r\n",
			Checkpoint{Title: "a Checkpoint", Task: "build", NextAction: "Write it."},
		},
		"no title, but two of the headings": {
			"## Progress Summary\nhalf\n## Next Step\nthe rest",
			Checkpoint{Progress: "half", NextAction: "the rest"},
		},
		"sections of its own, in their order": {
			"# Checkpoint: a\n\n## Blockers\n\n- none\n\n## Ideas\n\n## Next Step\n\nship\n",
			Checkpoint{Title: "Checkpoint: a", NextAction: "ship", Sections: []Section{{"Blockers", "- none"}, {"Ideas", ""}}},
		},
		"lines of its own before the sections": {
			"# a checkpoint\n**Agent:** me\n**Priority:** P1\nAs of noon.\n**Agent:** you\n\n## Next Step\nship",
			Checkpoint{Title: "a checkpoint", Agent: "me", Preamble: "**Priority:** P1\nAs of noon.\n**Agent:** you",
				NextAction: "ship"},
		},
		"a heading inside a fence is none": {
			"# a checkpoint\n## Context for Continuation\n```md\n## Next Step\n```\nso far\n",
			Checkpoint{Title: "a checkpoint", Context: "```md\n## Next Step\n```\nso far"},
		},
		"a fence that is left open is closed": {
			"# a checkpoint\n## Next Step\nship\n## Log\n~~~~\n## all of it\n~~~\n",
			Checkpoint{Title: "a checkpoint", NextAction: "ship",
				Sections: []Section{{"Log", "~~~~\n## all of it\n~~~\n\n~~~~"}}},
		},
		"files that are told in prose": {
			"# a checkpoint\n## Files Analyzed\nAll under src.\n## Files Analyzed\n* src/a.go\n",
			Checkpoint{Title: "a checkpoint", FileList: []string{"src/a.go"},
				Sections: []Section{{"Files Analyzed", "All under src."}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Form = FormMarkdown
			got := parsed(t, c.text)
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(&c.want, parsed(t, encoded(t, got))); diff != "" {
				t.Error("written and read again:", diff)
			}
		})
	}
}

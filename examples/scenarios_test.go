package examples

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// headings are those that the supervisor and the CLI write over what they tell the model.
var headings = []string{
	"## YOUR TASK", "## CLARIFICATION RESPONSE", "## BLOCKER RESOLVED", "## DELEGATION DENIED", "## DELIVERABLES MISSING",
	"## GO ON", "Stop hook feedback:", "<task-notification>", "The person allows it", "The person refuses it",
}

func TestEveryBuiltInScenarioIsSound(t *testing.T) {
	names := Names()
	for _, want := range []string{"ask", "permission", "background", "crash", "work"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no scenario %s among %v", want, names)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != name {
				t.Errorf("its name is %q", s.Name)
			}
			if strings.Contains(s.About, "\n") {
				t.Errorf("about is no one line: %q", s.About)
			}
			if s.Turns[0].When != "## YOUR TASK" {
				t.Errorf("it does not begin with the task, but with %q", s.Turns[0].When)
			}
			for _, turn := range s.Turns {
				if !slices.Contains(headings, turn.When) {
					t.Errorf("nobody writes %q", turn.When)
				}
				for _, r := range turn.Replies {
					for _, tool := range r.Tools {
						if _, err := json.Marshal(tool.Input); err != nil {
							t.Errorf("the input of %s is no JSON: %v", tool.Name, err)
						}
					}
				}
			}
		})
	}
}

func TestAScenarioIsFoundByNameOrFile(t *testing.T) {
	if _, err := Load("nonsense"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "ask") {
		t.Errorf("an unknown name gives %v", err)
	}
	if _, err := Load("../scenarios/ask"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a path without .yaml gives %v", err)
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(path); err != nil || s.Name != "mine" {
		t.Errorf("the file gives %q, %v", s.Name, err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file gives %v", err)
	}
}

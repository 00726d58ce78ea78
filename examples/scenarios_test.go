package examples

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// headings are those that the supervisor and the CLI write over what they tell the model, or words that they tell it
// in.
var headings = []string{
	"## YOUR TASK", "## CLARIFICATION RESPONSE", "## BLOCKER RESOLVED", "## DELEGATION DENIED", "## DELIVERABLES MISSING",
	"## PARTIAL RESUME", "## DELEGATION APPROVED", "## DELEGATED WORK ENDED", "USER_INPUT_RESPONSE",
	"User chose: ", "Resume workflow from checkpoint: ", "## GO ON", "Stop hook feedback:", "<task-notification>",
	"The person allows it", "The person refuses", "In this run nobody is asked for permission",
	"The person approves the plan", "does not approve the plan",
	"Outcome: ", "Skip what is blocked",
	"Your subagent ", "## FOR YOUR SUBAGENT", "## SUBAGENT INTERRUPTED", "didn't finish before the previous session ended",
	"It is gone. Start a subagent", "## MESSAGE FROM AGENT", "Next step: ", "Nobody was asked by QUESTION_ESCALATED",
	"Continue as you proposed yourself: ", "Reduce the scope", "Your conversation was compacted.",
}

// told reports whether a conversation of the scenario can come to begin so: by what the supervisor or the CLI writes,
// or by what the main agent tells a subagent.
func told(s Scenario, when string) bool {
	if slices.ContainsFunc(headings, func(h string) bool { return strings.HasPrefix(when, h) }) ||
		slices.ContainsFunc(s.ClaudeFlags, func(f string) bool { return strings.Contains(f, when) }) { // its own MCP server's
		return true
	}
	for _, turn := range s.Turns {
		for _, r := range turn.Replies {
			for _, tool := range r.Tools {
				for _, text := range []any{tool.Input["prompt"], tool.Input["message"]} {
					heading, _, _ := strings.Cut(fmt.Sprint(text), "\n")
					if filled := placeholder().ReplaceAllString(heading,
						".*"); regexp.MustCompile("^" + filled + "$").MatchString(when) {
						return true
					}
				}
			}
		}
	}
	return false
}

// delegations returns all that may become the task of a delegated agent: what agents delegate, what the person makes of
// it, and what the task file states.
func delegations(s Scenario) string {
	tasks := string(s.Task)
	for _, a := range s.Answers {
		tasks += "\n" + a.Answer
	}
	turns := s.Turns
	for _, c := range s.Children {
		turns = append(turns, c.Turns...)
	}
	for _, turn := range turns {
		for _, r := range turn.Replies {
			tasks += "\n" + r.Text
			for _, tool := range r.Tools {
				tasks += fmt.Sprint("\n", tool.Input["new_task_description"], "\n", tool.Input["blocked_work"])
			}
		}
	}
	return tasks
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
			noError(t, err)
			if s.Name != name {
				t.Errorf("its name is %q", s.Name)
			}
			if strings.Contains(s.About, "\n") {
				t.Errorf("about is no one line: %q", s.About)
			}
			if s.Turns[0].When != "## YOUR TASK" {
				t.Errorf("it does not begin with the task, but with %q", s.Turns[0].When)
			}
			if len(s.Flags)%2 != 0 { // each with its value: so a demo can tell which of them the person gave too
				t.Errorf("its flags are no pairs: %q", s.Flags)
			}
			turns := s.Turns
			for _, c := range s.Children {
				if c.Turns[0].When != "## YOUR TASK" {
					t.Errorf("the child %q does not begin with its task, but with %q", c.Task, c.Turns[0].When)
				}
				if !strings.Contains(delegations(s), c.Task) {
					t.Errorf("nobody delegates %q", c.Task)
				}
				turns = append(turns, c.Turns...)
			}
			for _, turn := range turns {
				if !told(s, turn.When) {
					t.Errorf("nobody writes %q", turn.When)
				}
				for _, r := range turn.Replies {
					for _, tool := range r.Tools {
						if _, err := json.Marshal(tool.Input); err != nil {
							t.Errorf("the input of %s is not JSON: %v", tool.Name, err)
						}
					}
				}
			}
		})
	}
}

func TestAScenarioIsFoundByNameOrFile(t *testing.T) {
	if _, err := Load("nonsense"); !errors.Is(err, errUnknown) || !strings.Contains(err.Error(), "ask") {
		t.Errorf("an unknown name gives %v", err)
	}
	if _, err := Load("../scenarios/ask"); !errors.Is(err, errUnknown) {
		t.Errorf("a path without .yaml gives %v", err)
	}
	path := filepath.Join(t.TempDir(), "mine.yaml")
	noError(t, os.WriteFile(path, []byte(minimal), 0o600))
	if s, err := Load(path); err != nil || s.Name != "mine" {
		t.Errorf("the file gives %q, %v", s.Name, err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file gives %v", err)
	}
}

func TestAScenarioWithoutAPromptHasThatOfTheTaskFileBesideIt(t *testing.T) {
	const scenario = "name: mine\nabout: a story\nturns: [{when: go, replies: [{text: done}]}]\nexpect: {status: " +
		"succeeded}\n"
	for name, c := range map[string]struct{ scenario, task, prompt, problem string }{
		"its prompt is the file's":       {scenario, "prompt: do it well\ngoals: [done]\n", "do it well", ""},
		"it has its own":                 {scenario + "prompt: do mine\n", "prompt: do it well\n", "do mine", ""},
		"the file has none":              {scenario, "goals: [done]\n", "", "it has no prompt"},
		"the file cannot be read as one": {scenario, "prompt: [", "", "its task.yaml: "},
		"there is no file":               {scenario, "", "", "it has no prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			noError(t, os.WriteFile(filepath.Join(dir, scenarioFile), []byte(c.scenario), 0o600))
			if c.task != "" {
				noError(t, os.WriteFile(filepath.Join(dir, taskFile), []byte(c.task), 0o600))
			}
			s, err := Load(filepath.Join(dir, scenarioFile))
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("it gives %q, %v", s.Prompt, err)
				}
				return
			}
			if err != nil || s.Prompt != c.prompt || (s.Task != nil) != (c.prompt == "do it well") {
				t.Errorf("its prompt is %q, its task %q, %v", s.Prompt, s.Task, err)
			}
		})
	}
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

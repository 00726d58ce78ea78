package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// This file answers the dialects beside the blocks, in the simplest form that a supervisor can: the agent's state is
// where it says, and has the answer in it or beside it.

var (
	stateFile = regexp.MustCompile(`"stateFile": "(.*)"|(?m)^PAUSED_FOR_INPUT: (.*)$`)
	escalated = regexp.MustCompile(`(?m)^QUESTION_ESCALATED:(\S+)$`)
)

// dialect answers the one question of a message in the form in which it was asked.
func (s *session) dialect(kind, message string) string {
	s.t.Helper()
	answer := s.scenario.Answers[0].Answer
	switch kind {
	case "TaskUpdate":
		return fmt.Sprintf("User chose: %q. Continue from where you left off.", answer)
	case "QUESTION_ESCALATED":
		checkpoint := s.escalation(escalated.FindStringSubmatch(message)[1], answer)
		return fmt.Sprintf(
			"Resume workflow from checkpoint: %s. User selected: %s. Continue implementation.\n\n…\nAnswer: %s\n",
			checkpoint, answer, answer)
	}
	m := stateFile.FindStringSubmatch(message)
	state := strings.TrimSpace(m[1] + m[2])
	s.write(state+".answer.json", fmt.Sprintf(`{"answers": {"q1": %q}}`, answer))
	return fmt.Sprintf("USER_INPUT_RESPONSE\n{\"q1\": %q}\n\nContinue from state file: %s\n\nq1: …\nAnswer: %s\n",
		answer, state, answer)
}

// escalation does what the hybrid document's main agent does: it writes the answer into the checkpoint that the
// question file names, takes that file away, and gives the checkpoint's path.
func (s *session) escalation(id, answer string) string {
	s.t.Helper()
	questions := filepath.Join(s.home, ".claude", "questions")
	pending := filepath.Join(questions, "pending", id+".json")
	path, _ := s.document(pending)["checkpoint"].(string)
	s.t.Cleanup(func() { _ = os.Remove(path) }) // it lies in the temporary folder of all
	checkpoint := s.document(path)
	checkpoint["user_answer"] = answer
	data, err := json.MarshalIndent(checkpoint, "", "  ")
	noError(s.t, err)
	s.write(path, string(data))
	noError(s.t, os.Remove(pending))
	return path
}

func (s *session) document(path string) map[string]any {
	s.t.Helper()
	data, err := os.ReadFile(path)
	noError(s.t, err)
	var d map[string]any
	if err := json.Unmarshal(data, &d); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return d
}

func (s *session) write(path, text string) {
	s.t.Helper()
	noError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

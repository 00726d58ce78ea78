package taskfile

import (
	"testing"

	"claude-supervise/cmd/internal/yamlfile"
)

func TestAMisspeltKeyIsNearestToTheOneThatWasMeant(t *testing.T) {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	for typed, want := range map[string]string{
		"promt": "prompt", "Prompt": "prompt", "propmt": "prompt", "goal": "goals", "Goals": "goals",
		"success-criteria": "success_criteria", "successCriteria": "success_criteria", "success criteria": "success_criteria",
		"success_criterium": "success_criteria", "success": "success_criteria", "criteria": "success_criteria",
		"deliverable": "deliverables", "maxTurns": "max_turns", "turns": "max_turns", "MAX_TURNS": "max_turns",
		"permission": "permissions", "answer": "answers", "accept_id": "accept_ids", "ids": "accept_ids",
		"modell": "model", "contxt": "context", "holds": "hold", "nane": "name",
		"exec": "", "command": "", "x": "", "timeout": "", "": "", "日本語": "",
	} {
		if got := yamlfile.Nearest(typed, names); got != want {
			t.Errorf("%q is nearest to %q, want %q", typed, got, want)
		}
	}
}

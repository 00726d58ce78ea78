package runs

import (
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Commands of another program are named as it is called: those of claude-supervise would look at this machine alone.
func TestTextsNameTheCommandsOfTheirProgram(t *testing.T) {
	const fleet Program = "claude-supervise fleet"
	asks := view.RunView{ID: "r-3f9a2c1b", Status: "parked", OpenQuestions: []string{"q-7kq2mx"},
		Agents: []view.AgentView{{ID: "a-7Qm2xK9fWb4T"}, {ID: "a-000000000001", Parent: "a-7Qm2xK9fWb4T"}}}
	silent := asks
	silent.OpenQuestions = nil
	many := view.Details{Run: asks}
	for range MaxChildren + 1 {
		many.Questions = append(many.Questions, view.QuestionView{State: "open", AnswerCommand: string(fleet) + " answer"})
	}
	for what, text := range map[string]string{
		"none":   Listing{Program: fleet}.text(80, nil, time.Now()),
		"all":    Listing{Program: fleet, Wanted: service.Selection{All: true}}.text(80, nil, time.Now()),
		"folder": Listing{Program: fleet, Cwd: "/x"}.text(80, nil, time.Now()),
		"asks":   fleet.Next(asks), "silent": fleet.Next(silent), "show": fleet.Show(0, many),
	} {
		if rest := strings.ReplaceAll(text, string(fleet)+" ", ""); rest == text || strings.Contains(rest, "claude-supervise") {
			t.Errorf("%s says:\n%s", what, text)
		}
	}
}

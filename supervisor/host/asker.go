package host

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
)

// questionFolder is how a script that asks by a file names the folder ("Directory Structure" of the hybrid protocol).
const questionFolder = "questions/pending"

// Askers gives the agents, of any run, whose processes may have put a question file there.
func (m Machine) Askers(run string, f *checkpoints.QuestionFile) ([]supervisor.Asker, error) {
	scripts, err := procs.Scripts(questionFolder)
	if err != nil {
		return nil, err
	}
	var found []supervisor.Asker
	for _, s := range scripts {
		if home := s.Getenv("HOME"); home != "" && filepath.Join(home, ".claude") != m.Claude &&
			s.Getenv("CLAUDE_CONFIG_DIR") != m.Claude {
			continue // its folder is another
		}
		a := supervisor.Asker{Run: s.Marker.Run, Agent: s.Marker.Agent}
		for _, q := range supervisor.QuestionsIn(f) {
			a.Asks = a.Asks || q.Question != "" && strings.Contains(s.Text, q.Question)
		}
		if a.Run != "" && a.Run != run {
			qs, err := m.Store.Questions(context.Background(), checkpoints.QuestionFilter{Agent: a.Agent, Undelivered: true})
			a.Waits = err == nil &&
				slices.ContainsFunc(qs, func(q supervisor.Question) bool { return supervisor.WaitsForFile(&q) })
		}
		found = append(found, a)
	}
	return found, nil
}

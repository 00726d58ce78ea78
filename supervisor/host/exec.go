package host

import (
	"os"

	"claude-supervise/supervisor"
)

// handed is the environment of a command's launch.
func (m Machine) handed(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) []string {
	var answers []*supervisor.Question
	for _, v := range s.FindDeliveries(a.ID, func(v *supervisor.Delivery) bool { return v.Launch == l.N }) {
		answers = append(answers, s.Groups(v.Groups)...)
	}
	checkpoint, answer, all := "", "", ""
	if file := m.Dirs.CheckpointFile(s.Run.ID, a.ID); l.N > 1 {
		if _, err := os.Lstat(file); err == nil {
			checkpoint = file
		}
	}
	if n := len(answers); n > 0 {
		last := s.Group(answers[n-1].Group)
		answer, all = supervisor.AnswersInOne(last), string(supervisor.AnswersByID(answers))
		if kept := last[0].Kept; kept != nil && kept.Hand != "" {
			checkpoint = kept.Hand
		}
	}
	return []string{supervisor.Variable(supervisor.CheckpointVariable, checkpoint),
		supervisor.Variable(supervisor.AnswerVariable, answer), supervisor.Variable(supervisor.AnswersVariable, all)}
}

package host

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/filedrop"
)

// OpenFileDrop opens the folders of question files for a run; nil where there is no folder of Claude's own.
func (m Machine) OpenFileDrop(news chan<- supervisor.FileEvent) (engine.FileDrop, error) {
	if m.Claude == "" {
		return nil, nil
	}
	c := client.Client{Dirs: m.Dirs, Store: m.Store, At: m.at}
	drop, err := filedrop.Open(m.Claude, c, m.Log, news, m.checkpointOf)
	if err != nil {
		return nil, err
	}
	return drop, nil
}

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

// maxNamedIn is how far back a log is searched for the id of a question file, in bytes.
const maxNamedIn = 1 << 20

// Printed reports whether an agent's log names an id, in its newest part.
func (m Machine) Printed(run, agent, id string) bool {
	f, err := os.Open(m.Dirs.AgentLog(run, agent))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(-maxNamedIn, io.SeekEnd); err != nil {
		_, err = f.Seek(0, io.SeekStart)
		if err != nil {
			return false
		}
	}
	var b bytes.Buffer
	_, _ = io.Copy(&b, io.LimitReader(f, 2*maxNamedIn)) // what can be read of it is searched
	return engine.NamesID(b.String(), id)
}

package filedrop

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
	"claude-supervise/supervisor/records"
)

// Askers returns the agents, of any run, whose processes may have put a question file there.
func (k *FileDrop) Askers(f *QuestionFile) ([]records.Asker, error) {
	scripts, err := procs.Scripts(pendingFolder) // as a script that asks by a file names the folder
	if err != nil {
		return nil, err
	}
	var found []records.Asker
	for _, s := range scripts {
		if home := s.Getenv("HOME"); home != "" && filepath.Join(home, ".claude") != k.claude &&
			s.Getenv("CLAUDE_CONFIG_DIR") != k.claude {
			continue // its folder is another
		}
		a := records.Asker{Run: s.Marker.Run, Agent: s.Marker.Agent}
		for _, q := range f.Asked() {
			a.Asks = a.Asks || q.Question != "" && strings.Contains(s.Text, q.Question)
		}
		if a.Run != "" && a.Run != k.config.Run {
			qs, err := k.config.Questions(context.Background(), checkpoints.QuestionFilter{Agent: a.Agent, Undelivered: true})
			a.Waits = err == nil &&
				slices.ContainsFunc(qs, func(q supervisor.Question) bool { return (&q).WaitsForFile() })
		}
		found = append(found, a)
	}
	return found, nil
}

// maxNamedIn is how far back a log is searched for the id of a question file, in bytes.
const maxNamedIn = 1 << 20

// Printed reports whether an agent's log names an id, in its newest part.
func (k *FileDrop) Printed(agent, id string) bool {
	f, err := os.Open(k.config.Dirs.AgentLog(k.config.Run, agent))
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
	return NamesID(b.String(), id)
}

// NamesID reports whether a text names an id, and not one that it is part of.
func NamesID(text, id string) bool {
	for {
		before, after, found := strings.Cut(text, id)
		if !found {
			return false
		}
		if !endsInID(before) && !beginsInID(after) {
			return true
		}
		text = after
	}
}

func endsInID(s string) bool { return s != "" && isIDByte(s[len(s)-1]) }

// beginsInID leaves out a dot: an id is named at the end of a sentence too, and before .txt.
func beginsInID(s string) bool { return s != "" && isIDByte(s[0]) && s[0] != '.' }

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

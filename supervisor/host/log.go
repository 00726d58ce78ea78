package host

import (
	"bytes"
	"io"
	"os"

	"claude-supervise/supervisor/engine"
)

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

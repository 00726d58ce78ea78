package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/supervisor/view"
)

// A markLine is a line of an agent's log by which a worker says that it goes on with the run from there on. Other lines
// have what an agent has printed in fields of their own, so no agent writes one.
type markLine struct {
	Time  time.Time       `json:"time"`
	Epoch int             `json:"epoch"`
	Line  json.RawMessage `json:"line,omitempty"` // there is none
}

// marks puts a mark at the end of the log of each agent of the run that was unpacked, before anything is added.
func (h *held) marks(ctx context.Context) error {
	c, err := h.opened()
	if err != nil || c == nil {
		return err
	}
	agents, err := c.Store.Agents(ctx, h.Task.Run)
	if err != nil {
		return err
	}
	line, err := json.Marshal(markLine{Time: time.Now().UTC(), Epoch: h.Epoch})
	if err != nil {
		return err
	}
	for _, a := range agents {
		if err := appendLine(c.Dirs.AgentLog(h.Task.Run, a.ID), append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// appendLine appends a line to a file, if it is there, after one that a crash may have cut.
func appendLine(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, info.Size()-1); last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if err == nil {
		_, err = file.Write(line)
	}
	return errors.Join(err, file.Close())
}

var epochKey = []byte(`"epoch":`)

// entriesOf returns what a line of a log says to people, and the mark that it is.
func entriesOf(l view.LogLine) (entries []runlog.Entry) {
	if l.Answer == nil && len(l.Line) < 200 && bytes.Contains(l.Line, epochKey) {
		var m markLine
		if json.Unmarshal(l.Line, &m) == nil && m.Epoch > 0 && m.Line == nil {
			return []runlog.Entry{{Remark: view.Remark{Time: m.Time, Run: l.Run, Agent: l.Agent}, Epoch: m.Epoch}}
		}
	}
	for _, r := range l.Remarks() {
		entries = append(entries, runlog.Entry{Remark: r})
	}
	return entries
}

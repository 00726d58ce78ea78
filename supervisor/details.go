package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"claude-supervise/checkpoints"
)

// Details is all that `show` tells: one question, or a run with its agents, questions and reports.
type Details struct {
	Run       RunView                        `json:"run"`
	Questions []QuestionView                 `json:"questions"`
	Reports   map[string]*checkpoints.Report `json:"reports"` // by agent
	Logs      map[string]string              `json:"logs"`    // by agent: the file of what it printed
	Question  *QuestionView                  `json:"-"`
}

// Show gives what is known of the run, agent or question that an id or its start names.
func (r Reader) Show(ctx context.Context, id string) (Details, error) {
	kind, full, err := r.Store.Resolve(ctx, id)
	if err != nil {
		return Details{}, err
	}
	filter := checkpoints.QuestionFilter{Run: full}
	run := full
	switch kind {
	case checkpoints.KindQuestion:
		q, err := question(ctx, r.Store, full)
		if err != nil {
			return Details{}, err
		}
		v := View(q)
		return Details{Question: &v}, nil
	case checkpoints.KindAgent:
		if run, err = r.Store.RunOf(ctx, full); err != nil {
			return Details{}, err
		}
		filter = checkpoints.QuestionFilter{Agent: full}
	}
	d := Details{Questions: []QuestionView{}, Reports: map[string]*checkpoints.Report{}, Logs: map[string]string{}}
	if d.Run, err = r.Run(ctx, run); err != nil {
		return Details{}, err
	}
	qs, err := r.Store.Questions(ctx, filter)
	if err != nil {
		return Details{}, err
	}
	for i := range qs {
		d.Questions = append(d.Questions, View(&qs[i]))
	}
	agents, err := r.Store.Agents(ctx, run)
	if err != nil {
		return Details{}, err
	}
	for _, a := range agents {
		d.Logs[a.ID] = r.Dirs.AgentLog(run, a.ID)
		if a.Report != nil {
			d.Reports[a.ID] = a.Report
		}
	}
	return d, nil
}

// Log reads what an agent, or the root agent of a run, said and did, one entry at a time.
func (r Reader) Log(ctx context.Context, id string, each func(string) error) error {
	kind, full, err := r.Store.Resolve(ctx, id)
	if err != nil {
		return err
	}
	run, agent := full, full
	switch kind {
	case checkpoints.KindAgent:
		if run, err = r.Store.RunOf(ctx, full); err != nil {
			return err
		}
	case checkpoints.KindRun:
		record, err := r.Store.Run(ctx, full)
		if err != nil {
			return err
		}
		agent = record.Root
	default:
		return fmt.Errorf("%s is a question: %w", full, errWrongKind)
	}
	err = eachLogLine(r.Dirs.AgentLog(run, agent), func(line []byte) error {
		for _, text := range said(line) {
			if err := each(text); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return each("(" + agent + " has printed nothing yet)")
	}
	return err
}

// maxLogLine bounds a line of an agent's log that is read at all, in bytes.
const maxLogLine = 64 << 20

// eachLogLine reads an agent's log. fs.ErrNotExist is the error where it has printed nothing.
func eachLogLine(path string, each func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxLogLine)
	for lines.Scan() {
		if err := each(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A logEntry is one line of an agent's log, as far as people read it.
type logEntry struct {
	Time   time.Time
	Launch int
	Stderr string
	Line   struct {
		Type, Subtype, Result string
		Parent                string `json:"parent_tool_use_id"`
		IsError               bool   `json:"is_error"`
		Message               struct {
			Content json.RawMessage // a list of blocks; of a user also a text
		}
	}
}

// A contentBlock is one block of a message.
type contentBlock struct {
	Type, Text, Name string
	Input            json.RawMessage
}

// blocks gives the blocks of the entry's message.
func (e logEntry) blocks() []contentBlock {
	var list []contentBlock
	if json.Unmarshal(e.Line.Message.Content, &list) != nil {
		return nil
	}
	return list
}

// said says in words what a line of the log holds; nothing for what only programs need.
func said(line []byte) []string {
	var e logEntry
	if json.Unmarshal(line, &e) != nil {
		return nil // a line that is no protocol, or was cut by a crash
	}
	stamp := e.Time.Local().Format("15:04:05") + " "
	var out []string
	switch {
	case e.Stderr != "":
		out = append(out, stamp+"stderr: "+e.Stderr)
	case e.Line.Type == "assistant":
		for _, b := range e.blocks() {
			switch {
			case b.Type == "text":
				out = append(out, stamp+b.Text)
			case b.Type == "tool_use":
				out = append(out, stamp+"["+b.Name+"] "+firstLine(preview(b.Input)))
			}
		}
	case e.Line.Type == "result":
		out = append(out, fmt.Sprintf("%s-- turn ended: %s", stamp, e.Line.Subtype))
	}
	return out
}

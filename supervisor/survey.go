package supervisor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// How much of an agent's work a checkpoint tells. The newest is kept.
const (
	maxSurveyFiles    = 100
	maxSurveyCommands = 40
	maxSurveyText     = 4 << 10 // bytes of the last thing it said
)

// work is what an agent's own stream shows that it did.
type work struct {
	files    []string // written, in the order of the last writing
	commands []string
	said     string
}

// survey writes the checkpoint of an ended launch: what a new conversation would need, should this one be gone.
func (e *engine) survey(f Effect) func(context.Context) result {
	a := e.state.Agents[f.Agent]
	run, cwd := e.state.Run.ID, e.state.Run.Cwd
	questions := e.state.questions(func(q *Question) bool { return q.Agent == a.ID })
	l, ears := e.state.launch(a.ID), newEars(a.ID, e.state.Config.AcceptIDs)
	prompts := e.state.deliveries(a.ID, func(d *Delivery) bool { return d.Launch == l.N && d.Tool == nil })
	transcript := e.transcript(a, l)
	logFile, file := e.Dirs.AgentLog(run, a.ID), e.Dirs.CheckpointFile(run, a.ID)
	return func(context.Context) result {
		w, err := workOf(logFile)
		if err != nil {
			e.log.Error().Err(err).Msg("the agent's log cannot be read for its checkpoint")
		}
		text := w.text(cwd, questions)
		if err := w.checkpoint(a, questions, text).Write(file); err != nil {
			e.log.Error().Err(err).Msg("checkpoint") // the text is kept in the agent's record all the same
		}
		var found []signals.Signal
		whole := false
		if l.End == endRecover && len(prompts) > 0 { // whoever heard it last may not have saved what it heard
			path, err := transcript()
			if err == nil {
				found, whole, err = unheard(path, prompts[len(prompts)-1].UUID, ears)
			}
			if err != nil {
				e.log.Info().Err(err).Msg("what the agent said last cannot be read")
			}
		}
		return result{finish: func() Body {
			b := Surveyed{Agent: a.ID, Launch: f.Launch, Checkpoint: text, Whole: whole}
			for _, s := range found {
				if !s.Foreign {
					b.Unheard = append(b.Unheard, e.named(s))
				}
			}
			return b
		}}
	}
}

// workOf reads an agent's log. A line that is cut short by a crash is passed over.
func workOf(path string) (work, error) {
	var w work
	err := eachLogLine(path, func(line []byte) error {
		if bytes.Contains(line, []byte(`"assistant"`)) {
			w.add(line)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it has printed nothing
	}
	return w, err
}

// add takes one line of the log.
func (w *work) add(line []byte) {
	var entry logEntry
	if json.Unmarshal(line, &entry) != nil || entry.Line.Type != "assistant" {
		return
	}
	for _, block := range entry.blocks() {
		var in struct {
			Command  string
			FilePath string `json:"file_path"`
		}
		_ = json.Unmarshal(block.Input, &in) // a call of another form did nothing that is listed
		switch {
		case block.Type == "text" && entry.Line.Parent == "":
			w.said = block.Text
		case block.Name == "Bash" && in.Command != "":
			w.commands = newest(append(w.commands, firstLine(in.Command)), maxSurveyCommands)
		case in.FilePath != "" && block.Name != "Read":
			w.files = slices.DeleteFunc(w.files, func(f string) bool { return f == in.FilePath })
			w.files = newest(append(w.files, in.FilePath), maxSurveyFiles)
		}
	}
}

func newest(s []string, n int) []string { return s[max(0, len(s)-n):] }

// text tells the work to the agent that has to go on with it.
func (w work) text(cwd string, questions []*Question) string {
	var b strings.Builder
	if state := lastSignalField(questions, "current_state", "completed_work", "state_snapshot"); state != "" {
		fmt.Fprintf(&b, "State by your own account:\n%s\n\n", state)
	}
	if len(w.files) > 0 {
		b.WriteString("Files you wrote, as they are on disk now:\n")
		for _, f := range w.files {
			fmt.Fprintf(&b, "- %s (%s)\n", f, onDiskNow(cwd, f))
		}
		b.WriteString("\n")
	}
	if len(w.commands) > 0 {
		fmt.Fprintf(&b, "Commands you ran, the last ones:\n- %s\n\n", strings.Join(w.commands, "\n- "))
	}
	if said := strings.TrimSpace(w.said); said != "" {
		fmt.Fprintf(&b, "The last thing you said:\n%s\n", strings.ToValidUTF8(said[:min(len(said), maxSurveyText)], "�"))
	}
	return strings.TrimSpace(b.String())
}

func onDiskNow(cwd, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "not there any more"
	}
	return fmt.Sprintf("%d bytes, changed %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339))
}

// lastSignalField gives the first of the fields that the newest signal with one of them has.
func lastSignalField(questions []*Question, names ...string) string {
	for _, q := range slices.Backward(questions) {
		var sig signals.Signal
		if len(q.Signal) == 0 || json.Unmarshal(q.Signal, &sig) != nil {
			continue
		}
		for _, name := range names {
			if v := strings.TrimSpace(sig.Field(name)); v != "" {
				return v
			}
		}
	}
	return ""
}

// checkpoint gives the work in the form of the hybrid document (000, "Checkpoint File Format").
func (w work) checkpoint(a *Agent, questions []*Question, text string) *checkpoints.Checkpoint {
	c := &checkpoints.Checkpoint{
		WorkflowID: a.Run, WorkflowType: "claude-supervise", CurrentStep: lastSignalField(questions, "blocked_at", "details"),
		Context: text, NextAction: "go on with the task", Files: map[string]string{},
	}
	if c.CurrentStep == "" {
		c.CurrentStep = "at work"
	}
	for _, f := range w.files {
		c.Files[filepath.Base(f)] = f
	}
	for _, q := range questions {
		if q.State == checkpoints.QuestionOpen {
			c.NextAction = "go on with the answer to: " + q.Text
		}
	}
	return c
}

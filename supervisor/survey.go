package supervisor

import (
	"bytes"
	"cmp"
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

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// How much of an agent's work a checkpoint tells. The newest is kept.
const (
	maxSurveyFiles    = 100
	maxSurveyCommands = 40
	maxSurveySteps    = 100
	maxSurveyText     = 4 << 10 // bytes of the last thing it said
)

// work is what is known of what an agent did. Its own stream shows the most.
type work struct {
	files    []string // written, in the order of the last writing
	commands []string
	steps    []step // its list of things to do, as it last was
	said     string
	raw      int // the launch whose end of raw output is what it said; 0: it said it in a message

	git  string // what has changed in its folder, as git shows it
	left string // what its own checkpoint says, or why that cannot be read
	from *checkpoints.Checkpoint
}

// A step is one of an agent's list.
type step struct{ Content, Status string }

// The states of a step, as the tool TodoWrite has them.
const (
	stepDone  = "completed"
	stepDoing = "in_progress"
)

// survey writes the checkpoint of an ended launch: what a new conversation would need, should this one be gone.
func (e *engine) survey(f Effect) func(context.Context) result {
	a := e.state.Agents[f.Agent]
	run, cwd := e.state.Run.ID, e.state.folder(a.ID)
	questions := e.state.questionsOf(a.ID, func(*Question) bool { return true })
	l, ears := e.state.launch(a.ID), newEars(a.ID, e.state.Config.AcceptIDs, e.escalated)
	prompts := e.state.deliveries(a.ID, func(d *Delivery) bool { return d.Launch == l.N && d.Tool == nil })
	transcript := e.transcript(a, l)
	logFile, file := e.Dirs.AgentLog(run, a.ID), e.Dirs.CheckpointFile(run, a.ID)
	begun, kept, asked := sinceBegun(e.state.Launches[a.ID]), a.Kept, e.state.askedIn(l)
	return func(ctx context.Context) result {
		w, err := workOf(logFile)
		if err != nil {
			e.log.Error().Err(err).Msg("the agent's log cannot be read for its checkpoint")
		}
		if kept != nil {
			w.takeOver(*kept, e.Dirs.RunFile(run, filepath.Base(kept.Copy)))
		}
		if w.git, err = changedInGit(ctx, cwd, begun); err != nil {
			e.log.Info().Err(err).Msg("git does not tell what has changed")
		}
		text := w.text(cwd, questions)
		if err := w.checkpoint(a, cwd, questions, text).Write(file); err != nil {
			e.log.Error().Err(err).Msg("checkpoint") // the text is kept in the agent's record all the same
		}
		var found []signals.Signal
		whole := false
		if l.End == endRecover && len(prompts) > 0 { // whoever heard it last may not have saved what it heard
			path, err := transcript()
			if err == nil {
				found, whole, err = unheard(path, prompts, ears)
			}
			if err != nil {
				e.log.Info().Err(err).Msg("what the agent said last cannot be read")
			}
		}
		var subagents map[string]checkpoints.Subagent
		if len(asked) > 0 {
			path, err := transcript()
			if err == nil {
				subagents, err = lookUp(path, asked)
			}
			if err != nil {
				e.log.Info().Err(err).Msg("what its subagents had done cannot be read")
			}
		}
		return result{finish: func() Body {
			b := Surveyed{Agent: a.ID, Launch: f.Launch, Checkpoint: text, Whole: whole, Subagents: subagents}
			for _, s := range found {
				if !s.Foreign {
					b.Unheard = append(b.Unheard, e.named(a.ID, s))
				}
			}
			return b
		}}
	}
}

// workOf reads an agent's log. A line that is cut short by a crash is passed over.
func workOf(path string) (work, error) {
	var w work
	err := eachLogLine(path, 0, func(line []byte) error {
		if bytes.Contains(line, []byte(`"assistant"`)) || bytes.Contains(line, []byte(`"raw"`)) {
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
	switch {
	case json.Unmarshal(line, &entry) != nil:
	case entry.Line.Type == "raw":
		w.printed(entry.Launch, entry.Line.Text)
	case entry.Line.Type == "assistant":
		for _, block := range entry.blocks() {
			w.addBlock(block, entry.Line.Parent == "")
		}
	}
}

// printed takes what a command has printed that does not speak in messages.
func (w *work) printed(launch int, text string) {
	if w.raw != launch {
		w.raw, w.said = launch, ""
	}
	w.said += text
	if most := 4 * maxSurveyText; len(w.said) > 2*most { // escapes are taken out later
		w.said = w.said[len(w.said)-most:]
	}
}

// addBlock takes a block of a message, of the main conversation or of a subagent.
func (w *work) addBlock(block contentBlock, main bool) {
	var in struct {
		Command  string
		FilePath string `json:"file_path"`
		Todos    []step
	}
	_ = json.Unmarshal(block.Input, &in) // a call of another form did nothing that is listed
	switch {
	case block.Type == "text" && main:
		w.said, w.raw = block.Text, 0
	case block.Name == "Bash" && in.Command != "":
		w.commands = newest(append(w.commands, firstLine(in.Command)), maxSurveyCommands)
	case block.Name == "TodoWrite" && main:
		w.steps = newest(in.Todos, maxSurveySteps)
	case in.FilePath != "" && block.Name != "Read":
		w.files = slices.DeleteFunc(w.files, func(f string) bool { return f == in.FilePath })
		w.files = newest(append(w.files, in.FilePath), maxSurveyFiles)
	}
}

// takeOver reads the checkpoint that the agent left itself, from the copy that was kept of it.
func (w *work) takeOver(kept checkpoints.Kept, file string) {
	problem := kept.Problem
	if kept.Copy != "" {
		c, err := checkpoints.ReadCheckpoint(file)
		if err == nil {
			w.from, w.left = c, fmt.Sprintf("The checkpoint that you left in %s:\n\n%s", plainLine(kept.Path), c.Text())
			return
		}
		problem = err.Error()
	}
	w.left = fmt.Sprintf("The checkpoint that you left in %s could not be kept: %s", plainLine(kept.Path), problem)
}

// stepsOf gives the steps that are done, or those that are not.
func (w work) stepsOf(done bool) []string {
	var steps []string
	for _, s := range w.steps {
		if content := plainLine(strings.TrimSpace(s.Content)); content != "" && (s.Status == stepDone) == done {
			steps = append(steps, content)
		}
	}
	return steps
}

func newest[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

// text tells the work to the agent that has to go on with it.
func (w work) text(cwd string, questions []*Question) string {
	var b strings.Builder
	if w.left != "" {
		b.WriteString(w.left + "\n\n")
	}
	if state := lastSignalField(questions, "current_state", "completed_work", "state_snapshot"); state != "" {
		fmt.Fprintf(&b, "State by your own account:\n%s\n\n", state)
	}
	tellList(&b, "Steps you have done:", w.stepsOf(true), maxSurveySteps)
	tellList(&b, "Steps you have not done:", w.stepsOf(false), maxSurveySteps)
	if len(w.files) > 0 {
		b.WriteString("Files you wrote, as they are on disk now:\n")
		for _, f := range w.files {
			fmt.Fprintf(&b, "- %s (%s)\n", f, onDiskNow(cwd, f))
		}
		b.WriteString("\n")
	}
	b.WriteString(w.git)
	if len(w.commands) > 0 {
		fmt.Fprintf(&b, "Commands you ran, the last ones:\n- %s\n\n", strings.Join(w.commands, "\n- "))
	}
	if said := w.lastSaid(); said != "" {
		fmt.Fprintf(&b, "The last thing you said:\n%s\n", said)
	}
	return strings.TrimSpace(b.String())
}

// lastSaid gives the beginning of a message, or the end of what a command has printed, as a terminal would show it.
func (w work) lastSaid() string {
	said := strings.TrimSpace(w.said)
	if w.raw == 0 {
		return strings.ToValidUTF8(said[:min(len(said), maxSurveyText)], "�")
	}
	said = strings.TrimSpace(asShown(said))
	return strings.ToValidUTF8(said[max(0, len(said)-maxSurveyText):], "")
}

// asShown gives what a program has printed as a terminal would show it in the end.
func asShown(printed string) string {
	lines := strings.Split(strings.ReplaceAll(ansi.Strip(printed), "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:] // a progress bar, as it last was
	}
	return strings.Join(lines, "\n")
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

// checkpoint gives the work in the form of the hybrid document (000, "Checkpoint File Format"). What the stream does not
// show is taken from the agent's own checkpoint, if that has this form.
func (w work) checkpoint(a *Agent, cwd string, questions []*Question, text string) *checkpoints.Checkpoint {
	c := &checkpoints.Checkpoint{
		WorkflowID: a.Run, WorkflowType: "claude-supervise", CurrentStep: lastSignalField(questions, "blocked_at", "details"),
		CompletedSteps: w.stepsOf(true), PendingSteps: w.stepsOf(false),
		Context: text, NextAction: "go on with the task", Files: map[string]string{},
	}
	for _, s := range w.steps {
		if s.Status == stepDoing {
			c.CurrentStep = cmp.Or(c.CurrentStep, plainLine(s.Content))
		}
	}
	if own := w.from; own != nil && own.Form == checkpoints.FormHybrid {
		c.CurrentStep, c.StateVariables = cmp.Or(c.CurrentStep, own.CurrentStep), own.StateVariables
		if len(w.steps) == 0 {
			c.CompletedSteps, c.PendingSteps = own.CompletedSteps, own.PendingSteps
		}
	}
	c.CurrentStep = cmp.Or(c.CurrentStep, "at work")
	for _, f := range w.files {
		name, path := f, f
		if !filepath.IsAbs(f) {
			path = filepath.Join(cwd, f)
		} else if rel, err := filepath.Rel(cwd, f); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		c.Files[name] = path
	}
	for _, q := range questions {
		if q.State == checkpoints.QuestionOpen {
			c.NextAction = "go on with the answer to: " + q.Text
		}
	}
	return c
}

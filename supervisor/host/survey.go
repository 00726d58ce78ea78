package host

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

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/stream"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
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
	steps    []step   // its list of things to do, as it last was
	progress []string // what it has told that it is at, the newest last
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
func (m Machine) survey(ctx context.Context, s supervisor.State, f effect.Effect,
	c *listen.Listener) (b supervisor.Surveyed, found []signals.Signal) {
	a, l := s.Agents.Get(f.Agent), s.Launch(f.Agent)
	cwd := s.Folder(a.ID)
	questions := s.FindQuestionsOf(a.ID, func(*supervisor.Question) bool { return true })
	prompts := s.FindDeliveries(a.ID,
		func(d *supervisor.Delivery) bool { return d.Launch == l.N && d.Prompt() })
	w, err := workOf(m.Dirs.AgentLog(s.Run.ID, a.ID))
	if err != nil {
		m.Log.Error().Err(err).Msg("the agent's log cannot be read for its checkpoint")
	}
	if a.Kept != nil {
		w.takeOver(*a.Kept, m.Dirs.RunFile(s.Run.ID, filepath.Base(a.Kept.Copy)))
	}
	if w.git, err = git.ChangedInGit(ctx, cwd, sinceBegun(s.Launches.Get(a.ID))); err != nil {
		m.Log.Info().Err(err).Msg("git does not tell what has changed")
	}
	text := w.text(cwd, questions)
	if err := w.checkpoint(a, cwd, questions, text).Write(m.Dirs.CheckpointFile(s.Run.ID, a.ID)); err != nil {
		m.Log.Error().Err(err).Msg("checkpoint") // the text is kept in the agent's record all the same
	}
	b = supervisor.Surveyed{Agent: a.ID, Launch: f.Launch, Checkpoint: text}
	if l.End == supervisor.EndRecover && len(prompts) > 0 { // whoever heard it last may not have saved what it heard
		path, err := m.transcript(s, a, l)
		if err == nil {
			found, b.After, b.Whole, err = unread(path, prompts, c)
		}
		if err != nil {
			m.Log.Info().Err(err).Msg("what the agent said last cannot be read")
		}
	}
	for _, call := range s.Undecided(l) {
		path, err := m.transcript(s, a, l)
		if err != nil {
			break // it has not come so far
		}
		by, err := claude.HookDecidedIn(path, call)
		if err != nil {
			m.Log.Info().Err(err).Msg("whether a hook has answered cannot be read")
		} else if by != nil {
			if b.ByHook == nil {
				b.ByHook = map[string]*procs.HookDecision{}
			}
			b.ByHook[call] = by
		}
	}
	if asked := s.AskedIn(l); len(asked) > 0 {
		path, err := m.transcript(s, a, l)
		if err == nil {
			b.Subagents, err = lookUp(path, asked)
		}
		if err != nil {
			m.Log.Info().Err(err).Msg("what its subagents had done cannot be read")
		}
	}
	return b, found
}

// workOf reads an agent's log. A line that is cut short by a crash is passed over.
func workOf(path string) (work, error) {
	var w work
	err := view.EachLogLine(path, 0, func(line []byte) error {
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
	var entry stream.Entry
	if !stream.Decode(line, &entry) {
		return
	}
	for _, m := range claude.Logged(entry.Line) {
		if raw, is := m.(procs.Raw); is {
			w.printed(entry.Launch, raw.Text)
		}
		w.addMessage(m, entry.Line.Parent == "")
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

// addMessage takes a text or a call, of the main conversation or of a subagent.
func (w *work) addMessage(m procs.Message, main bool) {
	if text, is := m.(procs.Text); is && main {
		w.said, w.raw = text.Text, 0
	}
	call, is := m.(procs.ToolUse)
	if !is {
		return
	}
	var in struct {
		Command  string
		FilePath string `json:"file_path"`
		Todos    []step
		Step     string
	}
	_ = json.Unmarshal(call.Input, &in) // a call of another form did nothing that is listed
	switch {
	case call.Name == "Bash" && in.Command != "":
		w.commands = newest(append(w.commands, text.FirstLine(in.Command)), maxSurveyCommands)
	case call.Name == claude.ToolPrefix+"report_progress" && main:
		w.tellStep(in.Step)
	case call.Name == "TodoWrite" && main:
		w.steps = newest(in.Todos, maxSurveySteps)
	case in.FilePath != "" && call.Name != "Read":
		w.files = slices.DeleteFunc(w.files, func(f string) bool { return f == in.FilePath })
		w.files = newest(append(w.files, in.FilePath), maxSurveyFiles)
	}
}

// tellStep takes what the agent says that it is at.
func (w *work) tellStep(now string) {
	now = text.PlainLine(strings.TrimSpace(now))
	if now != "" && (len(w.progress) == 0 || w.progress[len(w.progress)-1] != now) {
		w.progress = newest(append(w.progress, now), maxSurveySteps)
	}
}

// takeOver reads the checkpoint that the agent left itself, from the copy that was kept of it.
func (w *work) takeOver(kept checkpoints.Kept, file string) {
	problem := kept.Problem
	if kept.Copy != "" {
		c, err := checkpoints.ReadCheckpoint(file)
		if err == nil {
			w.from, w.left = c,
				fmt.Sprintf("The checkpoint that you left in %s:\n\n%s", text.PlainLine(kept.Path), c.Text())
			return
		}
		problem = err.Error()
	}
	w.left = fmt.Sprintf("The checkpoint that you left in %s could not be kept: %s", text.PlainLine(kept.Path), problem)
}

// stepsOf returns the steps that are done, or those that are not.
func (w work) stepsOf(done bool) []string {
	var steps []string
	for _, s := range w.steps {
		if content := text.PlainLine(strings.TrimSpace(s.Content)); content != "" && (s.Status == stepDone) == done {
			steps = append(steps, content)
		}
	}
	return steps
}

func newest[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

// text tells the work to the agent that has to go on with it.
func (w work) text(cwd string, questions []*supervisor.Question) string {
	var b strings.Builder
	if w.left != "" {
		b.WriteString(w.left + "\n\n")
	}
	if state := lastSignalField(questions, "current_state", "completed_work", "state_snapshot"); state != "" {
		fmt.Fprintf(&b, "State by your own account:\n%s\n\n", state)
	}
	text.TellList(&b, "Steps you have done:", w.stepsOf(true), maxSurveySteps)
	text.TellList(&b, "Steps you have not done:", w.stepsOf(false), maxSurveySteps)
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

// lastSaid returns the beginning of a message, or the end of what a command has printed, as a terminal would show it.
func (w work) lastSaid() string {
	said := strings.TrimSpace(w.said)
	if w.raw == 0 {
		return strings.ToValidUTF8(said[:min(len(said), maxSurveyText)], "�")
	}
	said = strings.TrimSpace(asShown(said))
	return strings.ToValidUTF8(said[max(0, len(said)-maxSurveyText):], "")
}

// asShown returns what a program has printed as a terminal would show it in the end.
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

// sinceBegun is when the first launch of an agent was started; zero if none was.
func sinceBegun(launches []*checkpoints.Launch) time.Time {
	for _, l := range launches {
		if l.StartedAt != nil {
			return *l.StartedAt
		}
	}
	return time.Time{}
}

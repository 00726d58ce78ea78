package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/command"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/findings"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/prompts"
)

// A process writes the agent's log beside its own work.
type process struct {
	*procs.Process
	log *os.File

	home, folder string
	run          string                  // the folder of the run
	gone         *atomic.Pointer[string] // where the agent itself has made its last call; nil: nowhere yet

	at, notAt string
}

// At implements engine.Process.
func (p process) At() (line, whyNot string) { return p.at, p.notAt }

// Send sends a message so that it attaches no file from outside the folder.
func (p process) Send(uuid, text string, images ...procs.Image) error {
	from := p.folder
	if gone := p.gone.Load(); gone != nil {
		from = *gone
	}
	text, images = p.shown(text, images)
	return p.Process.Send(uuid, permission.Unattached(text, p.home, p.folder, from), images...)
}

// Return implements engine.Process.
func (p process) Return(request, text string, isError bool, images ...procs.Image) error {
	text, images = p.shown(text, images)
	return p.Process.Return(request, text, isError, images...)
}

// SendResults implements engine.Process.
func (p process) SendResults(uuid string, results []procs.CallResult) error {
	results = slices.Clone(results)
	for i, r := range results {
		results[i].Text, results[i].Images = p.shown(r.Text, r.Images)
	}
	return p.Process.SendResults(uuid, results)
}

// shown reads images that go with a text.
func (p process) shown(text string, images []procs.Image) (string, []procs.Image) {
	var read []procs.Image
	for n, i := range images {
		data, info, err := client.ReadImage(filepath.Join(p.run, i.File), i.Hash)
		if err != nil {
			text += fmt.Sprintf("\n\n(Image %d is not shown: its file is gone, or is no image any more.)", n+1)
			continue
		}
		read = append(read, procs.Image{Type: info.Type, Data: data})
	}
	return text, read
}

// Close closes the log. The error says that it is not complete.
func (p process) Close() error { return errors.Join(p.LogErr(), p.log.Close()) }

// Start starts the process of an agent's present launch.
func (m Machine) Start(s supervisor.State, agent string, read func(procs.Message)) (engine.Process, string, error) {
	a, l := s.Agents.Get(agent), s.Launch(agent)
	spec := m.spec(s, a, l)
	if err := s.GroundsOf(agent).Hold(spec.Dir, filepath.EvalSymlinks); err != nil {
		return nil, "", err
	}
	if spec.Path == "" && s.Abilities().OnPath { // it came out of a pack file, which may not name programs
		found, err := claude.Find("", m.Env)
		if err != nil {
			return nil, "", err
		}
		spec.Path = found
	}
	untaken, err := m.inProject(&spec, s, agent)
	if err != nil {
		return nil, "", err
	}
	log, err := os.OpenFile(m.Dirs.AgentLog(s.Run.ID, agent), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("cannot start claude: its log cannot be written: %w", err)
	}
	spec.Log = log
	m.makeShared(s.Run.ID)
	m.setAnswer(s, agent)
	m.layBack(s, a)
	notAt := ""
	if spec.At, err = m.placeOf(s, a, l); err != nil {
		notAt = err.Error()
	}
	kept := m.keeps(s, a)
	gone, check := new(atomic.Pointer[string]), spec.CheckCall
	spec.CheckCall = func(c procs.BeforeCall) procs.CallCheck {
		if c.Agent == "" {
			gone.Store(&c.Cwd)
		}
		return check(c)
	}
	started, err := procs.Start(agentOf(spec), spec, func(message procs.Message) {
		kept.read(message)
		read(message)
	})
	if err != nil {
		_ = log.Close() // nothing was written
		return nil, "", err
	}
	return process{started, log, m.Guarded.Home, spec.Dir, m.Dirs.RunDir(s.Run.ID), gone, spec.At, notAt}, untaken, nil
}

// agentOf is which agent a launch is of.
func agentOf(spec procs.Spec) procs.Agent {
	if len(spec.Command) > 0 {
		return command.Agent{}
	}
	return claude.Agent{}
}

// spec says how the process of a launch is started.
func (m Machine) spec(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) procs.Spec {
	cfg := s.Config
	spec := procs.Spec{
		Path: cfg.Claude, Flags: s.FlagsOf(a.ID), Without: a.Without, Dir: s.Folder(a.ID), Env: m.Env,
		Marker: procs.Marker{Run: s.Run.ID, Agent: a.ID, Launch: l.N}, SessionID: a.SessionID, Resume: l.Resume,
		AsksRefused: s.AsksRefused(a.ID),
		Extra: append(client.DemoEnv(m.Dirs, s), supervisor.EnvShared+"="+findings.SharedFolder(m.Dirs, s.Run.ID),
			procs.EnvState+"="+m.Dirs.State), Allowed: cfg.Allow,
	}
	spec.CheckCall = func(c procs.BeforeCall) procs.CallCheck {
		return procs.CallCheck{Deny: cfg.Forbids(c),
			Ask: cmp.Or(m.Guarded.Why(c.Tool, c.Input, c.Cwd), permission.OddSpace(cfg, c.Tool, c.Input))}
	}
	if m.LaunchEnv != nil {
		spec.Extra = append(spec.Extra, m.LaunchEnv(a.ID, l.N)...)
	}
	s.AsChild(&spec, a)
	spec.BudgetUSD, spec.MaxTurns = l.ShareUSD, l.MaxTurns
	if a.From == "" {
		spec.SpentUSD = a.CostUSD
	}
	spec.Flags = slices.Concat(spec.Flags, denied(cfg))
	spec.AfterCompaction = s.AfterCompaction(a)
	if s.Serves() {
		spec.Tools, spec.Briefing = ask.Served(), s.Briefing(a)
	}
	if spec.Command = cfg.Exec; !s.Abilities().TakesInput {
		spec.Prompt = s.PromptOf(a.ID, l.N)
		spec.Extra = append(spec.Extra, m.handed(s, a, l)...)
	}
	if cfg.Demo != "" {
		spec.Path, spec.Prefix = m.Self, []string{"stand-in", cfg.Demo}
	}
	return spec
}

// inProject has the process start as a folder's own files may have it, and with settings that hold the promises of a
// run. untaken tells, in lines, what of the folder's files is not in force, and what of the person's own settings
// breaks a promise.
func (m Machine) inProject(spec *procs.Spec, s supervisor.State, agent string) (untaken string, err error) {
	cfg := s.Config
	if cfg.Demo != "" || !s.Abilities().ReadsSettings {
		return "", nil
	}
	release := claude.ReleaseOf(claude.InstalledRelease(spec.Path))
	start, err := permission.StartInProject(permission.ProjectFolder{
		Cwd: spec.Dir, Env: m.Env, Claude: m.Claude, Memory: m.Dirs.RunFile(s.Run.ID, agent+".memory"),
		ByFlag: release.Version != "" && !release.AddedMemory,
	}, cfg)
	if err != nil {
		return "", err
	}
	flags := append(slices.Clip(start.Flags), spec.Flags...)
	person := permission.PersonSettings(m.Claude, flags, s.Run.Cwd)
	spec.Flags, err = permission.SettingsFile{
		Path: m.Dirs.RunFile(s.Run.ID, agent+".settings.json"), Cwd: s.Run.Cwd, Folder: start.Settings, Person: person,
		Sessions: cfg.AllowSessions,
		Takes: func(doc map[string]any) error {
			return claude.TakesSettings(context.Background(), spec.Path, m.Env, doc)
		},
	}.Write(flags)
	if err != nil {
		return "", &procs.StartError{Path: spec.Path, Err: err}
	}
	spec.Extra = append(spec.Extra, start.Env...)
	return person.InWords(start.Lost), nil
}

// toolless reports whether the person's own settings deny agents the tools by which they ask and report.
func (m Machine) toolless(cfg conf.Config, cwd string) bool {
	return cfg.Demo == "" && permission.PersonSettings(m.Claude, slices.Concat(cfg.Flags, denied(cfg)), cwd).Toolless()
}

// denied are the flags for the rules of what never runs.
func denied(cfg conf.Config) (flags []string) {
	for _, rule := range cfg.Deny {
		flags = append(flags, "--disallowedTools="+rule)
	}
	return flags
}

// Sweep ends what is left of a launch of an earlier supervisor.
func (m Machine) Sweep(marker procs.Marker) error {
	_, err := procs.Sweep(marker)
	return err
}

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
		answer, all = prompts.AnswersInOne(last), string(prompts.AnswersByID(answers))
		if kept := last[0].Kept; kept != nil && kept.Hand != "" {
			checkpoint = kept.Hand
		}
	}
	return []string{variable(checkpointVariable, checkpoint),
		variable(answerVariable, answer), variable(answersVariable, all)}
}

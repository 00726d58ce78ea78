package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/findings"
	"claude-supervise/supervisor/permission"
)

// A process writes the agent's log beside its own work.
type process struct {
	*procs.Process
	log *os.File
}

// Close closes the log. The error says that it is not complete.
func (p process) Close() error { return errors.Join(p.LogErr(), p.log.Close()) }

// Start starts the process of an agent's present launch.
func (m Machine) Start(s supervisor.State, agent string, read func(procs.Message)) (engine.Process, string, error) {
	a, l, cfg := s.Agents[agent], s.Launch(agent), s.Config
	spec := m.spec(s, a, l)
	if err := s.GroundsOf(agent).Hold(spec.Dir, filepath.EvalSymlinks); err != nil {
		return nil, "", err
	}
	if spec.Path == "" && len(spec.Command) == 0 { // it came out of a pack file, which may not name programs
		found, err := procs.Find("", m.Env)
		if err != nil {
			return nil, "", err
		}
		spec.Path = found
	}
	project, err := m.inProject(&spec, s.Run.ID, agent, cfg)
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
	started, err := procs.Start(spec, read)
	if err != nil {
		_ = log.Close() // nothing was written
		return nil, "", err
	}
	return process{started, log}, project.Lost, nil
}

// spec says how the process of a launch is started.
func (m Machine) spec(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) procs.Spec {
	cfg := s.Config
	spec := procs.Spec{
		Path: cfg.Claude, Flags: cfg.Flags, Without: a.Without, Dir: s.Folder(a.ID), Env: m.Env,
		Marker: procs.Marker{Run: s.Run.ID, Agent: a.ID, Launch: l.N}, SessionID: a.SessionID, Resume: l.Resume,
		Extra: append(client.DemoEnv(m.Dirs, s), supervisor.EnvShared+"="+findings.SharedFolder(m.Dirs, s.Run.ID),
			procs.EnvState+"="+m.Dirs.State), Allowed: cfg.Allow,
	}
	if len(m.Guarded.Folders) > 0 {
		spec.AskFirst = func(tool string, input json.RawMessage, cwd string) string {
			if m.Guarded.Touches(tool, input, cwd) {
				return permission.WhyAsked
			}
			return ""
		}
	}
	if m.LaunchEnv != nil {
		spec.Extra = append(spec.Extra, m.LaunchEnv(a.ID, l.N)...)
	}
	s.AsChild(&spec, a)
	spec.BudgetUSD, spec.MaxTurns = l.ShareUSD, l.MaxTurns
	if a.From == "" {
		spec.SpentUSD = a.CostUSD
	}
	for _, rule := range cfg.Deny {
		spec.Flags = append(slices.Clip(spec.Flags), "--disallowedTools="+rule)
	}
	if s.Serves() {
		spec.Tools, spec.Briefing = supervisor.Served(), s.Briefing(a)
	}
	if s.Execs() {
		spec.Command, spec.Prompt = cfg.Exec, s.PromptOf(a.ID, l.N)
		spec.Extra = append(spec.Extra, m.handed(s, a, l)...)
	}
	if cfg.Demo != "" {
		spec.Path, spec.Prefix = m.Self, []string{"stand-in", cfg.Demo}
	}
	return spec
}

// inProject has the process start as a folder's own files may have it.
func (m Machine) inProject(spec *procs.Spec, run, agent string, cfg supervisor.Config) (permission.ProjectStart,
	error) {
	if cfg.Demo != "" || len(spec.Command) > 0 {
		return permission.ProjectStart{}, nil
	}
	release := procs.ReleaseOf(procs.InstalledRelease(spec.Path))
	start, err := permission.StartInProject(permission.ProjectFolder{
		Cwd: spec.Dir, Env: m.Env, Claude: m.Claude, Memory: m.Dirs.RunFile(run, agent+".memory"),
		ByFlag: release.Version != "" && !release.AddedMemory,
	}, cfg)
	spec.Flags, spec.Extra = append(slices.Clip(start.Flags), spec.Flags...), append(spec.Extra, start.Env...)
	return start, err
}

// Sweep ends what is left of a launch of an earlier supervisor.
func (m Machine) Sweep(marker procs.Marker) error {
	_, err := procs.Sweep(marker)
	return err
}

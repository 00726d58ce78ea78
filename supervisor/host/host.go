package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/view"
)

// A Machine is where runs are supervised.
type Machine struct {
	Dirs   checkpoints.Dirs
	Store  *checkpoints.Store
	Env    []string // that children inherit, before it is cleaned and marked
	Self   string   // this program, which plays the stand-in
	Claude string   // the folder of Claude's own files, where agents keep checkpoints and ask by file: ~/.claude
	// The calls that a person is asked about whatever permits them: those that could write to what decides that.
	Guarded permission.Guarded
	Log     zerolog.Logger

	// LaunchEnv returns what the process of a launch has in its environment beside Env; nil: nothing.
	LaunchEnv func(agent string, launch int) []string

	// Working says to the person that something is being done, until done is called; nil: nobody is told.
	Working func(text string) (done func())

	at      func(point string)
	moments *moments // of the run that is supervised
}

// Supervisor returns s this machine.
func (m Machine) Supervisor(s engine.Supervisor) engine.Supervisor {
	m.at, m.moments = s.At, new(moments)
	s.Log, s.Store, s.Processes, s.Files, s.Machine = m.Log, database{m.Store, m.Dirs}, m, m, m
	s.Now, s.IDs, s.Toolless, s.Where = checkpoints.Now, ids{}, m.toolless, claude.WhereaboutsIn(m.Env)
	s.Executors = engine.Executors{
		Survey: m.survey, Confirm: m.confirm, Check: m.check, Place: m.place, Tidy: m.tidy, Merge: m.merge,
		Moment:  m.keepMoment,
		Prepare: m.prepare, Run: m.runCommand,
	}
	return s
}

// NewRun makes the id of a run.
func NewRun() string { return checkpoints.NewID(checkpoints.RunPrefix, rand.Reader) }

// RunOf makes the id of the run that a key stands for: the same for the same key.
func RunOf(key string) string {
	return checkpoints.NewID(checkpoints.RunPrefix, mathrand.NewChaCha8(sha256.Sum256([]byte(key))))
}

type ids struct{}

// Run makes the id of a run.
func (ids) Run() string { return NewRun() }

// Question makes the id of a question.
func (ids) Question() string { return checkpoints.NewID("q-", rand.Reader) }

// Agent makes the id of an agent.
func (ids) Agent() string { return checkpoints.NewAgentID() }

// A database is that of a machine. Who looks for a run there that was forgotten owns it, and so has made its folder
// anew.
type database struct {
	*checkpoints.Store
	dirs checkpoints.Dirs
}

// Load reads a run's records.
func (d database) Load(ctx context.Context, run string) (checkpoints.Loaded, error) {
	l, err := d.Store.Load(ctx, run)
	if view.NoSuchID(err) {
		err = errors.Join(err, d.dirs.RemoveRun(run))
	}
	return l, err
}

// Own takes the right to supervise a run.
func (m Machine) Own(ctx context.Context, run string) (release func(), err error) {
	owner, err := m.Dirs.Own(ctx, run)
	if err != nil {
		return nil, err
	}
	return func() { _ = owner.Release() }, nil // the kernel would do it
}

// Listen hangs up the run's wake-up socket.
func (m Machine) Listen(run string) (engine.Waker, error) { return m.Dirs.Listen(run) }

// Adopt has orphans of agents become children of this process, and prepares for the first of its own.
func (m Machine) Adopt() error {
	go procs.Prepare() // not waited for: it ends by itself in a moment, and needs nothing of ours
	return procs.BecomeSubreaper()
}

// PID is that of this process.
func (m Machine) PID() int { return os.Getpid() }

// WatchMemory calls short whenever the kernel says that memory is short, until ctx ends.
func (m Machine) WatchMemory(ctx context.Context, short func()) { watchMemory(ctx, short) }

// ShortOfMemory reports whether too little memory is available for more processes.
func (m Machine) ShortOfMemory() bool { return shortOfMemory() }

// Rest gives back the memory that is not needed while nothing happens: a supervisor may wait for days.
func (m Machine) Rest() {
	debug.FreeOSMemory()
	if err := unmapProgram(); err != nil {
		m.Log.Debug().Err(err).Msg("rest")
	}
}

// Look returns what a person is shown of a call.
func (m Machine) Look(tool string, input json.RawMessage, site ask.CallSite) ask.CallView {
	return m.Guarded.Look(permission.LookAt(tool, input, site), tool, input, site)
}

// Stat reports, as an error, that nothing is at a path.
func (m Machine) Stat(path string) error { _, err := os.Stat(path); return err }

// Locate returns a path as its links lead.
func (m Machine) Locate(path, cwd string) string {
	at := permission.Locate(path, cwd, cwd)
	if at.Real != "" {
		return at.Real
	}
	return at.Path
}

// KeepImage copies an image out of the folder of an agent, or of its run, into that of what is kept of the run.
func (m Machine) KeepImage(s supervisor.State, agent, path string) (checkpoints.Image, error) {
	places := checkpoints.Places{Base: s.Folder(agent), Roots: []string{s.Run.Cwd}}
	data, info, err := places.Read(path, images.MaxBytes)
	switch {
	case errors.Is(err, files.ErrTooLarge):
		return checkpoints.Image{}, images.TooLarge(info.Size())
	case err != nil:
		return checkpoints.Image{}, err
	}
	return client.KeepImage(m.Dirs, s.Run.ID, agent, client.Picture{Name: filepath.Base(path), Data: data})
}

// Keep copies the checkpoint that an agent names into the run's folder.
func (m Machine) Keep(s supervisor.State, agent, path, name string) (*checkpoints.Checkpoint, error) {
	return m.places(s, agent).Keep(path, m.Dirs.RunFile(s.Run.ID, name))
}

package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/findings"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/view"
)

// PackOptions say what goes into a pack file and what becomes of it.
type PackOptions struct {
	File string // what the file is called, for people: it is named where the run is refused afterwards
	// makes what was written last; called once all is, before the run counts as packed; nil does nothing
	Keep        func() error
	Without     []string // files that are not part of the work, by absolute path: the pack file itself
	WithoutWork bool     // leave the uncommitted work out
	MaxWork     int64    // bytes of it; 0 is DefaultMaxWork
	Env         []string // where claude's transcripts are looked for; nil is this process's
	Program     string   // the name and release of this program

	Progress func(done, total int64) // is told how many bytes of the files were packed, and of how many; nil: nobody
}

// A PackedRun says what was packed.
type PackedRun struct {
	Run   string
	Bytes int64    // of all entries, unpacked
	Told  []string // what a person should know was left out
}

// Write writes a run that nobody supervises to w, as one file from which it goes on on another machine (the form stands
// in format.go), and marks it as packed: nothing is left for it here any more, until it is unpacked or taken back. The
// error is ErrOwned where it is supervised, a *checkpoints.PackedError where it is packed already,
// checkpoints.ErrInboxMoved where an answer came in meanwhile; on any error the run is as it was. Pack blocks for as
// long as reading its files takes.
func Write(ctx context.Context, c client.Client, id string, w io.Writer, opt PackOptions) (PackedRun, error) {
	run, _, err := view.RunNamed(ctx, c.Store, id)
	if err != nil {
		return PackedRun{}, err
	}
	owner, err := c.Dirs.Own(ctx, run)
	if err != nil {
		return PackedRun{}, fmt.Errorf("%s cannot be packed: %w; pack it once it is parked, or interrupt its supervisor", run,
			err)
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	e, s, err := packable(ctx, c, run)
	if err != nil {
		return PackedRun{}, err
	}
	scratch, err := os.MkdirTemp("", "claude-supervise-pack-")
	if err != nil {
		return PackedRun{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // nobody knows of it
	if opt.MaxWork == 0 {
		opt.MaxWork = DefaultMaxWork
	}
	p := packing{PackOptions: opt, dirs: c.Dirs, exported: e, state: s,
		scratch: scratch, at: time.Now().UTC().Truncate(time.Second)}
	if err := p.write(ctx, w); err != nil {
		return PackedRun{}, err
	}
	supervisor.At(c.At, supervisor.PackWritten)
	if opt.Keep != nil {
		if err := opt.Keep(); err != nil {
			return PackedRun{}, err
		}
	}
	if err := mark(ctx, c, e, s, supervisor.Packed{File: opt.File}); err != nil {
		return PackedRun{},
			fmt.Errorf("%s was written, but the run is not packed and continues here: %w; remove the file and pack again",
				opt.File, err)
	}
	return PackedRun{Run: run, Bytes: p.out.bytes, Told: p.told}, nil
}

// WriteFile is Pack into the file at an absolute path, which is there whole or not at all, and not part of the work.
func WriteFile(ctx context.Context, c client.Client, id, path string, opt PackOptions) (PackedRun, error) {
	file, err := files.Replace(path)
	if err != nil {
		return PackedRun{}, fmt.Errorf("the pack file cannot be written: %w; nothing was packed", err)
	}
	defer file.Drop()
	opt.File, opt.Without, opt.Keep = path, []string{path, file.Name()}, file.Keep
	return Write(ctx, c, id, file, opt)
}

// TakeBack takes a packing back: the run goes on here, and its pack file must not be unpacked any more.
func TakeBack(ctx context.Context, c client.Client, id string) (run string, err error) {
	if run, _, err = view.RunNamed(ctx, c.Store, id); err != nil {
		return "", err
	}
	owner, err := c.Dirs.Own(ctx, run)
	if err != nil {
		return "", err
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	e, err := c.Store.Export(ctx, run)
	if err != nil {
		return "", err
	}
	if e.Run.Packed == "" {
		return "", fmt.Errorf("%s is not packed; to continue, run: claude-supervise resume %s", run, run)
	}
	s, err := stateOf(e)
	if err != nil {
		return "", err
	}
	return run, mark(ctx, c, e, s,
		supervisor.Unpacked{From: s.Run.Cwd, Cwd: s.Run.Cwd, Same: true, Work: true, Config: s.Config, Back: true})
}

// packable reads a run that can be packed. What an earlier supervisor has left running is ended first: it would go on
// writing.
func packable(ctx context.Context, c client.Client, run string) (checkpoints.Exported, supervisor.State, error) {
	e, err := c.Store.Export(ctx, run)
	if err != nil {
		return e, supervisor.State{}, err
	}
	s, err := stateOf(e)
	if err != nil {
		return e, s, err
	}
	root := s.Agents.Get(s.Run.Root)
	switch {
	case e.Run.Packed != "":
		return e, s, &checkpoints.PackedError{Run: run, File: e.Run.Packed}
	case e.Run.EndedAt != nil && !root.Revivable():
		return e, s, fmt.Errorf("%s has ended (%s: %s): there is nothing to continue, so nothing was packed",
			run, root.Status, root.Reason)
	}
	for _, l := range e.Launches {
		if l.Phase.Ended() {
			continue
		}
		if _, err := procs.Sweep(procs.Marker{Run: run, Agent: l.Agent, Launch: l.N}); err != nil {
			return e, s, fmt.Errorf("%s cannot be packed while a process of it lives: %w", run, err)
		}
	}
	return e, s, nil
}

// mark saves an event of a run that nobody supervises. It is refused if something has come into the inbox since the run
// was exported.
func mark(ctx context.Context, c client.Client, e checkpoints.Exported, s supervisor.State, b supervisor.Event) error {
	event := supervisor.Happened{At: checkpoints.Now(), Event: b}
	next, err := supervisor.Step(s, event)
	if err != nil {
		return err
	}
	change := records.Changes(s.Records, next.Records)
	if change.Event, err = event.Record(s.Run.ID, int64(len(e.Events))+1); err != nil {
		return err
	}
	change.CheckInbox, change.IfInboxAt = true, e.Taken
	for _, n := range e.Notes {
		change.IfInboxAt = max(change.IfInboxAt, n.Seq)
	}
	supervisor.At(c.At, supervisor.BeforeSave+change.Event.Type)
	if err := c.Store.Commit(ctx, change); err != nil {
		return err
	}
	supervisor.At(c.At, supervisor.AfterSave+change.Event.Type)
	return nil
}

// stateOf makes a State of an exported run.
func stateOf(e checkpoints.Exported) (supervisor.State, error) {
	agents := make(map[string]*supervisor.Agent, len(e.Agents))
	for _, a := range e.Agents {
		agents[a.ID] = a
	}
	return supervisor.Loaded(checkpoints.Loaded{
		Run: e.Run, Agents: agents, Launches: e.Launches, Questions: e.Questions, Deliveries: e.Deliveries, Taken: e.Taken,
	})
}

// A packing is one pack file in the making.
type packing struct {
	PackOptions
	dirs     checkpoints.Dirs
	exported checkpoints.Exported
	state    supervisor.State
	scratch  string
	at       time.Time
	out      *packer
	told     []string
	trees    []treeBundle
}

// write writes the whole file. The work is gathered first, for the manifest says what it is.
func (p *packing) write(ctx context.Context, w io.Writer) error {
	m := manifest{
		Format: 1, Program: p.Program, Created: p.at, Run: p.state.Run.ID, Folder: p.state.Run.Cwd, Work: workNone,
	}
	if !p.WithoutWork {
		if err := p.gather(ctx, &m); err != nil {
			return err
		}
	}
	m.Format = m.formatOf()
	var bar progress
	if p.Progress != nil {
		told := slices.Clip(p.told)
		p.out = &packer{sizes: true}
		if err := p.entries(m); err != nil {
			return err
		}
		p.told, bar = told, progress{tell: p.Progress, total: p.out.bytes}
	}
	p.out = newPacker(w, p.at)
	p.out.bar = bar
	if err := p.entries(m); err != nil {
		return err
	}
	return p.out.close()
}

// entries gives the packer all that belongs into the file.
func (p *packing) entries(m manifest) error {
	if err := p.out.document(manifestName, m); err != nil {
		return err
	}
	if err := p.out.document(runName, p.exported); err != nil {
		return err
	}
	if err := p.logs(m); err != nil {
		return err
	}
	if err := p.transcripts(); err != nil {
		return err
	}
	switch m.Work {
	case workGit:
		return writeTrees(p.out, p.trees)
	case workFiles:
		return p.files(m.Folder)
	}
	return nil
}

// gather finds what the uncommitted work is; of a git work tree it is put into a bundle.
func (p *packing) gather(ctx context.Context, m *manifest) error {
	info, err := os.Stat(m.Folder)
	if err != nil || !info.IsDir() {
		return fmt.Errorf("the run's folder %s is gone, and its uncommitted work with it; "+
			"--without-work packs the run without its work", m.Folder)
	}
	store := &git.Store{Folder: p.scratch}
	t, err := store.WorkTree(ctx, m.Folder)
	if errors.Is(err, git.ErrNoWorkTree) {
		m.Work = workFiles
		return p.fits(m.Folder)
	}
	if err != nil {
		return err
	}
	got, left, err := p.bundle(ctx, t, "", p.MaxWork)
	if err != nil {
		return err
	}
	m.Work, m.Git, p.told = workGit, got.To, append(p.told, got.Told...)
	return p.gatherTrees(ctx, store, t, left, m)
}

// bundle puts the uncommitted work of a work tree, the run's own or that of an agent, into a bundle of at most limit
// bytes, and gives how many are left.
func (p *packing) bundle(ctx context.Context, t *git.Tree, agent string, limit int64) (got git.Captured, left int64,
	err error) {
	t.Without, t.Limit = p.Without, limit
	if got, err = t.Capture(ctx); err != nil {
		return got, 0, orWithoutWork(err)
	}
	file, _, err := t.Bundle(ctx, got, "", p.at)
	if err != nil {
		return got, 0, err
	}
	info, err := os.Stat(file)
	if err == nil && info.Size() > limit {
		err = git.TooLarge(info.Size(), limit, []string{"commits that no remote has"})
	}
	if err != nil {
		return got, 0, err
	}
	p.trees = append(p.trees, treeBundle{agent, file, got.To})
	return got, limit - info.Size(), nil
}

// orWithoutWork says what helps where git cannot read the work.
func orWithoutWork(err error) error {
	if failed := (*git.GitError)(nil); errors.As(err, &failed) {
		return fmt.Errorf("%w; --without-work leaves it out", err)
	}
	return err
}

// fits refuses a folder that is too large.
func (p *packing) fits(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read
	sizes, err := git.FolderSize(root, p.left(folder))
	if err == nil && sizes.Sum > p.MaxWork {
		err = git.TooLarge(sizes.Sum, p.MaxWork, sizes.Largest())
	}
	return err
}

// left tells what of a folder that is no work tree is left out: what is a repository, and what the person names.
func (p *packing) left(folder string) func(string, fs.DirEntry) bool {
	return func(name string, _ fs.DirEntry) bool {
		return git.IsGitDir(path.Base(name)) || slices.Contains(p.Without, filepath.Join(folder, filepath.FromSlash(name)))
	}
}

func (p *packing) logs(m manifest) error {
	if m.Work != workGit {
		for _, a := range ownTrees(p.state) {
			p.told = append(p.told, leftBehind(a, ""))
		}
	}
	if findings := findings.SharedFolder(p.dirs, p.state.Run.ID); holdsAnything(findings) {
		p.told = append(p.told, "what its agents share is not packed: "+findings)
	}
	root, err := os.OpenRoot(p.dirs.RunDir(p.state.Run.ID))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read
	for _, a := range p.exported.Agents {
		names := []string{filepath.Base(p.dirs.AgentLog(a.Run, a.ID)), filepath.Base(p.dirs.CheckpointFile(a.Run, a.ID))}
		for _, name := range append(names, keptCopies(p.exported, a.ID)...) {
			if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
				continue // it has not come to that
			}
			if err := p.out.file(root, name, logsPrefix+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptCopies names the copies of checkpoints that an agent's record and questions speak of.
func keptCopies(run checkpoints.Exported, agent string) []string {
	names := map[string]bool{}
	keep := func(of string, k *checkpoints.Kept) {
		if of == agent && k != nil && strings.HasPrefix(k.Copy, agent+".") && filepath.Base(k.Copy) == k.Copy {
			names[k.Copy] = true
		}
	}
	for _, a := range run.Agents {
		keep(a.ID, a.Kept)
	}
	show := func(of string, images []checkpoints.Image) {
		for _, i := range images {
			if name := i.File(agent); of == agent && name != "" {
				names[name] = true
			}
		}
	}
	for _, q := range run.Questions {
		keep(q.Agent, q.Kept)
		show(q.Agent, q.Images)
		if q.Image != nil {
			show(q.Agent, []checkpoints.Image{*q.Image})
		}
	}
	for _, n := range run.Notes {
		show(n.Agent, n.Images)
	}
	return slices.Sorted(maps.Keys(names))
}

// transcripts packs the conversation of each agent, as it is on this machine.
func (p *packing) transcripts() error {
	for _, a := range p.exported.Agents {
		transcript, err := client.Transcript(p.Env, p.dirs, p.state, a.SessionID)
		if err != nil {
			begun := slices.ContainsFunc(p.state.Launches.Get(a.ID), func(l *supervisor.Launch) bool { return l.Begun })
			if begun && (!a.Status.Ended() || a.Revivable()) {
				p.told = append(p.told,
					fmt.Sprintf("the conversation of %s is not on this machine; it will begin again from its checkpoint", a.ID))
			}
			continue
		}
		companion, err := claude.TranscriptCompanion(transcript)
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(filepath.Dir(transcript))
		if err != nil {
			return err
		}
		err = p.out.file(root, filepath.Base(transcript), transcriptsDir+filepath.Base(transcript))
		if err == nil {
			err = p.out.files(root, filepath.Base(companion), transcriptsDir)
		}
		if err := errors.Join(err, root.Close()); err != nil {
			return err
		}
	}
	return nil
}

// files packs a folder that is no work tree.
func (p *packing) files(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read
	odd, err := p.out.tree(root, ".", filesPrefix, p.left(folder))
	for _, name := range odd {
		p.told = append(p.told, "not packed: "+name)
	}
	return err
}

// holdsAnything reports whether there is something in a folder.
func holdsAnything(folder string) bool {
	dir, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }() // only read
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// UnpackOptions say where a run goes on.
type UnpackOptions struct {
	Folder      string   // where the run goes on; "" is the run's own if it was packed on this machine, else Here
	Here        string   // the present folder
	File        string   // what the pack file is called, for people
	DryRun      bool     // check everything and change nothing
	WithoutWork bool     // leave the folder as it is
	MaxWork     int64    // bytes of work that are taken in; 0 is DefaultMaxWork
	Env         []string // where claude looks for transcripts; nil is this process's
}

// An UnpackedRun says what came out of a pack file.
type UnpackedRun struct {
	Run       string
	From, Cwd string         // the run's folder before, and from now on
	Questions []QuestionView // those that are open
	Answered  bool           // an answer waits to be delivered
	Exec      bool           // it runs a command in claude's place, which the person has to give
	Flags     []string       // that claude is given, as whoever started the run wrote them: they may loosen what it asks for
	Told      []string       // what was done and what was dropped, for people
}

// Unpack takes a run out of a pack file, so that it can be resumed here. What it reads is believed in nothing: all is
// checked before anything is changed, and a file cannot name programs to run. ErrNotPack, ErrNotClean, ErrNotClone,
// ErrOtherFile, checkpoints.ErrDuplicateID, ErrMalformed and ErrNewer say what is wrong; nothing was changed then. Files are
// put in place first and the run last, so that one cut short is not there at all, and unpacking again goes on with it. It
// blocks for as long as writing the files takes.
func (c Client) Unpack(ctx context.Context, r io.Reader, opt UnpackOptions) (UnpackedRun, error) {
	staging, err := os.MkdirTemp("", "claude-supervise-unpack-")
	if err != nil {
		return UnpackedRun{}, err
	}
	defer func() { _ = os.RemoveAll(staging) }() // nobody knows of it
	if opt.MaxWork == 0 {
		opt.MaxWork = DefaultMaxWork
	}
	u := unpacking{UnpackOptions: opt, Client: c, scratch: filepath.Join(staging, "scratch")}
	content := filepath.Join(staging, "content")
	if err := errors.Join(os.Mkdir(content, 0o700), os.Mkdir(u.scratch, 0o700)); err != nil {
		return UnpackedRun{}, err
	}
	if u.parcel, err = readParcel(r, content, opt.MaxWork); err != nil {
		return UnpackedRun{}, err
	}
	run := u.parcel.manifest.Run
	owner, err := c.Dirs.Own(ctx, run)
	if err != nil {
		return UnpackedRun{}, fmt.Errorf("%s cannot be unpacked: %w", run, err)
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	if err := u.plan(ctx); err != nil {
		return UnpackedRun{}, err
	}
	if opt.DryRun {
		return u.result(), nil
	}
	if err := u.do(ctx); err != nil {
		return UnpackedRun{}, fmt.Errorf("%w. %s is not in the database yet, and some of its files may be in place; "+
			"unpack it again once the cause is mended: what is in place is known again", err, run)
	}
	return u.result(), nil
}

// An unpacking is one pack file on its way in.
type unpacking struct {
	UnpackOptions
	Client
	parcel  *parcel
	scratch string
	cwd     string // where the run goes on
	same    bool   // it was packed on this machine
	ours    Config // if so, as it was started here
	keep    keeping
	git     *gitWork
	files   *folderWork
	state   State // after Unpacked
	event   checkpoints.Event
	told    []string
}

// plan checks everything, and finds what is to be done. It changes nothing.
func (u *unpacking) plan(ctx context.Context) error {
	if err := u.known(ctx); err != nil {
		return err
	}
	if err := u.planWork(ctx); err != nil {
		return err
	}
	before, err := stateOf(u.parcel.run)
	if err != nil {
		return notPack("%v", err)
	}
	cfg := harmless(before.Config)
	if u.same {
		cfg = u.ours // not the file's: who could have changed that could name programs
	}
	event := Event{At: now(), Body: Unpacked{
		From: before.Run.Cwd, Cwd: u.cwd, Same: u.same, Work: u.git != nil || u.files != nil, Config: cfg,
	}}
	if u.state, err = Step(before, event); err != nil {
		return err
	}
	if u.event, err = event.record(u.state.Run.ID, int64(len(u.parcel.run.Events))+1); err != nil {
		return err
	}
	u.tellDropped(before)
	return u.planFiles()
}

// known refuses a run that goes on here, and finds where it goes on.
func (u *unpacking) known(ctx context.Context) error {
	u.cwd = u.Folder
	here, err := u.Store.Run(ctx, u.parcel.manifest.Run)
	switch {
	case NoSuchID(err):
	case err != nil:
		return err
	case here.Packed == "":
		return fmt.Errorf("%s is on this machine and was not packed here, so the file is older than what is known of it: %w. "+
			"Nothing was changed; go on with: claude-supervise resume %s", here.ID, checkpoints.ErrDuplicateID, here.ID)
	default:
		u.same = true
		if err := json.Unmarshal(here.Config, &u.ours); err != nil {
			return fmt.Errorf("the configuration of run %s cannot be read: %w", here.ID, err)
		}
		if u.cwd == "" {
			u.cwd = here.Cwd
		}
	}
	if u.cwd == "" {
		u.cwd = u.Here
	}
	return nil
}

// planWork finds where the uncommitted work goes.
func (u *unpacking) planWork(ctx context.Context) error {
	m := u.parcel.manifest
	kind := m.Work
	if u.WithoutWork {
		kind = workNone
	}
	var err error
	switch kind {
	case workFiles:
		u.files, err = planFolder(u.cwd, u.parcel)
		return err
	case workGit:
		return u.planGit(ctx, m)
	}
	if info, err := os.Stat(u.cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder, and there is no work in the file to make it of; nothing was changed: give one with --cwd", u.cwd)
	}
	return nil
}

func (u *unpacking) planGit(ctx context.Context, m manifest) error {
	bundles := u.parcel.under(bundleName)
	if len(bundles) != 1 {
		return notPack("it lacks its work")
	}
	bundle := u.parcel.path(bundles[0])
	_, needs, _, err := bundleHeader(bundle)
	if err != nil {
		return err
	}
	if len(needs) == 0 && vacant(u.cwd) && !u.DryRun {
		if err := os.MkdirAll(u.cwd, 0o777); err != nil {
			return err
		}
		if err := initClone(ctx, u.cwd, u.scratch, m.Git); err != nil {
			return err
		}
	} else if len(needs) == 0 && vacant(u.cwd) {
		u.told = append(u.told, "a new repository would be made in "+u.cwd)
		return nil
	}
	if u.git, err = planGit(ctx, u.cwd, u.scratch, bundle, m.Git, u.MaxWork); err != nil {
		return err
	}
	u.cwd = filepath.Join(u.git.top, filepath.FromSlash(m.Git.Prefix))
	u.told = append(u.told, u.git.told()...)
	return nil
}

// vacant tells whether a folder is empty or missing, and in no work tree.
func vacant(folder string) bool {
	entries, err := os.ReadDir(folder)
	return len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist)) && !hasGitAbove(folder)
}

// told says what is done to a clone.
func (w *gitWork) told() []string {
	told := []string{fmt.Sprintf("uncommitted work: %s put in place, %s removed",
		plural(len(w.put), "file", "files"), plural(len(w.drop), "file", "files"))}
	if w.moved && !w.unborn && w.to.Head != "" {
		text := fmt.Sprintf("HEAD was at %.12s and is moved to %.12s, to which the work belongs; no branch is moved", w.here, w.to.Head)
		if w.to.Branch != "" {
			text += " (it was on " + w.to.Branch + ")"
		}
		told = append(told, text)
	}
	if len(w.submodules) > 0 {
		told = append(told, "submodules stay as they are: "+strings.Join(w.submodules, ", ")+" (git submodule update)")
	}
	return told
}

// tellDropped says what the file may not bring along.
func (u *unpacking) tellDropped(before State) {
	cfg, now := before.Config, u.state.Config
	if cfg.Claude != now.Claude {
		u.told = append(u.told, "the file names "+cfg.Claude+" as its claude; here the one on PATH is taken (resume --claude PATH: another)")
	}
	if len(cfg.Notify) > 0 && len(now.Notify) == 0 {
		u.told = append(u.told, "the command of --notify is not taken along: "+strings.Join(cfg.Notify, " "))
	}
	if _, dropped := procs.WithoutPrograms(cfg.Flags); len(dropped) > 0 && len(now.Flags) < len(cfg.Flags) {
		u.told = append(u.told, "these flags of claude name programs, or files that may, and are not taken along: "+strings.Join(dropped, " "))
	}
	if rules := len(cfg.Allow) + len(before.rules()); rules > 0 && len(u.state.Config.Allow)+len(u.state.rules()) == 0 {
		u.told = append(u.told, plural(rules, "rule", "rules")+" of what runs unasked: not taken along")
	}
	if cfg.Demo != now.Demo {
		u.told = append(u.told, "it played the scenario "+cfg.Demo+", which is not taken along")
	}
}

// planFiles finds where logs and transcripts go.
func (u *unpacking) planFiles() error {
	u.keep.parcel = u.parcel
	run := u.state.Run.ID
	for _, e := range u.parcel.under(logsPrefix) {
		if err := u.keep.plan(e, filepath.Join(u.Dirs.RunDir(run), strings.TrimPrefix(e.name, logsPrefix))); err != nil {
			return err
		}
	}
	env := transcriptEnv(u.Env, u.Dirs, u.state)
	places := map[string]string{} // of sessions
	for _, e := range u.parcel.under(transcriptsDir) {
		session, within, _ := strings.Cut(strings.TrimPrefix(e.name, transcriptsDir), "/")
		session = strings.TrimSuffix(session, ".jsonl")
		if places[session] == "" {
			transcript, err := procs.NewTranscript(env, session, u.cwd)
			if err != nil {
				return notPack("%v", err)
			}
			places[session] = transcript
		}
		to := places[session]
		if within != "" {
			to = filepath.Join(strings.TrimSuffix(to, ".jsonl"), filepath.FromSlash(within))
		}
		if err := u.keep.plan(e, to); err != nil {
			return err
		}
	}
	return nil
}

// do does what was planned. The run becomes known last, in one transaction.
func (u *unpacking) do(ctx context.Context) error {
	at(u.At, unpackPlanned)
	if err := u.keep.do(); err != nil {
		return err
	}
	at(u.At, unpackKept)
	switch {
	case u.git != nil:
		if err := u.git.do(ctx, u.MaxWork); err != nil {
			return err
		}
	case u.files != nil:
		if err := u.files.do(); err != nil {
			return err
		}
	}
	unix.Sync() // the run is known only once its files are on the disk
	at(u.At, beforeSave+u.event.Type)
	if err := u.Store.Import(ctx, u.exported()); err != nil {
		return err
	}
	at(u.At, afterSave+u.event.Type)
	return nil
}

// exported is the run as it is from now on.
func (u *unpacking) exported() checkpoints.Exported {
	e := u.parcel.run
	e.Run, e.Agents, e.Launches = *u.state.Run, nil, nil
	for _, id := range slices.Sorted(maps.Keys(u.state.Agents)) {
		e.Agents = append(e.Agents, u.state.Agents[id])
		e.Launches = append(e.Launches, u.state.Launches[id]...)
	}
	e.Events = append(slices.Clip(e.Events), u.event)
	return e
}

func (u *unpacking) result() UnpackedRun {
	r := UnpackedRun{
		Run: u.state.Run.ID, From: u.parcel.manifest.Folder, Cwd: u.cwd, Flags: u.state.Config.Flags, Told: u.told,
		Questions: []QuestionView{},
	}
	answered := map[string]bool{}
	for _, n := range u.parcel.run.Notes {
		if n.Seq > u.parcel.run.Taken && n.Question != "" {
			answered[n.Question], r.Answered = true, true
		}
	}
	for _, q := range u.state.questions(func(q *Question) bool { return q.State == Open && !answered[q.ID] }) {
		r.Questions = append(r.Questions, View(q))
	}
	r.Exec = u.state.execs() && !u.same
	r.Answered = r.Answered || slices.ContainsFunc(u.parcel.run.Questions, func(q *Question) bool { return q.State == checkpoints.QuestionAnswered })
	return r
}

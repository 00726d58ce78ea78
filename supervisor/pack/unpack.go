package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/view"
)

// UnpackOptions say where a run goes on.
type UnpackOptions struct {
	Folder      string // where the run goes on; "": its own if it was packed on this machine, else Here
	Here        string // the present folder
	File        string // what the pack file is called, for people
	DryRun      bool   // check everything and change nothing
	WithoutWork bool   // leave the folder as it is
	MaxWork     int64  // bytes of work that are taken in; 0 is DefaultMaxWork
	// Progress is told how many bytes of the file, and of those that it rests on, were read, and of how many; nil: nobody.
	Progress func(done, total int64)
	Env      []string           // where claude looks for transcripts; nil is this process's
	Given    conf.Given         // what the person grants the run here, and bounds it by
	Guarded  permission.Guarded // the calls that nothing of it permits
	// Vouched: the caller has authenticated the file. The rules, answers in advance and retries that it has hold here, and
	// a run that has ended in it is unpacked, too.
	Vouched bool
}

// An UnpackedRun says what came out of a pack file.
type UnpackedRun struct {
	Run       string              `json:"id"`
	From      string              `json:"from"`               // the run's folder before,
	Cwd       string              `json:"cwd"`                // and from now on
	Questions []view.QuestionView `json:"questions"`          // those that are open
	Answered  bool                `json:"answered"`           // an answer waits to be delivered
	Exec      bool                `json:"exec"`               // it runs a command in claude's place
	Flags     []string            `json:"flags"`              // that claude is given
	Told      []string            `json:"told"`               // what was done, for people
	Withheld  []Withheld          `json:"withheld"`           // what the file grants, and was not taken along
	AskedAnew []string            `json:"asked_anew"`         // questions whose answers were not; of Questions
	Failed    bool                `json:"failed"`             // it has ended, and only resume --failed goes on with it
	Snapshot  *UnpackedSnapshot   `json:"snapshot,omitempty"` // nil: the run did not go on where it was packed
}

// An UnpackedSnapshot says which moment of a run came out of a snapshot of it.
type UnpackedSnapshot struct {
	At        time.Time `json:"at"`
	InTurn    []string  `json:"in_turn"`          // agents whose turns it lacks
	Epoch     int       `json:"epoch,omitempty"`  // that was taken; 0: the run may go on elsewhere, too
	Snapshots string    `json:"folder,omitempty"` // where that was written, and where the next snapshots are put
}

// Unpack takes a run out of a pack file, so that it can be resumed here. What it reads is believed in nothing: all is
// checked before anything is changed, and nothing that it grants is granted here (pack_trust.go). errNotPack,
// errNotClean, errNotClone, errOtherFile, checkpoints.ErrDuplicateID, ErrMalformed and ErrNewer say what is wrong;
// nothing was changed then. Files are put in place first and the run last, so that one cut short is not there at all,
// and unpacking again goes on with it. It blocks for as long as writing the files takes.
func Unpack(ctx context.Context, c client.Client, r io.Reader, opt UnpackOptions) (UnpackedRun, error) {
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
	if u.archive, err = readChain(&progress{tell: opt.Progress}, r, opt.File, content, opt.MaxWork); err != nil {
		return UnpackedRun{}, err
	}
	run := u.archive.manifest.Run
	owner, err := c.Dirs.Own(ctx, run)
	if err != nil {
		return UnpackedRun{}, fmt.Errorf("%s cannot be unpacked: %w", run, err)
	}
	defer func() { _ = owner.Release() }() // the kernel would do it
	if err := u.plan(ctx); err != nil {
		u.leave(ctx, run)
		return UnpackedRun{}, err
	}
	if opt.DryRun {
		u.leave(ctx, run)
		return u.result(), nil
	}
	if err := u.takeOver(ctx); err != nil {
		u.leave(ctx, run)
		return UnpackedRun{}, err
	}
	if err := u.do(ctx); err != nil {
		return UnpackedRun{}, fmt.Errorf("%w. %s is not in the database yet, and some of its files may be in place; "+
			"unpack it again once the cause is fixed: files that are in place already are recognised", err, run)
	}
	return u.result(), nil
}

// leave removes what looking at the file has made: the run's folder, if it holds nothing, and a repository in an empty
// place.
func (u *unpacking) leave(ctx context.Context, run string) {
	u.unmake()
	if _, err := u.Store.Run(ctx, run); !view.NoSuchID(err) {
		return
	}
	if held, err := os.ReadDir(u.Dirs.RunDir(run)); err == nil &&
		len(held) == 1 && held[0].Name() == filepath.Base(u.Dirs.Lock(run)) {
		_ = u.Dirs.RemoveRun(run)
	}
}

// unmake removes the repository and the folders that were made for the work.
func (u *unpacking) unmake() {
	if u.repo != "" {
		_ = os.RemoveAll(filepath.Join(u.repo, ".git"))
	}
	for _, folder := range u.made {
		_ = os.Remove(folder) // it stays if it holds anything
	}
}

// An unpacking is one pack file on its way in.
type unpacking struct {
	UnpackOptions
	client.Client
	archive *archive
	scratch string
	cwd     string           // where the run goes on
	same    bool             // it was packed on this machine
	ours    conf.Config      // if so, as it was started here
	before  supervisor.State // as the file has it
	beside  *Folder          // of a snapshot: the folder with the epoch in which the file lies; nil: it lies in none
	epoch   int              // that was taken there
	newer   bool             // what is here is what a supervisor has left that lost the run
	keep    installer
	git     *gitWork
	files   *folderWork
	trees   []*treeWork
	state   supervisor.State // after Unpacked
	event   checkpoints.Event
	repo    string   // an empty folder in which a repository was made
	made    []string // folders that were not there, the deepest first
	notes   []checkpoints.InboxEntry
	told    []string
	less    []Withheld
}

// plan checks everything, and finds what is to be done. It changes nothing.
func (u *unpacking) plan(ctx context.Context) error {
	if err := u.known(ctx); err != nil {
		return err
	}
	var err error
	if u.before, err = stateOf(u.archive.run); err != nil {
		return notPack("%v", err)
	}
	if err := checkRecords(u.before); err != nil {
		return err
	}
	if err := endedIn(u.before); err != nil && !u.Vouched { // a fleet hands in how it has ended
		return err
	}
	if err := u.Given.Fits(u.before.Config); err != nil {
		return err
	}
	if err := u.step(u.before); err != nil { // before anything is made for the work
		return err
	}
	if err := u.planWork(ctx); err != nil {
		return err
	}
	if err := u.step(u.before); err != nil { // in the folder that the work is found to belong to
		return err
	}
	u.notes, u.less = withheld(u, u.before)
	return u.planFiles()
}

// takeOver takes the run from whoever has it, if it comes out of a snapshot that lies where that will notice. From then
// on nobody goes on with it but who unpacks it again.
func (u *unpacking) takeOver(ctx context.Context) error {
	if u.beside == nil {
		return nil
	}
	var err error
	if u.epoch, err = u.beside.TakeOver(ctx, u.before.Run.Epoch); err != nil {
		return fmt.Errorf("the run cannot be taken over: %w; nothing was changed", err)
	}
	supervisor.At(u.At, supervisor.UnpackTakenOver)
	return u.step(u.before)
}

// step finds what becomes of the run.
func (u *unpacking) step(before supervisor.State) (err error) {
	defer func() {
		if bug := recover(); bug != nil { // putRecords that no release has written lead to what cannot happen
			err = notPack("its run cannot continue: %v", bug)
		}
	}()
	b := supervisor.Unpacked{From: before.Run.Cwd, Cwd: u.cwd, Same: u.same, Work: u.git != nil || u.files != nil,
		File: u.File, Given: u.Given, Vouched: u.Vouched, Worktrees: u.cameAlong(), Keyed: true}
	if u.Vouched {
		for _, r := range before.Rules() {
			b.Given.Allow = append(slices.Clip(b.Given.Allow), r.Rule) // of an answer, which is not believed itself
		}
	}
	for _, e := range u.archive.under(transcriptsDir) {
		session, whole := strings.CutSuffix(strings.TrimPrefix(e.name, transcriptsDir), ".jsonl")
		if whole && !strings.Contains(session, "/") {
			b.Conversations = append(b.Conversations, session)
		}
	}
	var ours *conf.Config
	if u.same {
		ours = &u.ours
	}
	b.Config, u.less = Harmless(before.Config, ours, u.Vouched)
	if b.Epoch = u.epoch; u.beside != nil {
		b.Config.Snapshots = &conf.SnapshotTo{Dir: filepath.Dir(u.beside.path), Keep: conf.DefaultKeep}
	}
	event := supervisor.Happened{At: checkpoints.Now(), Event: b}
	moved, err := supervisor.Step(before, event)
	if err != nil {
		return err
	}
	b.Seen = SeenCalls(before, func(call *checkpoints.ToolCall, agent string) ask.CallView {
		site := ask.CallSite{Folder: moved.Folder(agent)}
		if call.Cwd == "" { // another folder was one of the machine that the pack comes from
			site.Cwd = site.Folder
		}
		return u.Guarded.Look(permission.LookAt(call.Name, call.Input, site), call.Name, call.Input, site)
	})
	event.Event = b
	if u.state, err = supervisor.Step(before, event); err != nil {
		return err
	}
	if n := unended(u.state); u.state.Config.MaxAgents > 0 && n > u.state.Config.MaxAgents {
		return fmt.Errorf(
			"the run in the file has %d agents that have not ended, and may have %d here; nothing was changed: "+
				"--max-agents %d lets them in", n, u.state.Config.MaxAgents, n)
	}
	if err := u.tryOut(event.At); err != nil {
		return err
	}
	u.event, err = event.Record(u.state.Run.ID, int64(len(u.archive.run.Events))+1)
	return err
}

// tryOut sees what the next supervisor would begin with: nothing of it is done.
func (u *unpacking) tryOut(at time.Time) error {
	notes, _ := HeldNotes(u.archive.run.Notes, u.archive.run.Taken, u.state, u.Vouched)
	waiting := slices.DeleteFunc(notes, func(n supervisor.InboxEntry) bool { return n.Seq <= u.archive.run.Taken })
	next, err := supervisor.Step(u.state,
		supervisor.Happened{At: at, Event: supervisor.Opened{Policy: conf.Park, Notes: waiting}})
	if err != nil {
		return notPack("its run cannot continue: %v", err)
	}
	supervisor.Plan(next)
	return nil
}

// planFiles finds where logs and transcripts go.
func (u *unpacking) planFiles() error {
	u.keep.archive = u.archive
	if u.newer {
		u.keep.aside = fmt.Sprintf(".epoch-%d", u.before.Run.Epoch)
	}
	run := u.state.Run.ID
	for _, e := range u.archive.under(logsPrefix) {
		if _, hash, is := strings.Cut(e.name, checkpoints.ImageMark); is {
			if _, _, err := client.ReadImage(u.archive.path(e), hash); err != nil {
				continue // a person is shown where it is, to open it
			}
		}
		if err := u.keep.plan(e, filepath.Join(u.Dirs.RunDir(run), strings.TrimPrefix(e.name, logsPrefix))); err != nil {
			return err
		}
	}
	env := client.TranscriptEnv(u.Env, u.Dirs, u.state)
	places := map[string]string{} // of sessions
	for _, e := range u.archive.under(transcriptsDir) {
		session, within, _ := strings.Cut(strings.TrimPrefix(e.name, transcriptsDir), "/")
		session = strings.TrimSuffix(session, ".jsonl")
		if places[session] == "" {
			transcript, err := claude.NewTranscript(env, session, u.cwd)
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
	supervisor.At(u.At, supervisor.UnpackPlanned)
	if err := u.keep.do(); err != nil {
		return err
	}
	supervisor.At(u.At, supervisor.UnpackKept)
	switch {
	case u.git != nil:
		if err := u.git.do(ctx, u.MaxWork); err != nil {
			return err
		}
		for _, t := range u.trees {
			if err := u.restore(ctx, t); err != nil {
				return fmt.Errorf("the worktree of %s: %w", t.agent, err)
			}
		}
	case u.files != nil:
		if err := u.files.do(); err != nil {
			return err
		}
	}
	unix.Sync() // the run is known only once its files are on the disk
	supervisor.At(u.At, supervisor.BeforeSave+u.event.Type)
	save := u.Store.Import
	if u.newer {
		save = u.Store.ImportNewer
	}
	if err := save(ctx, u.exported()); err != nil {
		return err
	}
	supervisor.At(u.At, supervisor.AfterSave+u.event.Type)
	return nil
}

// exported is the run as it is from now on.
func (u *unpacking) exported() checkpoints.Exported {
	e := u.archive.run
	putRecords(&e, u.state)
	e.Notes, e.Events = u.notes, append(slices.Clip(e.Events), u.event)
	return e
}

// putRecords puts the records of a state into an exported run.
func putRecords(e *checkpoints.Exported, s supervisor.State) {
	e.Run, e.Agents, e.Launches, e.Questions, e.Deliveries = *s.Run, nil, nil, nil, nil
	for a := range s.Agents.Values() {
		e.Agents = append(e.Agents, a)
		e.Launches = append(e.Launches, s.Launches.Get(a.ID)...)
	}
	e.Questions = s.FindQuestions(func(*supervisor.Question) bool { return true })
	e.Deliveries = slices.Collect(s.Deliveries.Values())
}

func (u *unpacking) result() UnpackedRun {
	r := UnpackedRun{
		Run: u.state.Run.ID, From: u.archive.manifest.Folder, Cwd: u.cwd, Flags: u.state.Config.Flags, Told: u.told,
		Withheld: u.less, Questions: []view.QuestionView{}, Exec: !u.state.Abilities().OnPath,
		Failed: u.state.Run.EndedAt != nil && !u.state.Agents.Get(u.state.Run.Root).Revivable(),
	}
	if m := u.archive.manifest.Snapshot; m != nil {
		r.Snapshot = &UnpackedSnapshot{At: m.At, InTurn: append([]string{}, m.Lost...), Epoch: u.epoch}
		if u.beside != nil {
			r.Snapshot.Snapshots = u.beside.path
		}
	}
	answered := map[string]bool{}
	for _, n := range u.notes {
		if n.Seq > u.archive.run.Taken && n.Question != "" {
			answered[n.Question], r.Answered = true, true
		}
	}
	for _, q := range u.state.FindQuestions(func(q *supervisor.Question) bool {
		return q.IsOpen() &&
			!answered[q.ID]
	}) {
		r.Questions = append(r.Questions, view.View(q))
	}
	for _, q := range u.archive.run.Questions {
		if !q.IsOpen() && u.state.Questions.Get(q.ID).IsOpen() {
			r.AskedAnew = append(r.AskedAnew, q.ID)
		}
	}
	r.Answered = r.Answered ||
		len(u.state.FindQuestions(func(q *supervisor.Question) bool { return q.State == checkpoints.QuestionAnswered })) > 0
	return r
}

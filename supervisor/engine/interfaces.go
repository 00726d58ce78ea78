package engine

import (
	"context"
	"encoding/json"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/records"
)

// The engine touches the machine through these interfaces only. Package host has them on the real one; the simulation
// plays them (simulation_test.go). A State never changes, so whatever is given one may read it in any goroutine.

// A Store keeps the records of runs.
type Store interface {
	// Load reads a run's records. A run that was forgotten meanwhile leaves nothing behind.
	Load(ctx context.Context, run string) (checkpoints.Loaded, error)

	// Commit saves a change, all of it or nothing. checkpoints.ErrInboxMoved is the error where the change depends on what
	// lies in the inbox, and more lies there than the engine has taken.
	Commit(ctx context.Context, c checkpoints.Change) error

	// Inbox returns what other processes have left for a run, with numbers over after, oldest first.
	Inbox(ctx context.Context, run string, after int64) ([]supervisor.InboxEntry, error)
}

// Processes are the agents' processes.
type Processes interface {
	// Start starts the process of an agent's present launch, as the state has it; lost tells what of the folder's own
	// files does not count. read is called with each of its messages, in order, and may block; the last is a procs.Exit.
	// It may be called before Start has returned.
	Start(s supervisor.State, agent string, read func(procs.Message)) (p Process, lost string, err error)

	// Sweep ends what is left of a launch of an earlier supervisor.
	Sweep(m procs.Marker) error
}

// A Process is one that was started. What writes to it fails with procs.ErrNotWaiting where the process does not wait
// for an answer any more, and in another way where it is dying.
type Process interface {
	PID() int
	StartTicks() uint64
	CPU() (time.Duration, error)
	// Send, Return and SendResults read the images, which they are told by their files in the folder of the run. One that
	// is not there, or is another, is left out, and the text says so.
	Send(uuid, text string, images ...procs.Image) error
	SendResults(uuid string, results []procs.CallResult) error
	Allow(request string, updatedInput json.RawMessage) error
	Deny(request, message string, interrupt bool) error
	Return(request, text string, isError bool, images ...procs.Image) error
	Elicit(request, action string, content json.RawMessage) error
	Gate(request, block string) error
	Expect(calls []string)

	// At is the line of its conversation at which it has begun, "" for its end; whyNot says why it is that, though it
	// was to be told of results (supervisor.State.ResultsFor).
	At() (line, whyNot string)

	// End ends the process and what it has started, by the stop ladder. It returns once nothing is left, or ctx has ended
	// and the rest was killed.
	End(ctx context.Context, how procs.Ending) []procs.Survivor

	// Close closes the process's log, after its exit. The error says that the log is not complete.
	Close() error
}

// A FileDrop is the folders of question and answer files, and the syncer that keeps them as the database has them.
type FileDrop interface {
	// Set takes the run's questions as they were saved. It does not block.
	Set(all []*supervisor.Question)

	Knows(id string) bool                         // whether a saved question stands in a file of an agent's script
	Saw(id string) (answer string, seen bool)     // the answer that was seen there last
	Awaited(open []*supervisor.Question) []string // the ids under which an answer to open questions may lie
	Question(id string) (*filedrop.QuestionFile, error)
	Answered(id string) bool

	// Put writes an answer where a script looks for it, in the place of one that somebody else has put there.
	Put(id, answer string) error

	// Askers returns the agents, of any run, whose processes may have put a question file there.
	Askers(f *filedrop.QuestionFile) ([]records.Asker, error)

	// Printed reports whether the newest part of an agent's log names an id.
	Printed(agent, id string) bool

	// TakeLying takes the answers that lie there already, before it is decided what their questions wait for.
	TakeLying(ctx context.Context, all []*supervisor.Question)

	// Loosen reports whether the folders are looked at every second only, without the kernel (watches). It does not block.
	Loosen(loose bool)

	// Run keeps the folders until ctx ends, and then looks at them for the last time.
	Run(ctx context.Context)
}

// A Waker says that the inbox ought to be looked at.
type Waker interface {
	C() <-chan struct{}
	Path() string
	Close() error
}

// Files are what the engine reads at once of what agents name. A read may hang: the disk is given a moment only.
type Files interface {
	// Look returns what a person is shown of a call.
	Look(tool string, input json.RawMessage, site ask.CallSite) ask.CallView

	// Stat reports, as an error, that nothing is at a path.
	Stat(path string) error

	// Locate returns a path as its links lead.
	Locate(path, cwd string) string

	// Keep copies the checkpoint that an agent names into the run's folder, under a name of its own.
	Keep(s supervisor.State, agent, path, name string) (*checkpoints.Checkpoint, error)

	// KeepImage copies an image that an agent names into the run's folder.
	KeepImage(s supervisor.State, agent, path string) (checkpoints.Image, error)
}

// A Machine is the rest of what a supervisor needs of the machine.
type Machine interface {
	// Own takes the right to supervise a run. checkpoints.ErrOwned is the error where another process has it.
	Own(ctx context.Context, run string) (release func(), err error)

	// Listen hangs up the run's wake-up socket.
	Listen(run string) (Waker, error)

	// Adopt has orphans of agents become children of this process.
	Adopt() error
	PID() int

	// OpenFileDrop opens the folders of question files; nil where there are none. What is seen there of files that are not
	// ours goes to news.
	OpenFileDrop(run string, news chan<- supervisor.FileEvent) (FileDrop, error)

	// WatchMemory calls short whenever memory is short, until ctx ends or the kernel says nothing of it; ShortOfMemory
	// looks once.
	WatchMemory(ctx context.Context, short func())
	ShortOfMemory() bool

	// Rest gives back the memory that is not needed while nothing happens.
	Rest()
}

// Executors do the effects that need more of the machine than a process or a question file. Each may block until ctx
// ends, and gives what it has found; none may be nil.
type Executors struct {
	// Survey writes the checkpoint of an ended launch. unread is what its agent said last and nobody has saved; c reads
	// it.
	Survey func(ctx context.Context, s supervisor.State, f effect.Effect,
		c *listen.Listener) (b supervisor.Surveyed, unread []signals.Signal)

	// Confirm looks in the transcript whether a delivery had reached the conversation.
	Confirm func(context.Context, supervisor.State, effect.Effect) supervisor.Confirmed

	// Check looks for the deliverables of a report.
	Check func(context.Context, supervisor.State, effect.Effect) supervisor.Checked

	// Place makes the folder ready in which an agent is about to work; Tidy looks through it when the agent is about to
	// end.
	Place func(context.Context, supervisor.State, effect.Effect) supervisor.Placed
	Tidy  func(context.Context, supervisor.State, effect.Effect) supervisor.Tidied
	// Moment keeps the work as it is, at a question of an agent.
	Moment func(context.Context, supervisor.State, effect.Effect) supervisor.MomentKept

	// Merge merges the findings of a run that has ended.
	Merge func(context.Context, supervisor.State, effect.Effect) supervisor.Merged

	// Prepare does what an answer needs before it is said; b has the ids for it.
	Prepare func(ctx context.Context, s supervisor.State, f effect.Effect, b supervisor.Prepared) supervisor.Prepared

	// Run runs the command that a person let run for an agent.
	Run func(context.Context, supervisor.State, effect.Effect) supervisor.RanCommand

	// Snapshot takes a snapshot of the run as s has it, whose last event is the one with the number seq. It calls captured
	// as soon as what is said to agents from then on is not in it: until then nothing is.
	Snapshot func(ctx context.Context, s supervisor.State, seq int64, captured func()) supervisor.Snapshotted
}

// A Lease is the right to go on with a run that somebody else may take over from a snapshot of it. Who has lost it is
// to say nothing to the agents and to begin no turn; a turn that is under way may end.
type Lease interface {
	// Claim takes the next epoch, where the run's own is still the last that was taken: *checkpoints.TakenOverError where
	// it is not.
	Claim(ctx context.Context, run string, epoch int) (int, error)

	// Check is nil as long as the run is this supervisor's, *checkpoints.TakenOverError once somebody goes on with it; any
	// other error means that this cannot be known now. It is asked before each thing that is said to an agent.
	Check(ctx context.Context) error

	// Changed has a value when Check may say something else than before. It may miss a change.
	Changed() <-chan struct{}
}

// A Clock says what time it is by the wall clock, which may jump. It must not be nil.
type Clock func() time.Time

// IDs makes ids that no other run has: of runs, questions and agents.
type IDs interface {
	Run() string
	Question() string
	Agent() string
}

package flow

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Names that a server and its histories keep: they may be added to, never changed.
const (
	WorkflowName = "claude-supervise.run"
	Supervise    = "claude-supervise.supervise" // the activity that has a run; on the queue of its labels
	Deliver      = "claude-supervise.deliver"   // gives a held question its answer; on the queue of one worker
	Halt         = "claude-supervise.halt"      // stops a run; on the queue of one worker
	GiveBack     = "claude-supervise.give-back" // has a worker give a run back; on the queue of that worker
	AgainName    = "claude-supervise.again"     // the workflow that begins an ended run again: Input
	SignalSeen   = "seen"                       // a worker to the workflow: Seen
	SignalNow    = "now"                        // what waits to be tried again is tried now: by whom
	UpdateAnswer = "answer"                     // Answer to Answered
	UpdateStop   = "stop"                       // by whom
	UpdateWait   = "wait"                       // ends when the run has ended or is parked: Listed; of old clients
	QueryRun     = "run"                        // Listed
	QueryInput   = "input"                      // Input: with what the run would be begun again
	MemoRun      = "run"                        // Listed, in lists

	// Search attributes. They are not encrypted: they hold words of ours and ids, never what was written by anybody.
	AttributeOpen   = "ClaudeSuperviseOpen"   // the ids of open questions: a list of keywords
	AttributeStatus = "ClaudeSuperviseStatus" // of the run: a keyword
)

// The kinds of errors that cross the fleet.
const (
	ErrNoQuestion = "no-question" // it is not open, and never was as far as the fleet knows
	ErrTaken      = "taken"       // somebody else was first
	ErrEnded      = "ended"       // the run has ended
	ErrRefused    = "refused"     // the run did not take the answer: the question stays open
	ErrNever      = "never"       // of Supervise: no worker can do this task, and why
)

// BaseQueue is the task queue of workflows, and of runs without labels.
const BaseQueue = "claude-supervise"

// Queue is the task queue of the runs with these labels, which are sorted and without doubles.
func Queue(labels []string) string {
	return strings.Join(append([]string{BaseQueue}, labels...), "/")
}

// A Task is what a run is to do, as it was handed in. It holds no token: workers have their own.
type Task struct {
	Run    string `json:"run"` // the id, of the run and of its workflow
	Name   string `json:"name,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	File   string `json:"file,omitempty"` // the text of a task file

	AnswersFile string `json:"answers_file,omitempty"` // the text of a file of answers in advance

	Exec     string        `json:"exec,omitempty"`   // the command in claude's place
	Flags    []string      `json:"flags,omitempty"`  // of run
	Given    []string      `json:"given,omitempty"`  // of Flags those that unpack takes: what the person grants the run
	Claude   []string      `json:"claude,omitempty"` // flags of claude
	Again    []string      `json:"again,omitempty"`  // those that a demo begins with by itself
	Repo     string        `json:"repo,omitempty"`   // what git clone takes; "": an empty folder
	Ref      string        `json:"ref,omitempty"`
	Labels   []string      `json:"labels,omitempty"`
	Lease    time.Duration `json:"lease"` // without a heartbeat for so long the run is taken elsewhere
	HandedIn time.Time     `json:"handed_in"`
	HandedBy string        `json:"handed_by,omitempty"`
}

// An Attempt is a run as one worker gets it: the worker has it until it says how it left it, or is not heard of.
type Attempt struct {
	Task    Task     `json:"task"`
	Epoch   int      `json:"epoch"`             // from 1
	Commit  string   `json:"commit,omitempty"`  // that Ref was when the run began
	Answers []Answer `json:"answers,omitempty"` // all that were acknowledged: those of open questions are given
	Retry   bool     `json:"retry,omitempty"`   // what failed is tried again
	Revive  int      `json:"revive,omitempty"`  // the run goes on though it has ended in this epoch, or before

	Kept string `json:"kept,omitempty"` // a snapshot that was in the blob store, as Seen has it; "": there was none
}

// An Outcome says how a worker left a run.
type Outcome struct {
	Seen Seen `json:"seen"`
	Code int  `json:"code"`           // as `claude-supervise run` exits
	Back bool `json:"back,omitempty"` // the worker leaves: somebody else is to go on
	Full bool `json:"full,omitempty"` // the worker had no room, and has not touched the run
}

// Seen is what a worker sees of a run.
type Seen struct {
	Epoch     int                 `json:"epoch"`
	Worker    string              `json:"worker"` // its name, for people
	Queue     string              `json:"queue"`  // where it takes answers
	Commit    string              `json:"commit,omitempty"`
	Run       *view.RunView       `json:"run,omitempty"`
	Questions []view.QuestionView `json:"questions,omitempty"` // that are open, and in a snapshot that is safe
	Notes     []string            `json:"notes,omitempty"`     // what a person should know of it
	Kept      string              `json:"kept,omitempty"`      // the newest snapshot in the blob store (later: higher)
	Left      int                 `json:"left,omitempty"`      // as the supervisor exited that has parked it; 0: none has
}

// An Answer is what a person answers to a question.
type Answer struct {
	Question string    `json:"question"`
	Text     string    `json:"text"`
	Skip     bool      `json:"skip,omitempty"`
	Decline  bool      `json:"decline,omitempty"`
	AllLike  bool      `json:"all_like,omitempty"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// Answered says what became of an answer.
type Answered struct {
	Given bool `json:"given"` // to the run, by the worker that has it; else it is kept until one has it
}

// A Delivery is an answer on its way to the worker that has the run.
type Delivery struct {
	Run    string `json:"run"`
	Epoch  int    `json:"epoch"`
	Answer Answer `json:"answer"`
}

// A Stopping is a stop on its way to the worker that has the run.
type Stopping struct {
	Run   string `json:"run"`
	Epoch int    `json:"epoch"`
	By    string `json:"by"`
}

// A GivingBack asks the worker that has a run to give it back.
type GivingBack struct {
	Run   string `json:"run"`
	Epoch int    `json:"epoch"`
}

var runID = regexp.MustCompile(`^r-[a-z0-9]{8}$`)

// IsRun reports whether a text is the id of a run, and so no path and no part of a query.
func IsRun(id string) bool { return runID.MatchString(id) }

// Listed is a run as lists of the fleet have it. It is bounded (listed.go).
type Listed struct {
	view.RunView
	Worker string   `json:"worker"` // "": none has it
	Queue  string   `json:"queue"`  // that only this worker reads
	Epoch  int      `json:"epoch"`
	Labels []string `json:"labels"`
	Notes  []string `json:"notes"`
	Left   int      `json:"left,omitempty"` // as the supervisor exited that has parked it; 0: it is not parked

	Questions []view.QuestionView `json:"questions"`
	Answered  []Answer            `json:"answered"` // the latest answers that were acknowledged
}

// Parked reports whether no worker has the run, for it waits for an answer.
func (l Listed) Parked() bool { return l.ExitCode == nil && l.Worker == "" && l.Status != StatusQueued }

// Code is what a command that waits for a run exits with once the run has ended, or is parked: the code of
// `claude-supervise run`. A worker of an earlier release does not say how the supervisor exited that has parked it.
func (l Listed) Code() int {
	if l.ExitCode != nil {
		return *l.ExitCode
	}
	return cmp.Or(l.Left, supervisor.ExitParked)
}

// Why says why the run stands as it does, and the last thing that befell it.
func (l Listed) Why() string {
	if len(l.Notes) == 0 {
		return l.Reason
	}
	last := l.Notes[len(l.Notes)-1]
	if l.Reason == "" {
		return last
	}
	return l.Reason + " · " + last
}

// Attributes are the search attributes that a namespace of a fleet needs.
func Attributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{
		AttributeOpen:   enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
		AttributeStatus: enums.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

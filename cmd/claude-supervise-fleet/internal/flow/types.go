package flow

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/supervisor/exit"
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
	SignalNow    = "now"                        // what waits to be tried again is tried now: Now
	UpdateAnswer = "answer"                     // Answer to Answered
	UpdateStop   = "stop"                       // Stop
	UpdateWait   = "wait"                       // ends when the run has ended or is parked: Listed; of old clients
	QueryRun     = "run"                        // Listed
	QueryInput   = "input"                      // Resumable: with what the run would be begun again
	MemoRun      = "run"                        // Listed, in lists

	// Search attributes. They are not encrypted: they hold words of ours and ids, never what was written by anybody.
	AttributeOpen   = "ClaudeSuperviseOpen"   // the ids of open questions: a list of keywords
	AttributeStatus = "ClaudeSuperviseStatus" // of the run: a keyword

	AttributeChanged = "ClaudeSuperviseChanged" // when what lists have of the run changed last: a time
	// When the first of its open questions was asked: a time. A namespace may lack it: lists are read whole then.
	AttributeAskedAt = "ClaudeSuperviseAskedAt"
)

// The kinds of errors that cross the fleet.
const (
	ErrNoQuestion = "no-question" // it is not open, and never was as far as the fleet knows
	ErrTaken      = "taken"       // somebody else was first
	ErrEnded      = "ended"       // the run has ended
	ErrRefused    = "refused"     // the run did not take the answer: the question stays open
	ErrNever      = "never"       // of Supervise: no worker can do this task, and why
	ErrHad        = "had"         // of Supervise: the epoch was had before; details: the last one that was
	ErrForeign    = "foreign"     // what was said was not said to this run, or was said before
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
	seal.Mark `json:"-"`

	Seen Seen `json:"seen"`
	Code int  `json:"code"`           // as `claude-supervise run` exits
	Back bool `json:"back,omitempty"` // the worker leaves: somebody else is to go on
	Full bool `json:"full,omitempty"` // the worker had no room, and has not touched the run
}

// Seen is what a worker sees of a run.
type Seen struct {
	seal.Mark `json:"-"`

	Seq       int            `json:"seq,omitempty"` // of what is told in an epoch, from 1; 0: it is not counted
	Epoch     int            `json:"epoch"`
	Worker    string         `json:"worker"` // its name, for people
	Queue     string         `json:"queue"`  // where it takes answers
	Commit    string         `json:"commit,omitempty"`
	Run       *RunInfo       `json:"run,omitempty"`
	Questions []QuestionInfo `json:"questions,omitempty"` // that are open, and in a snapshot that is safe
	Notes     []string       `json:"notes,omitempty"`     // what a person should know of it
	Kept      string         `json:"kept,omitempty"`      // the newest snapshot in the blob store (later: higher)
	Left      int            `json:"left,omitempty"`      // as the supervisor exited that has parked it; 0: none has
}

// An Answer is what a person answers to a question.
type Answer struct {
	seal.Mark `json:"-"` // ID: of the update

	Question string    `json:"question"`
	Text     string    `json:"text"`
	Skip     bool      `json:"skip,omitempty"`
	Decline  bool      `json:"decline,omitempty"`
	AllLike  bool      `json:"all_like,omitempty"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// A Stop ends a run. As JSON it is who wants that.
type Stop struct {
	seal.Mark        // ID: of the update; Execution: of the run
	By        string // for people
}

// MarshalJSON returns who wants it.
func (s Stop) MarshalJSON() ([]byte, error) { return json.Marshal(s.By) }

// UnmarshalJSON reads who wants it.
func (s *Stop) UnmarshalJSON(doc []byte) error { return json.Unmarshal(doc, &s.By) }

// A Now has what waits to be tried again tried at once. As JSON it is who wants that.
type Now struct {
	seal.Mark
	By string
}

// MarshalJSON returns who wants it.
func (n Now) MarshalJSON() ([]byte, error) { return json.Marshal(n.By) }

// UnmarshalJSON reads who wants it.
func (n *Now) UnmarshalJSON(doc []byte) error { return json.Unmarshal(doc, &n.By) }

// Answered says what became of an answer.
type Answered struct {
	Given  bool   `json:"given"`            // to the run, by the worker that has it; else it is kept until one has it
	Update string `json:"update,omitempty"` // whose result this is
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

// ForRun names the run that it is of.
func (a Attempt) ForRun() string { return a.Task.Run }

// ForRun names the run that it is of; "": it says nothing of one yet.
func (o Outcome) ForRun() string { return o.Seen.ForRun() }

// ForRun names the run that it is of; "": it says nothing of one yet.
func (s Seen) ForRun() string {
	if s.Run == nil {
		return ""
	}
	return s.Run.ID
}

// ForRun names the run that it is of.
func (d Delivery) ForRun() string { return d.Run }

// ForRun names the run that it is of.
func (s Stopping) ForRun() string { return s.Run }

// ForRun names the run that it is of.
func (g GivingBack) ForRun() string { return g.Run }

// ForRun names the run that it is of.
func (l Listed) ForRun() string { return l.ID }

var runID = regexp.MustCompile(`^r-[a-z0-9]{8}$`)

// IsRun reports whether a text is the id of a run, and so no path and no part of a query.
func IsRun(id string) bool { return runID.MatchString(id) }

var otherID = regexp.MustCompile(`^(q-[a-z0-9]{6}|a-[A-Za-z0-9]{12})$`)

// IsOther reports whether a text is the id of something that is no run: of a question or an agent.
func IsOther(id string) bool { return otherID.MatchString(id) && !IsRun(id) }

// Listed is a run as lists of the fleet have it. It is bounded (listed.go).
type Listed struct {
	RunInfo
	Worker string   `json:"worker"` // "": none has it
	Queue  string   `json:"queue"`  // that only this worker reads
	Epoch  int      `json:"epoch"`
	Labels []string `json:"labels"`
	Notes  []string `json:"notes"`
	Left   int      `json:"left,omitempty"` // as the supervisor exited that has parked it; 0: it is not parked

	Questions []QuestionInfo `json:"questions"`
	Answered  []Answer       `json:"answered"` // the latest answers that were acknowledged

	// When this changed last, by the server's clock; zero: it does not say so, or no worker has read the run.
	Changed time.Time `json:"-"`
}

// WithLists returns the run with empty lists where it has none, as programs read them: a run that no worker has read.
func (l Listed) WithLists() Listed {
	l.Agents, l.Questions = slices.Clone(l.Agents), slices.Clone(l.Questions)
	for i := range l.Agents {
		fill(&l.Agents[i].OpenQuestions)
	}
	for i := range l.Questions {
		fill(&l.Questions[i].Options)
	}
	fill(&l.Agents)
	fill(&l.Questions)
	fill(&l.Answered)
	fill(&l.OpenQuestions)
	fill(&l.Labels)
	fill(&l.Notes)
	return l
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

// Agent returns an agent of the run by its id; false if lists have none of that id.
func (l Listed) Agent(id string) (AgentInfo, bool) {
	at := slices.IndexFunc(l.Agents, func(a AgentInfo) bool { return a.ID == id })
	if at < 0 {
		return AgentInfo{}, false
	}
	return l.Agents[at], true
}

// Parked reports whether no worker has the run, for it waits for an answer.
func (l Listed) Parked() bool { return l.ExitCode == nil && l.Worker == "" && l.Status != StatusQueued }

// Code is what a command that waits for a run exits with once the run has ended, or is parked: the code of
// `claude-supervise run`. A worker of an earlier release does not say how the supervisor exited that has parked it.
func (l Listed) Code() int {
	if l.ExitCode != nil {
		return *l.ExitCode
	}
	return cmp.Or(l.Left, exit.Parked)
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

// Attributes are the search attributes that a namespace of a fleet has.
func Attributes() map[string]enums.IndexedValueType {
	return map[string]enums.IndexedValueType{
		AttributeOpen:    enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
		AttributeStatus:  enums.INDEXED_VALUE_TYPE_KEYWORD,
		AttributeChanged: enums.INDEXED_VALUE_TYPE_DATETIME,
		AttributeAskedAt: enums.INDEXED_VALUE_TYPE_DATETIME,
	}
}

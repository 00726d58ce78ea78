package checkpoints

import (
	"encoding/json"
	"time"
)

// Status is the state of an agent or run, in the words that every reader sees.
type Status string

// The statuses. A run's is its root agent's; Orphaned is concluded by readers and never stored.
const (
	Queued      Status = "queued"
	Starting    Status = "starting"
	Running     Status = "running"
	Waiting     Status = "waiting" // process held, question open
	Parked      Status = "parked"  // no process, question open
	Blocked     Status = "blocked" // the turn has ended; background work of its own, or a child, still lives
	Limited     Status = "limited"
	OverBudget  Status = "over_budget"
	Stopping    Status = "stopping"
	Interrupted Status = "interrupted" // no process, nothing asked: resume goes on
	Succeeded   Status = "succeeded"
	Partial     Status = "partial"
	Failed      Status = "failed"
	Unreported  Status = "unreported"
	Stopped     Status = "stopped"
	Orphaned    Status = "orphaned"
)

// Ended tells whether an agent of this status is done for good.
func (s Status) Ended() bool {
	switch s {
	case Succeeded, Partial, Failed, Unreported, Stopped:
		return true
	}
	return false
}

// A Run is one `claude-supervise run`. Config is the supervisor's own (opaque here).
type Run struct {
	ID        string          `json:"id"`
	Name      string          `json:"name,omitempty"`
	Cwd       string          `json:"cwd"`
	Root      string          `json:"root"` // agent id
	Status    Status          `json:"status"`
	Reason    string          `json:"reason"`
	Since     time.Time       `json:"since"`
	StartedAt time.Time       `json:"started_at"`
	EndedAt   *time.Time      `json:"ended_at,omitempty"`
	ExitCode  *int            `json:"exit_code,omitempty"`
	Epoch     int             `json:"epoch"` // how many supervisors have owned the run; the present one's number
	PID       int             `json:"pid"`   // of the supervisor of this epoch
	Bell      string          `json:"bell,omitempty"`
	Leaving   string          `json:"leaving,omitempty"` // why this epoch's supervisor is on its way out: ended, parked, interrupted
	Left      string          `json:"left,omitempty"`    // the same, once it has gone on purpose; empty with a free lock means orphaned
	Config    json.RawMessage `json:"config,omitempty"`
}

// An Agent is one task with one conversation.
type Agent struct {
	ID           string     `json:"id"`
	Run          string     `json:"run"`
	Parent       string     `json:"parent,omitempty"`
	Depth        int        `json:"depth"`
	Task         string     `json:"task"` // the prompt as the person gave it
	Status       Status     `json:"status"`
	Reason       string     `json:"reason"`
	Since        time.Time  `json:"since"`
	SessionID    string     `json:"session_id"`
	Launches     int        `json:"launches"` // how many launches there were; the last one's number
	NotBefore    *time.Time `json:"not_before,omitempty"`
	HoldUntil    *time.Time `json:"hold_until,omitempty"`
	Failures     int        `json:"failures,omitempty"` // passing failures in a row
	Report       *Report    `json:"report,omitempty"`
	Sayings      []Saying   `json:"sayings,omitempty"`     // what waits to be said to it, in the order it happened
	GoOn         bool       `json:"go_on,omitempty"`       // a turn was lost: unless there is something else to say, it is told to go on
	Fresh        bool       `json:"fresh,omitempty"`       // its session is gone: the next launch begins a new one with the checkpoint
	Checkpoint   string     `json:"checkpoint,omitempty"`  // what a fresh session is told of the work so far
	StopWanted   string     `json:"stop_wanted,omitempty"` // a person asked for its end: who
	Fault        string     `json:"fault,omitempty"`       // what sort of failure ended it: start, budget, login, limit, api, crash, question, gave_up
	FaultReason  string     `json:"fault_reason,omitempty"`
	SentOn       bool       `json:"sent_on,omitempty"`      // the gate has sent it on once for want of a report
	ToldMissing  bool       `json:"told_missing,omitempty"` // it was told once which deliverables are missing
	Without      []string   `json:"without,omitempty"`      // flags that the found release refused
	Priority     string     `json:"priority,omitempty"`
	CostUSD      float64    `json:"cost_usd"`
	InputTokens  int64      `json:"input_tokens"`
	OutputTokens int64      `json:"output_tokens"`
	EndedAt      *time.Time `json:"ended_at,omitempty"`
}

// A Report is an agent's completion report, with what was found on disk.
type Report struct {
	Status          string   `json:"status"` // success, partial_success, failed
	Summary         string   `json:"summary"`
	Deliverables    string   `json:"deliverables,omitempty"` // as written
	Files           []string `json:"files,omitempty"`        // those of them that name a file
	Metrics         string   `json:"metrics,omitempty"`
	Issues          string   `json:"issues,omitempty"`
	Recommendations string   `json:"recommendations,omitempty"`
	Duration        string   `json:"duration,omitempty"`
	Checked         bool     `json:"checked,omitempty"` // the deliverables were looked for
	Missing         []string `json:"missing,omitempty"` // those that were not there
}

// A Saying is one thing that waits to be said to an agent: the answers of a group of questions, or a text of ours.
type Saying struct {
	Key   string    `json:"key"`             // stable; the delivery's uuid is derived from it
	Group string    `json:"group,omitempty"` // answers of this question group
	Text  string    `json:"text,omitempty"`
	At    time.Time `json:"at"`
}

// LaunchState is how far a launch has got.
type LaunchState string

// The states of a launch. Intended is saved before the exec.
const (
	LaunchIntended LaunchState = "intended"
	LaunchStarted  LaunchState = "started"
	LaunchEnded    LaunchState = "ended"
)

// A Launch is one process of an agent.
type Launch struct {
	Agent      string      `json:"agent"`
	N          int         `json:"n"`
	Epoch      int         `json:"epoch"` // of the supervisor that made it
	State      LaunchState `json:"state"`
	Resume     bool        `json:"resume"` // --resume SESSION, else a fresh conversation
	PID        int         `json:"pid,omitempty"`
	StartTicks uint64      `json:"start_ticks,omitempty"` // with PID the identity of the process
	StartedAt  *time.Time  `json:"started_at,omitempty"`
	EndedAt    *time.Time  `json:"ended_at,omitempty"`
	Turn       bool        `json:"turn"`                 // a turn is under way
	Heard      bool        `json:"heard,omitempty"`      // the conversation exists: the CLI has begun a turn
	Background []string    `json:"background,omitempty"` // what lives on after a turn
	WakeUps    []string    `json:"wake_ups,omitempty"`   // scheduled; each starts a turn by itself
	Gate       *Gate       `json:"gate,omitempty"`       // a stop hook that waits for its reply
	Turns      int         `json:"turns"`                // ended turns
	End        string      `json:"end,omitempty"`        // why we end it: finish, park, stop, interrupt, fail, recover
	EndReason  string      `json:"end_reason,omitempty"` // for people
	Outcome    string      `json:"outcome,omitempty"`    // how it ended, for people
	Surveyed   bool        `json:"surveyed,omitempty"`   // its checkpoint was written
	Transcript string      `json:"transcript,omitempty"` // path, once the CLI has said it
}

// A Gate is one stop hook request and what was decided on it.
type Gate struct {
	Request string `json:"request"`
	Block   string `json:"block,omitempty"` // the reason the agent is sent on with; empty lets the turn end
}

// QuestionKind is what sort of decision is asked for.
type QuestionKind string

// The kinds of question.
const (
	AskClarification QuestionKind = "clarification"
	AskBlocker       QuestionKind = "blocker"
	AskPermission    QuestionKind = "permission"
	AskDelegation    QuestionKind = "delegation"
	AskBudget        QuestionKind = "budget"
	AskCommand       QuestionKind = "command"
	AskFile          QuestionKind = "file"
)

// QuestionState is how far a question has got.
type QuestionState string

// The states of a question: open → answered → delivered, or withdrawn.
const (
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionDelivered QuestionState = "delivered"
	QuestionWithdrawn QuestionState = "withdrawn"
)

// A Question is one thing a person answers. Questions of one signal or call share a Group.
type Question struct {
	ID          string          `json:"id"`
	Run         string          `json:"run"`
	Agent       string          `json:"agent"`
	Group       string          `json:"group"`
	Index       int             `json:"index"` // place in the group, from 0
	Own         string          `json:"own"`   // the agent's own id of it, e.g. Q1
	Kind        QuestionKind    `json:"kind"`
	State       QuestionState   `json:"state"`
	Header      string          `json:"header,omitempty"`
	Text        string          `json:"text"`
	Context     string          `json:"context,omitempty"`
	Options     []Option        `json:"options,omitempty"`
	MultiSelect bool            `json:"multi_select,omitempty"`
	Validate    string          `json:"validate,omitempty"`
	Optional    bool            `json:"optional,omitempty"`
	Noticed     int             `json:"noticed,omitempty"` // epoch in which its one notice was given
	Fingerprint string          `json:"fingerprint"`       // of the signal or call, without its time
	Signal      json.RawMessage `json:"signal,omitempty"`  // the signal it came from
	Tool        *ToolCall       `json:"tool,omitempty"`    // the call it came from
	AskedAt     time.Time       `json:"asked_at"`
	Answer      string          `json:"answer,omitempty"`
	Skipped     bool            `json:"skipped,omitempty"`
	AnsweredAt  *time.Time      `json:"answered_at,omitempty"`
	AnsweredBy  string          `json:"answered_by,omitempty"`
	Delivering  bool            `json:"delivering,omitempty"`  // its delivery has begun: the answer can no longer be changed
	GrantSpent  bool            `json:"grant_spent,omitempty"` // a permission given while parked was used by the relaunch
}

// An Option is one offered answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// A ToolCall is the control request that a question came from.
type ToolCall struct {
	Launch  int             `json:"launch"`
	Request string          `json:"request"`
	ToolUse string          `json:"tool_use"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
}

// DeliveryState is how far a delivery has got.
type DeliveryState string

// The states of a delivery. Sent with its launch over means: look in the transcript, then send again or not.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliverySent      DeliveryState = "sent"
	DeliveryStarted   DeliveryState = "started"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryDropped   DeliveryState = "dropped" // replaced by another that carries its content
)

// A Delivery is one thing said to an agent, exactly once. UUID is derived from Key, so a second sending is the same message.
type Delivery struct {
	UUID      string          `json:"uuid"`
	Agent     string          `json:"agent"`
	Key       string          `json:"key"`
	Seq       int             `json:"seq"` // order within the run
	State     DeliveryState   `json:"state"`
	Launch    int             `json:"launch,omitempty"` // the launch it was last sent to
	Turn      int             `json:"turn,omitempty"`   // how many turns of that launch had ended then
	Text      string          `json:"text,omitempty"`   // a prompt
	Tool      *ToolCall       `json:"tool,omitempty"`   // or the answer to this call
	Reply     json.RawMessage `json:"reply,omitempty"`  // the body of that answer
	Groups    []string        `json:"groups,omitempty"` // question groups whose answers it carries
	Grant     string          `json:"grant,omitempty"`  // the question whose permission, given while parked, it spends
	CreatedAt time.Time       `json:"created_at"`
}

// An Event is one thing that happened, as history. Doc is the supervisor's own form of it.
type Event struct {
	Run  string          `json:"run"`
	Seq  int64           `json:"seq"` // from 1, without gaps in a run
	At   time.Time       `json:"at"`
	Type string          `json:"type"`
	Doc  json.RawMessage `json:"doc"`
}

// A Note is one row of the inbox: what another process (or this one's terminal) leaves for a run.
type Note struct {
	Seq      int64     `json:"seq"`
	Run      string    `json:"run"`
	Kind     string    `json:"kind"` // answer, change, stop, resume
	Question string    `json:"question,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Value    string    `json:"value,omitempty"`
	Skip     bool      `json:"skip,omitempty"`
	Only     bool      `json:"only,omitempty"` // stop: that agent, not what it started
	By       string    `json:"by"`             // who, for people: "terminal pts/3", "answer (pid 123)", "--answer"
	At       time.Time `json:"at"`
}

package checkpoints

import (
	"cmp"
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

// Ended reports whether an agent of this status is done for good.
func (s Status) Ended() bool {
	switch s {
	case Succeeded, Partial, Failed, Unreported, Stopped:
		return true
	}
	return false
}

// A Run is one `claude-supervise run`. Config is the supervisor's own (opaque here).
type Run struct {
	ID        string     `json:"id"`
	Name      string     `json:"name,omitempty"`
	Cwd       string     `json:"cwd"`
	Root      string     `json:"root"` // agent id
	Status    Status     `json:"status"`
	Reason    string     `json:"reason"`
	Since     time.Time  `json:"since"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
	ExitCode  *int       `json:"exit_code,omitempty"`
	Epoch     int        `json:"epoch"` // how many supervisors have owned the run; the present one's number
	PID       int        `json:"pid"`   // of the supervisor of this epoch
	Waker     string     `json:"bell,omitempty"`
	Program   string     `json:"program,omitempty"` // of that supervisor: its absolute path
	// why this epoch's supervisor is on its way out: ended, parked, interrupted
	Leaving   string `json:"leaving,omitempty"`
	Announced string `json:"announced,omitempty"` // that the person's command was told of this leaving
	// the same, once it has gone on purpose; empty with a free lock means orphaned
	Left string `json:"left,omitempty"`
	// until when the account's usage limit keeps agents from being launched
	Limited   *time.Time `json:"limited,omitempty"`
	LimitedBy string     `json:"limited_by,omitempty"` // that limit, in the API's words
	Pressure  *Pressure  `json:"pressure,omitempty"`   // nil: as many processes may be at work as the person lets
	// what became of the findings that its agents shared, once it has ended
	Merged *Merged `json:"merged,omitempty"`
	// the file it was packed into: it goes on wherever that is unpacked, not here
	Packed string `json:"packed,omitempty"`
	// the file it came out of: what was granted it before was not taken along
	FromPack string `json:"from_pack,omitempty"`
	// since when answers and messages have keys of their own: when it was first unpacked
	KeyedSince *time.Time `json:"keyed_since,omitempty"`
	Snapshots  *Snapshots `json:"snapshots,omitempty"` // nil: none were taken, and none are wanted
	// somebody goes on with it from a snapshot
	TakenOver *TakenOver `json:"taken_over,omitempty"`
	// why it is not known whether somebody does: until it is, no turn is begun
	Unleased string          `json:"unleased,omitempty"`
	Forked   *Forked         `json:"forked,omitempty"` // nil: it was begun with a task, and not with another answer
	Config   json.RawMessage `json:"config,omitempty"`
}

// An Agent is one task with one conversation.
type Agent struct {
	ID              string     `json:"id"`
	Run             string     `json:"run"`
	Parent          string     `json:"parent,omitempty"`
	Depth           int        `json:"depth"`
	Seq             int        `json:"seq,omitempty"` // place in the order in which they came, the root's being 0
	Task            string     `json:"task"`          // the prompt as given, with what a task file says beside it
	SuccessCriteria []string   `json:"success_criteria,omitempty"`
	Deliverables    []string   `json:"deliverables,omitempty"` // files among them are looked for on disk
	Status          Status     `json:"status"`
	Reason          string     `json:"reason"`
	Since           time.Time  `json:"since"`
	Priority        string     `json:"priority,omitempty"`  // P0, P1 or P2: P0 goes first
	Group           bool       `json:"group,omitempty"`     // it has no conversation, and ends when its children have
	Subagents       bool       `json:"subagents,omitempty"` // it has started some, with a tool of claude's
	Delegated       *Delegated `json:"delegated,omitempty"` // how it came about; nil for the root
	QueuedAt        *time.Time `json:"queued_at,omitempty"` // since when it waits until a process of it may start
	EndedAt         *time.Time `json:"ended_at,omitempty"`

	Conversation
	Reporting
	Ending
	Bounds
	Usage
	Pace
	Workplace
}

// A Conversation is how far an agent and its supervisor are in what they say to each other.
type Conversation struct {
	SessionID   string       `json:"session_id"`
	From        string       `json:"from,omitempty"`         // the session with whose conversation its own begins, if any
	ContinuedBy string       `json:"continued_by,omitempty"` // the agent that goes on with it, and counts in its place
	Launches    int          `json:"launches"`               // how many launches there were; the last one's number
	Fresh       bool         `json:"fresh,omitempty"`        // its session is gone: the next launch begins a new one
	GoOn        bool         `json:"go_on,omitempty"`        // a turn was lost: it is told to go on, if nothing else
	Without     []string     `json:"without,omitempty"`      // flags that the found release refused
	Checkpoint  string       `json:"checkpoint,omitempty"`   // what a fresh session is told of the work so far
	Kept        *Kept        `json:"kept,omitempty"`         // the checkpoint that it left itself, the last
	Outbox      []OutboxItem `json:"sayings,omitempty"`      // what waits to be said to it, in the order it happened
}

// Reporting is what an agent says of its work, and was told of that.
type Reporting struct {
	Report *Report `json:"report,omitempty"`
	// what its subagents have reported: news for it, and not its own report
	Parts           []PartReport `json:"parts,omitempty"`
	Progress        *Progress    `json:"progress,omitempty"`     // as it last told it
	ReportRequested bool         `json:"sent_on,omitempty"`      // the gate has sent it on once for want of a report
	ToldMissing     bool         `json:"told_missing,omitempty"` // it was told once which deliverables are missing
}

// An Ending is why an agent is to end, or has failed.
type Ending struct {
	StopWanted  string `json:"stop_wanted,omitempty"` // a person asked for its end: who
	StopOnly    bool   `json:"stop_only,omitempty"`   // and not of what it has started, which goes on under the next above
	Fault       string `json:"fault,omitempty"`       // the sort of failure: start, budget, login, limit, api, crash, …
	FaultReason string `json:"fault_reason,omitempty"`
	Failures    int    `json:"failures,omitempty"` // passing failures in a row
}

// Bounds are what an agent and all below it may use, and what keeps it from going on for a while.
type Bounds struct {
	Budget    *Budget    `json:"budget,omitempty"`     // nil: what those above it may
	Exceeds   string     `json:"exceeds,omitempty"`    // over_budget: the agent, itself or one above, whose budget it is
	FinishBy  int        `json:"finish_by,omitempty"`  // told to finish up, it may make so many requests in all
	LimitedBy string     `json:"limited_by,omitempty"` // the usage limit for which it rests until NotBefore
	Rejected  int        `json:"rejected,omitempty"`   // how often in a row its requests have met a usage limit
	NotBefore *time.Time `json:"not_before,omitempty"`
	HoldUntil *time.Time `json:"hold_until,omitempty"`
}

// Usage is what an agent has used.
type Usage struct {
	ToolUses      int           `json:"tool_uses,omitempty"`
	Turns         int           `json:"turns,omitempty"` // requests of its own conversation, as claude counts them
	CostUSD       float64       `json:"cost_usd"`
	InputTokens   int64         `json:"input_tokens"` // caches included
	OutputTokens  int64         `json:"output_tokens"`
	CacheRead     int64         `json:"cache_read_tokens,omitempty"`     // of the input: what came from a cache,
	CacheCreation int64         `json:"cache_creation_tokens,omitempty"` // and what was put into one
	ServiceTier   string        `json:"service_tier,omitempty"`          // of the last turn whose result says it
	Worked        time.Duration `json:"worked,omitempty"`                // of any of them, where Budget bounds it
}

// A Pace is how long an agent's task takes, by the estimate that came with it.
type Pace struct {
	Estimate    time.Duration `json:"estimate,omitempty"`     // 0: there is none, or none that can be read
	Overdue     *time.Time    `json:"overdue,omitempty"`      // when it takes longer, once it has begun
	ToldOverdue bool          `json:"told_overdue,omitempty"` // the person was told that it does
}

// A Workplace is where an agent works.
type Workplace struct {
	Cwd      string    `json:"cwd,omitempty"`      // its folder, absolute; "": its parent's, the root's is the run's
	Placing  bool      `json:"placing,omitempty"`  // it is about to be launched: its folder is made ready
	Placed   bool      `json:"placed,omitempty"`   // that is done
	Tidying  bool      `json:"tidying,omitempty"`  // it is about to end: its worktree is looked through
	Gone     []string  `json:"gone,omitempty"`     // files that the context of its task names and that are nowhere
	Beyond   []string  `json:"beyond,omitempty"`   // those that are only where its worktree was made from, absolute
	Worktree *Worktree `json:"worktree,omitempty"` // nil: it works in the folder of its parent
}

// A Budget bounds what an agent and all below it may use together. A zero field bounds nothing.
type Budget struct {
	CostUSD float64       `json:"cost_usd,omitempty"`
	Tokens  int64         `json:"tokens,omitempty"` // input and output, caches included
	Time    time.Duration `json:"time,omitempty"`   // in which any of them is at work
	Turns   int           `json:"turns,omitempty"`  // requests of their own conversations, as claude counts them
}

// Used is what the turn under way of a launch has used: of a turn that has ended, its result tells.
type Used struct {
	InputTokens  int64 `json:"input_tokens,omitempty"` // caches included
	OutputTokens int64 `json:"output_tokens,omitempty"`
	Turns        int   `json:"turns,omitempty"`
	Reported     bool  `json:"reported,omitempty"` // the agent has reported its end since the last request
}

// Exceeded is what a question about a budget is about.
type Exceeded struct {
	What  string  `json:"what"`  // cost, tokens, time or turns
	Bound float64 `json:"bound"` // in dollars, tokens, seconds or turns
	Used  float64 `json:"used"`  // the same
}

// Pressure is why fewer processes may be at work than the person lets.
type Pressure struct {
	Parallel int       `json:"parallel"` // how many may
	By       string    `json:"by"`       // in words
	At       time.Time `json:"at"`       // when that last changed
}

// Independence says how the work of a child and that of its parent hang together, in the words of the protocols
// document (002).
type Independence string

// The kinds of independence. A child gates unless it is Optional: its parent is not done before it.
const (
	Parallel Independence = "can_proceed_parallel"
	Blocks   Independence = "blocks_current_work"
	Optional Independence = "optional"
)

// Delegated is what was said of a child's task by whoever gave it: its parent, a task file, or a run inside an agent.
type Delegated struct {
	// the question whether it may start; "" where nobody had to be asked
	Question     string       `json:"question,omitempty"`
	Independence Independence `json:"independence,omitempty"`
	Name         string       `json:"name,omitempty"`  // what a task file calls it
	Item         string       `json:"item,omitempty"`  // of a task of a pool: what it is about, whole
	After        []string     `json:"after,omitempty"` // agents that have to succeed before it begins
	Reason       string       `json:"reason,omitempty"`
	Context      string       `json:"context,omitempty"`      // context_required, as written
	Coordination string       `json:"coordination,omitempty"` // as written
	Estimated    string       `json:"estimated,omitempty"`    // as written
	Type         string       `json:"type,omitempty"`         // the kind of agent, as claude knows it
	Model        string       `json:"model,omitempty"`
	MaxTurns     int          `json:"max_turns,omitempty"`
	Fingerprint  string       `json:"fingerprint,omitempty"` // of the signal or call that asked for it
	// it was asked for by a run that was started inside its parent
	Nested *Nested `json:"nested,omitempty"`
	Told   bool    `json:"told,omitempty"` // its end is among what is said to its parent, or was
}

// Nested is what is known of the run, started inside an agent, that asked for another agent. Its process is a client:
// it waits for the end of the new agent and tells it where it was started.
type Nested struct {
	Clients int             `json:"clients,omitempty"` // how many wait: the parent is told by them, and not by a prompt
	Seen    *Turn           `json:"seen,omitempty"`    // the turn of the parent in which one of them has told it the end
	Work    json.RawMessage `json:"work,omitempty"`    // of a question: what is asked for, in the supervisor's own form
}

// A Turn is one turn of an agent: how many its launch had ended before.
type Turn struct {
	Launch int `json:"launch"`
	Before int `json:"before"`
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

	// said by a subagent, which an older release took for the agent's own until that came
	BySubagent bool `json:"by_subagent,omitempty"`
}

// A PartReport is what a subagent has reported of its part of the work, the last of each.
type PartReport struct {
	N  int       `json:"n"` // counts the agent's, from 1
	By Subagent  `json:"by"`
	At time.Time `json:"at"`
	Report
}

// Progress is how far an agent says that it is, in its own words.
type Progress struct {
	Percent string    `json:"percent,omitempty"`
	Step    string    `json:"step,omitempty"`
	ETA     string    `json:"eta,omitempty"`
	Of      string    `json:"of,omitempty"` // its task in a few words, if a subagent tells it; "": the agent itself
	At      time.Time `json:"at"`
}

// An OutboxItem is one thing that waits to be said to an agent: the answers of a group of questions, or a text of ours.
type OutboxItem struct {
	Key       string    `json:"key"`             // stable; the delivery's uuid is derived from it
	Group     string    `json:"group,omitempty"` // answers of this question group
	Text      string    `json:"text,omitempty"`
	From      string    `json:"from,omitempty"`       // of a message: "user", or the agent that sent it
	Images    []Image   `json:"images,omitempty"`     // that it shows
	Beside    string    `json:"beside,omitempty"`     // of images: the question group whose answers they belong to
	AfterTurn bool      `json:"after_turn,omitempty"` // a hook has refused it in a running turn
	At        time.Time `json:"at"`
}

// A Reply is what a call of a tool of ours returns.
type Reply struct {
	Request string `json:"request"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
	Child   string `json:"child,omitempty"` // whose last output, which is in no record, it returns beside its text
	Await   *Await `json:"await,omitempty"` // the call waits, and its text is not known yet
}

// An Await is a call of check_work that waits.
type Await struct {
	Call     ToolCall  `json:"call"`
	Agent    string    `json:"agent,omitempty"` // that it is about; "": all that its own has started
	Children []string  `json:"children"`        // until one of these has ended
	Until    time.Time `json:"until"`           // at the latest
}

// A Task is work of an agent's own that lives on outside its turns: a command or a subagent in the background.
type Task struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"` // for people: "shell: make test"
	Subagent bool   `json:"subagent,omitempty"`
}

// UnmarshalJSON reads a bare name too: what an older version has written.
func (t *Task) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*t = Task{}
		return json.Unmarshal(data, &t.Name)
	}
	type plain Task
	return json.Unmarshal(data, (*plain)(t))
}

// A Stall is a process at work that prints nothing and uses no processor.
type Stall struct {
	Since time.Time `json:"since"`
	Doing string    `json:"doing"` // what it was last seen to do, for people
}

// A Gate is one stop hook request and what was decided on it.
type Gate struct {
	Request string `json:"request"`
	Block   string `json:"block,omitempty"` // the reason the agent is sent on with; empty lets the turn end
}

// A ToolCall is the control request that a question came from.
type ToolCall struct {
	Launch  int             `json:"launch"`
	Request string          `json:"request"`
	ToolUse string          `json:"tool_use"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Served  bool            `json:"served,omitempty"` // a tool of the supervisor's own: it returns a text
	From    *Subagent       `json:"from,omitempty"`   // who called, nil: the main conversation
	// of the conversation: the line that holds the call, by its uuid; "": an older release of ours has asked
	Line string `json:"line,omitempty"`
	// where the call is made; "" is the agent's own folder, and ElsewhereUnknown one that nobody knows
	Cwd string `json:"cwd,omitempty"`
}

// ElsewhereUnknown is the folder of a call of which nobody knows where it is made.
const ElsewhereUnknown = "?"

// A Subagent is one that an agent has started inside its own process.
type Subagent struct {
	ID      string `json:"id,omitempty"` // the CLI's own; "" where the release does not say it
	ToolUse string `json:"tool_use"`     // the call that started it
	Type    string `json:"type,omitempty"`
	Task    string `json:"task"`             // in a few words
	Prompt  string `json:"prompt,omitempty"` // the task as it was given, bounded
	Done    string `json:"done,omitempty"`   // what it had done when its process ended, for whoever does the task again
	Depth   int    `json:"depth"`            // 1: started by the main conversation

	By *Subagent `json:"by,omitempty"` // that started it and waits for it; nil: the main conversation
	// its process has ended before its work, and nobody has been told that yet
	Interrupted bool `json:"interrupted,omitempty"`
}

// Line returns a subagent and those above it: which started it, and which started that; lowest first.
func (s *Subagent) Line() (line []*Subagent) {
	for ; s != nil; s = s.By {
		line = append(line, s)
	}
	return line
}

// Name names a subagent for people, by what it does.
func (s *Subagent) Name() string { return cmp.Or(s.Task, s.ID, "(not named)") }

// Key tells a subagent from others.
func (s *Subagent) Key() string { return cmp.Or(s.ToolUse, s.ID) }

// Same reports whether two calls are of the same subagent, or both of the main conversation.
func (s *Subagent) Same(other *Subagent) bool {
	return s == nil && other == nil || s != nil && other != nil && s.ID == other.ID
}

// Told returns the subagent as one of whose interruption, and of that of those above it, the agent was told.
func (s *Subagent) Told() *Subagent {
	if s == nil {
		return nil
	}
	as := *s
	as.Interrupted, as.By = false, s.By.Told()
	return &as
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

// A Delivery is one thing said to an agent, exactly once. UUID is derived from Key, so a second sending is the same
// message.
type Delivery struct {
	UUID      string          `json:"uuid"`
	Agent     string          `json:"agent"`
	Key       string          `json:"key"`
	Seq       int             `json:"seq"` // order within the run
	State     DeliveryState   `json:"state"`
	Launch    int             `json:"launch,omitempty"`  // the launch it was last sent to
	Turn      int             `json:"turn,omitempty"`    // how many turns of that launch had ended then
	Text      string          `json:"text,omitempty"`    // a prompt
	Tool      *ToolCall       `json:"tool,omitempty"`    // or the answer to this call
	Reply     json.RawMessage `json:"reply,omitempty"`   // the body of that answer
	Results   []CallResult    `json:"results,omitempty"` // in place of Text: a launch at their place (Launch.At) is told
	Images    []Image         `json:"images,omitempty"`  // that are shown with the text, or with the answer to the call
	Groups    []string        `json:"groups,omitempty"`  // question groups whose answers it carries
	Messages  []OutboxItem    `json:"messages,omitempty"`
	Now       bool            `json:"now,omitempty"`   // it was said into whatever turn was under way
	Grant     string          `json:"grant,omitempty"` // the question whose permission, given while parked, it spends
	File      string          `json:"file,omitempty"`  // or the question file whose script has taken its answer itself
	CreatedAt time.Time       `json:"created_at"`
	ArrivedAt time.Time       `json:"arrived_at,omitzero"` // zero: not yet, or in an older release
}

// A CallResult is the answer to questions as the result of the call that asked them, in a later process.
type CallResult struct {
	ToolUse string  `json:"tool_use"`
	Text    string  `json:"text"`
	IsError bool    `json:"is_error,omitempty"`
	Served  bool    `json:"served,omitempty"` // of a tool of the supervisor's own
	Images  []Image `json:"images,omitempty"` // that it shows beside its text
}

// Prompt reports whether it is said by a prompt: else it answers a call, or a script has taken it.
func (v *Delivery) Prompt() bool { return v.Tool == nil && v.File == "" }

// Unsent reports whether a delivery is still to be made.
func (v *Delivery) Unsent() bool { return v.State == DeliveryPending }

// WaitsForReceipt reports whether what was sent may or may not have reached the conversation.
func (v *Delivery) WaitsForReceipt() bool {
	return v.State == DeliverySent || v.State == DeliveryStarted
}

// Undelivered reports whether a delivery is still to be made, or may or may not have been.
func (v *Delivery) Undelivered() bool { return v.Unsent() || v.WaitsForReceipt() }

// An Event is one thing that happened, as history. Doc is the supervisor's own form of it.
type Event struct {
	Run  string          `json:"run"`
	Seq  int64           `json:"seq"` // from 1, without gaps in a run
	At   time.Time       `json:"at"`
	Type string          `json:"type"`
	Doc  json.RawMessage `json:"doc"`
}

// An InboxEntry is one row of the inbox: what another process (or this one's terminal) leaves for a run.
type InboxEntry struct {
	Seq      int64  `json:"seq"`
	Run      string `json:"run"`
	Kind     string `json:"kind"` // answer, change, stop, message, revoke, snapshot, nested, nested_seen, nested_left
	Question string `json:"question,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Value    string `json:"value,omitempty"`
	Skip     bool   `json:"skip,omitempty"`
	Decline  bool   `json:"decline,omitempty"`
	Only     bool   `json:"only,omitempty"` // stop: that agent, not what it started
	// answer: every question of the run that is alike has it, those that come later, too
	AllLike bool      `json:"alike,omitempty"`
	Images  []Image   `json:"images,omitempty"` // answer: that belong to it
	By      string    `json:"by"`               // who, for people: "terminal pts/3", "answer (pid 123)", "--answer"
	At      time.Time `json:"at"`

	Doc json.RawMessage `json:"doc,omitempty"` // nested: what is asked for, in the supervisor's own form
}

package notice

import (
	"time"

	"claude-supervise/checkpoints"
)

// A Notification is something worth telling a person or a program that watches a run. Those that stand for a change are
// given after the change was saved. The types are those of `run --json`; fields may be added.
type Notification struct {
	Time  time.Time
	Run   string
	Agent string
	Type  Type
	// What belongs to the type; the rest is zero.
	Text  string // text, progress, parked, resumed, run_done: for people
	Prose string // text: what of it is not a signal
	// text, progress: the task, in a few words, of the subagent that it is of; "": the main conversation
	Subagent string
	Launch   int                   // agent_started
	Question *checkpoints.Question // question, answered
	By       string                // message, message_read: whose it is; delegation: who has decided it
	Report   *checkpoints.Report
	Missing  []string           // report: what is not on disk; nil if its end has that for its reason
	State    *checkpoints.Agent // agent_started, parked, resumed, report, run_done
	RunState *checkpoints.Run   // run_started, run_done
	ExitCode int                // run_done: of this supervisor
	CostUSD  float64            // run_done: of all agents
	Tasks    *Table             // run_done: what became of the tasks of a group or pool; else nil
	Trouble  bool               // progress: a person should look
	// progress: the HTTP status with which the API has refused a request; 0: it has refused none
	APIStatus int
	Who       string // which agent, in a few words, where the run has several; "": it has one
	Stage     Stage  // delegation
	Task      string // delegation: what is to be done
	Child     string // delegation: who does it, or would
	AtOnce    bool   // delegation, answered: it was decided as it was asked, by the policy or in advance: nobody saw it
}

// Type is the type of a notice.
type Type string

// The types of notice.
const (
	RunStarted   Type = "run_started"
	AgentStarted Type = "agent_started"
	TextSaid     Type = "text"
	QuestionOpen Type = "question"
	QuestionDone Type = "answered"
	Progress     Type = "progress"
	ParkedNow    Type = "parked"
	ResumedNow   Type = "resumed"
	LimitedNow   Type = "limited"
	Reported     Type = "report"
	RunDone      Type = "run_done"
)

// The types of notice of the tree.
const (
	WorkDelegated Type = "delegation" // Stage, Task; of the agent that delegates
	ChildDone     Type = "child_done" // State; of the child
)

// Stage is how far a delegation has got.
type Stage string

// The stages of a delegation. What a task file states begins without being asked for.
const (
	DelegationAsked    Stage = "asked"
	DelegationApproved Stage = "approved"
	DelegationDenied   Stage = "denied"
	DelegationBegun    Stage = "begun" // the child is there; it may wait for a slot, or for others
)

// A Teller tells who watches a run something about an agent, "" for the run.
type Teller func(Type, string, Notification)

// Asking tells that a question is open.
func Asking(q *checkpoints.Question) Notification {
	return Notification{Time: q.AskedAt, Run: q.Run, Agent: q.Agent, Type: QuestionOpen, Question: q}
}

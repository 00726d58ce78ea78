package conf

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/prompts"
)

// Config is what the person asked for with `run`. It is kept in the run's record, so that `resume` needs no flags.
type Config struct {
	Claude string `json:"claude,omitempty"` // absolute path of the program
	// any command that is run instead of claude; {} in it is the prompt
	Exec  []string      `json:"exec,omitempty"`
	Demo  string        `json:"demo,omitempty"`  // the scenario that the built-in stand-in plays instead
	Flags []string      `json:"flags,omitempty"` // handed on to claude
	Hold  time.Duration `json:"hold"`            // Forever: never park
	// processes that may wait for a person at once; negative: any number
	MaxHeld    int        `json:"max_held"`
	OnQuestion OnQuestion `json:"on_question"` // as the person gave it; "" goes by whether there is a terminal
	Policy     OnQuestion `json:"policy"`      // what the present supervisor made of it
	// what the person's own settings had of our tools when the present supervisor took the run
	Toolless    bool        `json:"toolless,omitempty"`
	Answers     []Preset    `json:"answers,omitempty"`
	AcceptIDs   []string    `json:"accept_ids,omitempty"`
	Permissions Permissions `json:"permissions,omitempty"`
	// rules of what runs unasked, as the person gave them: claude keeps them
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"` // the same of what never runs
	// what the folder's own files permit or run is the person's will
	AllowProject bool `json:"allow_project,omitempty"`
	// agents and other sessions of the person may send each other messages
	AllowSessions bool     `json:"allow_sessions,omitempty"`
	Relaunch      Relaunch `json:"relaunch"`
	Retries       int      `json:"retries"`
	KeepProcesses bool     `json:"keep_processes,omitempty"`
	// how long nothing is heard of a process at work before that is told; 0: never
	SilentAfter time.Duration `json:"silent_after,omitempty"`
	OnSilence   OnSilence     `json:"on_silence,omitempty"` // and what is done about it
	// the person's own command, told of questions and of the run's end
	Notify   []string `json:"notify,omitempty"`
	NoNotify bool     `json:"no_notify,omitempty"` // nobody is called who does not look
	// the span that started the run, as TRACEPARENT had it: the parent of the run's own
	TraceParent string `json:"trace_parent,omitempty"`

	Delegate    Delegates `json:"delegate,omitempty"`     // what becomes of delegations, by depth
	MaxParallel int       `json:"max_parallel,omitempty"` // processes that may be at work at once; 0: any number
	MaxDepth    int       `json:"max_depth,omitempty"`    // how deep children may be, the root's being 1; 0: any depth
	MaxAgents   int       `json:"max_agents,omitempty"`   // how many agents delegation may bring a run to; 0: any number
	Worktree    bool      `json:"worktree,omitempty"`     // children work in git worktrees of their own
	Budget      Budget    `json:"budget,omitzero"`        // what the whole run may use

	// with which variables the run was started that decide where its conversations are and as whom claude works; nil: by
	// a release that did not remember them
	Where *claude.Whereabouts `json:"where,omitempty"`

	Snapshots *SnapshotTo `json:"snapshots,omitempty"` // nil: none are taken by themselves
}

// Forever as a hold keeps a process waiting for its answer without end.
const Forever time.Duration = -1

// DefaultHold is the life of the prompt cache: within it an answer costs no more than its tokens.
const DefaultHold = 5 * time.Minute

// DefaultSilentAfter is longer than a request to the API takes, its own retries included.
const DefaultSilentAfter = 10 * time.Minute

// OnSilence says what is done about a process of which nothing is heard.
type OnSilence string

// TellSilence only says so, since when, and what the process was doing; RetrySilence ends it and goes on in its
// conversation, as often as --retries allows; FailSilence fails the agent.
const (
	TellSilence  OnSilence = "tell"
	RetrySilence OnSilence = "retry"
	FailSilence  OnSilence = "fail"
)

// OnQuestion says what becomes of the run when a question is not answered within the hold.
type OnQuestion string

// Ask keeps the supervisor until the answer; Park leaves with 75 once nothing can go on; Fail fails the agent.
const (
	Ask  OnQuestion = "ask"
	Park OnQuestion = "park"
	Fail OnQuestion = "fail"
)

// Permissions says what becomes of what claude asks a person to permit.
type Permissions string

// AskPermissions asks the person, and is what "" means; DenyPermissions denies it at once. AskRefused asks also about
// what claude refuses by itself, without a question.
const (
	AskPermissions  Permissions = "ask"
	AskRefused      Permissions = "ask-refused"
	DenyPermissions Permissions = "deny"
)

// Delegates says what becomes of delegations, by the depth of the child, from 1; the last goes for all that are deeper.
// None asks.
type Delegates []Delegate

// Delegate says what becomes of a delegation.
type Delegate string

// AskDelegations asks the person; AutoDelegations approves what is within the limits; DenyDelegations denies.
const (
	AskDelegations  Delegate = "ask"
	AutoDelegations Delegate = "auto"
	DenyDelegations Delegate = "deny"
)

// The limits where the person gives none.
const (
	DefaultMaxParallel = 4
	DefaultMaxDepth    = 3
	DefaultMaxAgents   = 50
)

// At returns what becomes of the delegation of a child at a depth.
func (d Delegates) At(depth int) Delegate {
	if len(d) == 0 {
		return AskDelegations
	}
	return d[min(max(depth, 1), len(d))-1]
}

// ParseDelegates reads a policy as a person gives it: "auto", or one word a depth, such as "auto,ask,deny".
func ParseDelegates(text string) (Delegates, error) {
	var all Delegates
	for word := range strings.SplitSeq(text, ",") {
		d := Delegate(strings.TrimSpace(word))
		switch d {
		case AskDelegations, AutoDelegations, DenyDelegations:
			all = append(all, d)
		default:
			return nil, fmt.Errorf("takes ask, auto or deny, or one of them for each depth as in auto,ask, not %q", text)
		}
	}
	return all, nil
}

// Relaunch says how a parked agent gets its answer.
type Relaunch string

// Resume continues the conversation; Fresh begins a new one with the checkpoint.
const (
	Resume Relaunch = "resume"
	Fresh  Relaunch = "fresh"
)

// SnapshotTo says where the snapshots of a run are put.
type SnapshotTo struct {
	Dir  string `json:"dir"`  // absolute; "": they are not taken
	Keep int    `json:"keep"` // how many
}

// DefaultKeep is how many snapshots are kept where the person does not say.
const DefaultKeep = 10

// Within returns the stricter of two policies for each depth.
func (d Delegates) Within(limit Delegates) Delegates {
	strict := []Delegate{DenyDelegations, AskDelegations, AutoDelegations}
	within := make(Delegates, max(len(d), len(limit), 1))
	for i := range within {
		within[i] = strict[min(slices.Index(strict, d.At(i+1)), slices.Index(strict, limit.At(i+1)))]
	}
	return within
}

// Forbids says why a call is not made, whoever permits it; "" leaves it to rules, modes and the person.
func (cfg Config) Forbids(c procs.BeforeCall) (why string) {
	if c.Outlives() {
		return prompts.RefusedSchedule
	}
	if c.Tool == "ListAgents" && !cfg.AllowSessions {
		return prompts.RefusedList
	}
	if to := c.ToSession(); to != "" && !cfg.AllowSessions {
		return prompts.RefusedMessage(to)
	}
	return ""
}

package procs

import (
	"encoding/json"
	"time"
)

// A Message is one thing that a child process says, or that becomes of it. Unknown lines are no message.
// They are handed over one by one, in the order in which they were printed.
type Message interface{ message() }

type (
	// Init begins a turn (`system/init`): it comes at every turn, also at those that nobody asked for.
	// Agents are the types that agents can be of here.
	Init struct {
		SessionID, Version, PermissionMode, Model string
		Agents                                    []string
	}

	// Raw is what a Spec.Command prints that does not speak the stream protocol, as it comes: whole lines, of which the
	// last may lack its end if that did not follow at once. It is cut at no rune, is at most 96 KiB of UTF-8 (what was
	// none is replaced), and has its carriage returns and control sequences.
	Raw struct{ Text string }

	// Text is one text block of the assistant. ID is that of its API message; Parent is the tool use of the
	// subagent that said it, "" for the main conversation; Agent the id that the CLI has given that subagent, where the
	// line has it.
	Text struct {
		ID, Parent, Text string
		Agent            string `json:",omitempty"`
	}

	// ToolUse is a call the assistant makes. Agent is as for Text.
	ToolUse struct {
		MessageID, Parent, ID, Name string
		Input                       json.RawMessage
		Agent                       string `json:",omitempty"`
	}

	// ToolResult is what a call gave. Text is its text content, bounded; "" where the release does not show the calls of
	// subagents in the background, and the end of one tells that they have had their results.
	ToolResult struct {
		Parent, ToolUse, Text string
		IsError               bool
		BrokenOff             bool // no result: what the CLI writes in its place when the call was broken off or refused
		// what a hook of the person's own has decided about the call in place of who was asked; nil: none has, or the
		// release does not say it
		Hook *HookDecision `json:",omitempty"`
	}

	// HookDecision is what a hook of the person's own (PermissionRequest, PreToolUse) has decided about a call. Of
	// AskUserQuestion that is accepted it has the answers, by the texts of the questions; of a refusal what it says.
	HookDecision struct {
		Accepted bool
		Answers  map[string]string `json:",omitempty"`
		Text     string            `json:",omitempty"`
	}

	// Said is a user message that the CLI shows: hook feedback, replayed prompts.
	Said struct{ UUID, Text string }

	// Peer is a message of another session of the person, which it has put into the conversation: it begins a turn, or is
	// taken into one. All of it is what the other says of itself.
	Peer struct{ From, Text string }

	// WakeUp says that a turn begins which a schedule or a wake-up has fired (2.1.332).
	WakeUp struct{ Source string }

	// PromptRefused says that a hook of the person's own (UserPromptSubmit) has refused a message that was sent into a
	// running turn: it is not in the conversation, and has no receipt. Of one that would have begun a turn the Result
	// says it.
	PromptRefused struct{ UUID, Reason string }

	// Refused says that the CLI has refused a call by itself, without asking anybody. Why is what of the mode, the rules
	// or a check has refused it, in words, "" if the CLI does not say it. Fixed: it is refused whatever is answered. Call
	// is the call as the hook before it had it, with no Request; nil if it is not known, or too large to be shown, or the
	// Spec does not have it remembered (AsksRefused).
	Refused struct {
		Tool, ToolUse, Why string
		Fixed              bool
		Call               *Ask
	}

	// Result ends a turn. Origin is what has begun it if that is nothing that was said to the process: task-notification,
	// peer. A scheduled wake-up has none. Of a Spec.Command there is one, after the end of the process and before its
	// Exit.
	Result struct {
		Subtype, TerminalReason, Text, Origin string
		IsError                               bool
		HookRefused                           string `json:",omitempty"` // why a hook of the person's let no turn begin
		APIStatus                             int
		NumTurns                              int
		// since the last result, of subagents too, cache reads and writes included in the input
		InputTokens, OutputTokens int64
		// of the input: what came from a cache, and what was put into one
		CacheRead, CacheCreation int64
		ServiceTier              string // at which the API has served it; "" if that is not said
		// since the last result of this process, or of the conversation (Spec.SpentUSD)
		CostUSD float64
		Resets  time.Time // when a usage limit ends, if the CLI has said so; else zero
	}

	// Usage is what one API request has used, told once for each, before the first block of its reply. OutputTokens is
	// what was known then, next to nothing, but on 2.1.7; the Result has the rest. Parent is the tool use of the subagent
	// that made the request, "" for the main conversation. Requests of which no block is shown are not told: the CLI's own
	// (titles), and before 2.1.329 the last of a subagent.
	Usage struct {
		MessageID, Parent, Model string
		// InputTokens are those that neither were nor are now in a cache
		InputTokens, OutputTokens, CacheRead, CacheCreation int64
	}

	// Receipt says how far a message sent with a uuid has got: queued, started, then completed, or cancelled if its
	// turn failed. After either it is in the conversation.
	Receipt struct{ UUID, State string }

	// Ask is a request that waits for Allow or Deny: AskUserQuestion, or any tool that needs permission. One that Elicits
	// waits for Elicit: an MCP server of the person's own asks, mcp__ and its name being Name. Its Input is an
	// Elicitation, its ToolUse the call of that server that is under way, "" if there is none.
	Ask struct {
		Request, ToolUse, Name, Description, Reason string
		Input                                       json.RawMessage
		// rules that the CLI offers (permission_suggestions), nil: none
		Suggestions json.RawMessage
		From        Subagent
		Elicits     bool `json:",omitempty"`
		// the call was refused before (Refused.Call), or the hook before it asks, since it is one of those of Expect: Allow
		// lets it be made, whatever else would refuse it but a rule; Deny with no message leaves it to rules and modes
		Refused bool `json:",omitempty"`
		// where the call is made, as the hook before it said; "" if it said nothing
		Cwd string `json:",omitempty"`
		// of the conversation: the line that holds the call, by its uuid; "" if nothing has shown it
		Line string `json:",omitempty"`
	}

	// Call is a call of one of Spec.Tools, with an input that fits its schema. It waits for Return.
	Call struct {
		Request, ToolUse, Name string // the name without the server's
		Input                  json.RawMessage
		From                   Subagent
		Line                   string `json:",omitempty"` // as of an Ask
	}

	// AskCancelled withdraws an Ask or Call that waits.
	AskCancelled struct{ Request string }

	// StopHook asks whether the turn may end; it waits for Gate.
	StopHook struct {
		Request, Transcript, LastMessage string
		Active                           bool     // the turn was already sent on by a hook
		Background                       []Task   // what still lives
		Crons                            []string // scheduled wake-ups
	}

	// Background lists what lives on outside a turn, whenever it changes.
	Background struct{ Tasks []Task }

	// Retry says that the CLI itself tries an API request again.
	Retry struct {
		Attempt, Max, Status int
		Delay                time.Duration
		Error                string
	}

	// Activity is a sign of life for progress: a status line, a running tool, a line that a Spec.Command prints to stderr
	// (its beginning). Of a running tool the CLI tells every 30 seconds whether or not anything moves: Beat.
	Activity struct {
		Text string // "": nothing that is worth telling
		Beat bool
	}

	// Garbled is a line that is not JSON; bounded.
	Garbled struct{ Line string }

	// Exit is always the last message: the process is gone, reaped, and its output read to the end.
	Exit struct {
		Code   int    // exit code, or -1
		Signal string // name of the signal that ended it, or ""
		Stderr string // the tail, bounded
		Spoke  bool   // it has printed a line of JSON

		Command bool   // of a Spec.Command
		Output  string // what that printed last: the tail, bounded

		// What was spent since the last Result, as in a Result: by the turn that was cut. A process that was parked or
		// stopped was asked (Release.SaysSpending). Of another the cost is not known, and of the tokens what the Usages say.
		InputTokens, OutputTokens int64
		CacheRead, CacheCreation  int64
		CostUSD                   float64
	}
)

// A Subagent is who asks or calls; the zero value is the main conversation.
type Subagent struct {
	ID      string // its task id; "" where the release does not say it
	ToolUse string // the call that started it
	Type    string
	Task    string // in a few words
	Prompt  string // the task as it was given, bounded
	Depth   int    // 1: started by the main conversation

	By *Subagent `json:",omitempty"` // that started it; nil: the main conversation, or nobody knows
}

// A Task is work that lives on outside a turn: a command or a subagent.
type Task struct {
	ID       string
	Name     string // for people: "shell: make test"
	Subagent bool
}

// AsksNobody reports whether the CLI has only taken notice of a task that has ended, without asking the model: the turn
// that tells the model of it follows, of its own or with what is said next.
func (r Result) AsksNobody() bool {
	return r.Origin == "task-notification" && r.Subtype == "success" && !r.IsError && r.NumTurns == 0 && r.Text == ""
}

// Own makes a message of what embeds it: one that an Agent has to deal with itself, and hands to nobody.
type Own struct{}

func (Own) message()           {}
func (Init) message()          {}
func (Raw) message()           {}
func (Text) message()          {}
func (ToolUse) message()       {}
func (ToolResult) message()    {}
func (Said) message()          {}
func (Peer) message()          {}
func (PromptRefused) message() {}
func (WakeUp) message()        {}
func (Refused) message()       {}

// BySchedule is the source of a WakeUp by a schedule: of CronCreate, or of .claude/scheduled_tasks.json.
const BySchedule = "schedule_wakeup"

func (Result) message()       {}
func (Usage) message()        {}
func (Receipt) message()      {}
func (Ask) message()          {}
func (Call) message()         {}
func (AskCancelled) message() {}
func (StopHook) message()     {}
func (Background) message()   {}
func (Retry) message()        {}
func (Activity) message()     {}
func (Garbled) message()      {}
func (Exit) message()         {}

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
	Init struct{ SessionID, Version, PermissionMode, Model string }

	// Text is one text block of the assistant. ID is that of its API message; Parent is the tool use of the
	// subagent that said it, "" for the main conversation.
	Text struct{ ID, Parent, Text string }

	// ToolUse is a call the assistant makes.
	ToolUse struct {
		MessageID, Parent, ID, Name string
		Input                       json.RawMessage
	}

	// ToolResult is what a call gave. Text is its text content, bounded.
	ToolResult struct {
		Parent, ToolUse, Text string
		IsError               bool
	}

	// Said is a user message that the CLI shows: hook feedback, replayed prompts.
	Said struct{ UUID, Text string }

	// Result ends a turn.
	Result struct {
		Subtype, TerminalReason, Text, Origin string
		IsError                               bool
		APIStatus                             int
		NumTurns                              int
		InputTokens, OutputTokens             int64     // of this result, cache reads and writes included in the input
		CostUSD                               float64   // since the last result of this process
		Resets                                time.Time // when a usage limit ends, if the CLI has said so; else zero
	}

	// Receipt says how far a message sent with a uuid has got: queued, started, then completed, or cancelled if its
	// turn failed. After either it is in the conversation.
	Receipt struct{ UUID, State string }

	// Ask is a request that waits for Allow or Deny: AskUserQuestion, or any tool that needs permission.
	Ask struct {
		Request, ToolUse, Name, Description, Reason, AgentID string
		Input                                                json.RawMessage
	}

	// AskCancelled withdraws a request that waits.
	AskCancelled struct{ Request string }

	// StopHook asks whether the turn may end; it waits for Gate.
	StopHook struct {
		Request, Transcript, LastMessage string
		Active                           bool     // the turn was already sent on by a hook
		Background                       []string // what still lives, for people: "shell: make test"
		Crons                            []string // scheduled wake-ups
	}

	// Background lists what lives on outside a turn, whenever it changes.
	Background struct{ Tasks []string }

	// Retry says that the CLI itself tries an API request again.
	Retry struct {
		Attempt, Max, Status int
		Delay                time.Duration
		Error                string
	}

	// Activity is a sign of life for progress: a running tool, a status line.
	Activity struct{ Text string }

	// Garbled is a line that is not JSON; bounded.
	Garbled struct{ Line string }

	// Exit is always the last message: the process is gone, reaped, and its output read to the end.
	Exit struct {
		Code   int    // exit code, or -1
		Signal string // name of the signal that ended it, or ""
		Stderr string // the tail, bounded
		Spoke  bool   // it has printed a line of JSON
	}
)

func (Init) message()         {}
func (Text) message()         {}
func (ToolUse) message()      {}
func (ToolResult) message()   {}
func (Said) message()         {}
func (Result) message()       {}
func (Receipt) message()      {}
func (Ask) message()          {}
func (AskCancelled) message() {}
func (StopHook) message()     {}
func (Background) message()   {}
func (Retry) message()        {}
func (Activity) message()     {}
func (Garbled) message()      {}
func (Exit) message()         {}

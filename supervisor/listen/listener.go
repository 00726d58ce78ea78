package listen

import (
	"cmp"
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/text"
)

// A Listener is what the messages of one process have said so far.
type Listener struct {
	Agent    string
	Launch   int
	Signals  SignalReader
	Talk     Conversation
	Result   procs.Result // the last
	ToolUses int          // of the turn under way, its subagents' included
	WakeUp   string       // what is about to begin a turn (procs.WakeUp), "" if nothing has said so
	Unasked  bool         // nothing that was said to the process has begun the turn under way
	Output   string       // the end of what it has said and done, for its parent
	Foreign  string       // the last id of another agent's that it has ended, asked or delegated under
	Exit     *procs.Exit  // set once the process is gone

	Refused []procs.Refused // of a process that is gone: the calls that it has refused by itself at last
}

// Said returns what an agent says or does in a message, as one text.
func Said(m procs.Message) string {
	switch m := m.(type) {
	case procs.Text:
		return m.Text
	case procs.Raw:
		return m.Text
	case procs.ToolUse:
		return string(m.Input)
	case procs.ToolResult:
		return m.Text
	case procs.Refused:
		return Refusal(m)
	}
	return ""
}

// Refusal says that a call was refused and nobody was asked.
func Refusal(m procs.Refused) string {
	said := "claude has refused a call of " + cmp.Or(text.CleanLine(m.Tool, maxName), "a tool") + " and asked nobody"
	if why := text.CleanLine(m.Why, maxWhy); why != "" {
		said += ": " + why
	}
	return said
}

// The bounds of what is shown of a call that was refused, in characters.
const maxName, maxWhy = 80, 300

// maxOutput bounds the last output of an agent that its parent reads, in bytes.
const maxOutput = 2 << 10

// Printed takes what a message shows of the agent's work to its output.
func (c *Listener) Printed(m procs.Message) {
	said := ""
	switch m := m.(type) {
	case procs.Text:
		said = m.Text
	case procs.Raw:
		said = m.Text
	case procs.ToolUse:
		said = Doing(m)
	}
	if said = strings.TrimSpace(said); said != "" {
		c.Output = strings.TrimSpace(text.End(c.Output+"\n"+said, maxOutput))
	}
}

// Receipts names what the CLI says of a message as the state of its delivery.
var Receipts = map[string]checkpoints.DeliveryState{
	"started":   checkpoints.DeliveryStarted,
	"completed": checkpoints.DeliveryDelivered,
	"cancelled": checkpoints.DeliveryDelivered, // its turn failed; the conversation has it
}

// ExitInWords says in words how a process ended.
func ExitInWords(x *procs.Exit) string {
	if x.Signal != "" {
		return "ended by " + x.Signal
	}
	return fmt.Sprintf("exit %d", x.Code)
}

// Doing says in one line what a call does: the tool, and the headline of its input.
func Doing(m procs.ToolUse) string {
	name := text.VisibleLine(m.Name)
	if what := calls.Of(m.Name).Headline(m.Input).String(); what != "" && !strings.HasPrefix(m.Name, claude.ToolPrefix) {
		return name + ": " + what
	}
	return name
}

// byWakeUp is what has begun a turn of which the CLI says nothing (TurnEnded.Origin): a schedule of the agent's own.
// Its own words for others are task-notification, of a background task that has ended or printed a line that the agent
// watches for, and peer, of a message of another session.
const byWakeUp = "wake-up"

const turnUnsaid = "claude begins a turn by itself"

// UnaskedTurn says in a line that a turn has begun which nobody has asked for. due: a background task has just ended.
// wakeUp is what the CLI says of it, if anything.
func UnaskedTurn(due bool, wakeUp string) string {
	switch {
	case wakeUp == procs.BySchedule:
		return turnUnsaid + ": a schedule, of its own or of the folder"
	case wakeUp != "":
		return turnUnsaid + ": a wake-up of its own"
	case due:
		return turnUnsaid + ": a background task has ended"
	}
	return turnUnsaid + ": a wake-up, a line of a task, or a message of another session"
}

// OriginOf says what has begun a turn, "" if it was something that was said to the process. unasked: nothing was.
func OriginOf(m procs.Result, unasked bool) string {
	if m.Origin == "" && unasked {
		return byWakeUp
	}
	return text.Line(m.Origin, text.MaxNamed)
}

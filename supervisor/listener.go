package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// A Listener is what the messages of one process have said so far.
type Listener struct {
	Agent    string
	Launch   int
	Signals  SignalReader
	Talk     conversation
	Result   procs.Result // the last
	ToolUses int          // of the turn under way, its subagents' included
	WakeUp   string       // what is about to begin a turn (procs.WakeUp), "" if nothing has said so
	Unasked  bool         // nothing that was said to the process has begun the turn under way
	Output   string       // the end of what it has said and done, for its parent
	Foreign  string       // the last id of another agent's that it has ended, asked or delegated under
	Exit     *procs.Exit  // set once the process is gone
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
	}
	return ""
}

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

// ReadStopHook reads the Stop hook, with what the scanner would make of the turn if it ended now.
func ReadStopHook(c *Listener, m procs.StopHook) GateAsked {
	g := GateAsked{
		Agent: c.Agent, Launch: c.Launch, Request: m.Request, Transcript: m.Transcript,
		Background: Tasks(m.Background), WakeUps: m.Crons, EndUnreported: c.Talk.endUnreported,
		Unfiled: c.Signals.Scanner.Unfiled(),
	}
	for _, src := range c.Signals.Scanner.Unheard() {
		g.Unheard = append(g.Unheard, c.Talk.named(string(src)))
	}
	for _, s := range c.Signals.Scanner.AtEnd() {
		switch {
		case s.Foreign:
		case s.Kind == signals.Completion, s.Kind == signals.WorkflowComplete:
			g.Report = g.Report || !s.Inside
		case s.Kind == signals.Clarification, s.Kind == signals.Stop, s.Kind == signals.Delegate:
			g.Ask = true
		}
	}
	return g
}

// Tasks returns what a process says of its background work as it is recorded.
func Tasks(said []procs.Task) []checkpoints.Task {
	var kept []checkpoints.Task
	for _, t := range said {
		kept = append(kept, checkpoints.Task(t))
	}
	return kept
}

// CheckBusyElsewhere reports whether something else of a child is at work while a question waits in a call, and whether
// that is news.
func CheckBusyElsewhere(s State, c *Listener) (b BusyElsewhere, changed bool) {
	l := s.Live(c.Agent)
	if l == nil || l.N != c.Launch || len(c.Talk.calls) == 0 && !l.BusyElsewhere {
		return b, false
	}
	waiting, background := map[string]bool{}, false
	for _, q := range s.Open(c.Agent) {
		if call := s.heldCall(q); call != nil {
			waiting[call.ToolUse] = true
		}
	}
	for _, q := range s.Open(c.Agent) {
		if call := s.heldCall(q); call != nil && call.From != nil {
			line := call.From.Line()
			background = background || c.Talk.callsBesides(line[len(line)-1].ToolUse, waiting)
		}
	}
	atWork := background || len(waiting) > 0 && l.Phase.InTurn() && c.Talk.atWorkBesides(waiting)
	return BusyElsewhere{Agent: c.Agent, Launch: c.Launch, AtWork: atWork}, atWork != l.BusyElsewhere
}

// AtWorkBeside reports whether something else of a child's main conversation is at work beside a call of it that is
// about to wait for a person. Tools of ours are called one after the other: beside them nothing is.
func AtWorkBeside(s State, c *Listener, toolUse string) bool {
	waiting := map[string]bool{toolUse: true}
	for _, q := range s.Open(c.Agent) {
		if call := s.heldCall(q); call != nil {
			waiting[call.ToolUse] = true
		}
	}
	call, known := c.Talk.calls[toolUse]
	return known && call.parent == "" && c.Talk.atWorkBesides(waiting)
}

// Endings says how each end of a launch is brought about.
var Endings = map[string]procs.Ending{
	EndFinish: procs.Finish, endPark: procs.Park, endRetry: procs.Park, endFail: procs.Park,
	endStop: procs.Stop, endInterrupt: procs.Park, endBudget: procs.Stop,
}

// Ended tells how the child's process went.
func (c *Listener) Ended(survivors []procs.Survivor) Ended {
	b := Ended{Agent: c.Agent, Launch: c.Launch, Outcome: ExitInWords(c.Exit), Foreign: c.Foreign,
		Failure: claude.Classify(c.Result, c.Exit),
		CostUSD: c.Exit.CostUSD, InputTokens: c.Exit.InputTokens, OutputTokens: c.Exit.OutputTokens,
		CacheRead: c.Exit.CacheRead, CacheCreation: c.Exit.CacheCreation}
	for _, s := range survivors {
		b.Survivors = append(b.Survivors, s.String())
	}
	return b
}

// ExitInWords says in words how a process ended.
func ExitInWords(x *procs.Exit) string {
	if x.Signal != "" {
		return "ended by " + x.Signal
	}
	return fmt.Sprintf("exit %d", x.Code)
}

// ReadUsage reads what a request has used.
func ReadUsage(c *Listener, m procs.Usage) Spent {
	b := Spent{Agent: c.Agent, Launch: c.Launch, InputTokens: m.InputTokens + m.CacheRead + m.CacheCreation,
		OutputTokens: m.OutputTokens}
	if m.Parent == "" {
		b.Turns = 1
	}
	return b
}

package supervisor

import (
	"encoding/json"

	"claude-supervise/procs"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// This file is what an agent may not do to other sessions of the person, whatever rules and modes permit it: they are
// not part of the run, and nobody is asked there. The other way is closed by a setting of ours (crossSessionInbound).

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

// SessionMessage is a message between an agent and another session of the person: to it, if Sent, or from it.
type SessionMessage struct {
	Agent  string
	Launch int
	With   string // the other session, as it calls itself or is called
	Text   string
	Sent   bool `json:",omitempty"`
}

var _ = kind[SessionMessage]("session_message")

func (e SessionMessage) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(*Launch) {})
}

// String says it in a line.
func (e SessionMessage) String() string {
	way := "message from another session, "
	if e.Sent {
		way = "message to another session, "
	}
	return way + text.Line(e.With, text.MaxNamed) + ": " + text.Line(e.Text, text.MaxNamed)
}

// ReadPeer reads a message of another session.
func ReadPeer(c *Listener, m procs.Peer) SessionMessage {
	return SessionMessage{Agent: c.Agent, Launch: c.Launch, With: m.From, Text: m.Text}
}

// ReadSent reads a call that sends another session a message; false if it does not, or is not made.
func (cfg Config) ReadSent(c *Listener, m procs.ToolUse) (SessionMessage, bool) {
	to := procs.BeforeCall{Tool: m.Name, Input: m.Input}.ToSession()
	var in struct{ Message string }
	_ = json.Unmarshal(m.Input, &in) // one that is no text is shown as none
	e := SessionMessage{Agent: c.Agent, Launch: c.Launch, With: to, Sent: true,
		Text: text.Truncate(in.Message, maxSessionMessage)}
	return e, to != "" && cfg.AllowSessions
}

// maxSessionMessage bounds what is kept of one, in bytes.
const maxSessionMessage = 16 << 10

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

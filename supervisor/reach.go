package supervisor

import (
	"encoding/json"

	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/text"
)

// This file is what an agent may not do to other sessions of the person, whatever rules and modes permit it: they are
// not part of the run, and nobody is asked there. The other way is closed by a setting of ours (crossSessionInbound).

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

// ReadSent reads a call that sends another session a message; false if it does not, or is not made.
func ReadSent(cfg conf.Config, c *listen.Listener, m procs.ToolUse) (SessionMessage, bool) {
	to := procs.BeforeCall{Tool: m.Name, Input: m.Input}.ToSession()
	var in struct{ Message string }
	_ = json.Unmarshal(m.Input, &in) // one that is no text is shown as none
	e := SessionMessage{Agent: c.Agent, Launch: c.Launch, With: to, Sent: true,
		Text: text.Truncate(in.Message, maxSessionMessage)}
	return e, to != "" && cfg.AllowSessions
}

// maxSessionMessage bounds what is kept of one, in bytes.
const maxSessionMessage = 16 << 10

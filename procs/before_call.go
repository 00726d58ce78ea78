package procs

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// A BeforeCall is a call that the agent or a subagent of its is about to make, as the CLI's hook before it has it.
type BeforeCall struct {
	ToolUse string // the call's id
	Tool    string
	Input   json.RawMessage
	Agent   string // the id of the subagent that makes it; "": the main conversation
	Cwd     string // where it is made
}

// A CallCheck is what is decided of a call before it is made, whatever rules and modes say of it. Its zero value leaves
// it to them.
type CallCheck struct {
	Ask  string // why a person is to be asked; "": nobody has to be
	Deny string // why it is not made, which the agent reads; "": it may be

	Allow bool // it is let through, whatever wants it asked about or refused but a rule; not with Deny
}

// CallKey is the same for the same call made again: the same tool, and the same input to the byte.
func CallKey(tool string, input json.RawMessage) string {
	return fmt.Sprintf("%s %x", tool, sha256.Sum256(input))
}

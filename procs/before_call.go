package procs

import (
	"bytes"
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

// CallKey is the same for the same call made again: the same tool, and the same input to the byte, as the agent wrote
// it and as records keep it.
func CallKey(tool string, input json.RawMessage) string {
	return fmt.Sprintf("%s %x", tool, sha256.Sum256(unescaped(input)))
}

// escapes are what package encoding/json writes for characters that others leave as they are (json.HTMLEscape).
var escapes = map[string]string{`\u0026`: "&", `\u003c`: "<", `\u003e`: ">", `\u2028`: "\u2028", `\u2029`: "\u2029"}

// unescaped writes them as they are.
func unescaped(input []byte) []byte {
	out := input[:0:0]
	for {
		i := bytes.IndexByte(input, '\\')
		if i < 0 || i+1 == len(input) {
			return append(out, input...)
		}
		out = append(out, input[:i]...)
		input = input[i:]
		if plain, is := escapes[string(input[:min(len(input), 6)])]; is {
			out, input = append(out, plain...), input[6:]
		} else {
			out, input = append(out, input[:2]...), input[2:]
		}
	}
}
